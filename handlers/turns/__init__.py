"""What a running agent does about its own turn: report_progress, ask_person, request_input,
get_answer."""
