"""Every limit of this server, with its unit: the seeds' "Limits and retention" table, in its order.

[S0] "Limits and retention" is the source unless a line names another. Those marked *setting* can
be raised by the operator; a benchmark that raises one prints it.
"""

from __future__ import annotations

# ── Direct messages ──────────────────────────────────────────────────────────────────────────
MESSAGE_LENGTH_MAX = 20_000  # Unicode characters per message
MESSAGES_PER_HOUR_MAX = 40  # accepted per conversation in a rolling hour, both directions; setting
MESSAGES_PER_BATCH_MAX = 50  # messages in one batch (contract §4)

# ── Inbox history ────────────────────────────────────────────────────────────────────────────
MESSAGES_PER_INBOX_MAX = 1_000  # messages kept per conversation; setting

# ── Inbox lifetime ───────────────────────────────────────────────────────────────────────────
INBOX_IDLE_DAYS_MAX = 7  # days without a message, then removed at the next new conversation
INBOXES_PER_ACCOUNT_MAX = 300  # conversations one account has opened; setting
INBOXES_PER_STORE_MAX = 2_000  # conversations in the store; setting
INBOX_SWEEP_BATCH_MAX = 20  # idle conversations removed by one admission (ours: bounds its time)

# ── Expired inbox lookup ─────────────────────────────────────────────────────────────────────
EXPIRED_INBOX_DAYS_MAX = 7  # days an expired inbox still answers `expired`
EXPIRED_INBOXES_MAX = 2_000  # expired inboxes remembered

# ── External waits and message pages ─────────────────────────────────────────────────────────
WAIT_SECONDS_MAX = 25  # seconds an external caller may wait
MESSAGES_PER_PAGE_MAX = 100  # messages in one page
MESSAGES_PER_PAGE_DEFAULT = 30  # messages, when the caller does not say (contract §4)
INSIDE_WAIT_SECONDS_MAX = 120  # seconds an agent may wait inside its turn

# ── Crew function concurrency ────────────────────────────────────────────────────────────────
CREW_CALLS_RUNNING_MAX = 3  # isolated executions of one agent at once; setting
BUSY_RETRY_SECONDS = 10  # seconds after which a caller who found none free may try again (ours)

# ── Calls (contract §5; numbers are ours where no other source is named) ─────────────────────
CHAIN_AGENTS_MAX = 4  # agents in one chain of calls (contract §5)
CHAIN_CALLS_MAX = 20  # calls in one chain (contract §5)
STEERS_PER_HOUR_MAX = 40  # messages into one running call in a rolling hour
STEERS_WAITING_MAX = 20  # of them not yet taken up
PROGRESS_LINES_SHOWN = 5  # lines of progress in an answer ([S4] get_call)
PENDING_INPUTS_SHOWN_MAX = 10  # open questions in an answer
CALL_FILES_SHOWN_MAX = 20  # files in an answer; the rest is listed by calls.read_file
REPLY_BYTES_MAX = 256 * 1024  # bytes of one answer to a question, as JSON
CALLS_PER_PAGE_MAX = 100  # calls in one page
CALLS_PER_PAGE_DEFAULT = 30  # calls, when the caller does not say
CALLS_SCANNED_MAX = 2_000  # calls looked through for one page

# ── Function retry IDs ───────────────────────────────────────────────────────────────────────
SUBMISSION_DAYS_MIN = 7  # days a submission_id is remembered at least
SUBMISSION_ID_LENGTH_MAX = 128  # characters (contract §4)

# ── Named agents ─────────────────────────────────────────────────────────────────────────────
AGENT_NAME_LENGTH_MAX = 64  # characters
REGISTRATIONS_PER_ACCOUNT_MAX = 100  # named agents
REGISTRATIONS_PER_STORE_MAX = 2_000  # named agents
ALLOWED_CONNECTIONS_MAX = 100  # connections that may use one name (ours)

# ── Agents and their definitions (contract §7; numbers are ours where no other source is named) ──
NAME_LENGTH_MAX = 100  # characters of an agent's name
ABOUT_LENGTH_MAX = 2_000  # characters of what is said about an agent
ABOUT_SHOWN_MAX = 120  # characters of it in lists ([S4] "list_agents")
SIGNATURES_SHOWN_MAX = 3  # functions of an agent written out in lists; the rest is counted
SIGNATURE_SHOWN_MAX = 160  # characters of one signature in lists
INSTRUCTIONS_LENGTH_MAX = 100_000  # characters an agent, or one of its functions, is told
IDLE_MINUTES_MAX = 1_440  # minutes a call may show no sign of life, as an agent may ask for
AGENTS_PER_ACCOUNT_MAX = 1_000  # agents one account owns
AGENTS_PER_PAGE_MAX = 100  # agents in one page of a list
FUNCTIONS_PER_AGENT_MAX = 100  # functions
FUNCTIONS_LISTED_MAX = 500  # functions in one list
DEFINITION_BYTES_MAX = 1024 * 1024  # bytes of one definition without its files, as JSON
TRIGGERS_PER_AGENT_MAX = 100  # triggers
MEMBERS_PER_AGENT_MAX = 100  # accounts with a role
ALLOWED_CALLERS_MAX = 100  # entries in one function's allow-list
RUNTIME_BYTES_MAX = 256 * 1024  # bytes of one runtime's settings, written as JSON

# ── Files of an agent (contract §7) ──────────────────────────────────────────────────────────
AGENT_FILES_MAX = 1_000  # files its authors gave an agent
AGENT_FILES_BYTES_MAX = 16 * 1024 * 1024  # bytes they have together
PATH_LENGTH_MAX = 900  # characters of a file's path
PATH_PART_BYTES_MAX = 255  # bytes of one part of it, as Linux has it
SEARCH_TEXT_LENGTH_MAX = 200  # characters searched for
SEARCH_HITS_MAX = 100  # lines found in one search
SEARCH_LINE_LENGTH_MAX = 200  # characters shown of a line found
SEARCH_FILE_BYTES_MAX = 2 * 1024 * 1024  # bytes of a file that is looked into; larger ones are not
SEARCH_BYTES_MAX = 64 * 1024 * 1024  # bytes looked through in one search

# ── Requests (contract §3) ───────────────────────────────────────────────────────────────────
BODY_BYTES_MAX = 16 * 1024 * 1024  # bytes of one HTTP request body
JSON_DEPTH_MAX = 64  # nested arrays and objects
HEAD_BYTES_MAX = 128 * 1024  # bytes of a request's line and headers together (ours)
QUERY_BYTES_MAX = 32 * 1024  # bytes of one query string (ours; no address has over 64 KiB)
WAITING_READERS_MAX = 10_000  # callers waiting at once on this server (ours)
WAITING_WRITES_MAX = 10_000  # operations queued for the writer at once (ours)
WRITE_BATCH_MAX = 256  # operations that share one transaction (measured: larger gains nothing)

# ── Sign-in (contract §2) ────────────────────────────────────────────────────────────────────
ACCESS_TOKEN_SECONDS = 3_600  # seconds an access token lives
REFRESH_TOKEN_DAYS = 30  # days a refresh token lives
REFRESH_REUSE_SECONDS = 60  # seconds in which a spent refresh token answers the same successor
DEVICE_CODE_SECONDS = 600  # seconds a device code waits for its approval (RFC 8628)
DEVICE_POLL_SECONDS = 2  # seconds between polls of a waiting device (RFC 8628 `interval`)
DEVICE_CODES_WAITING_MAX = 500  # device codes waiting at once on this server
SESSION_DAYS = 14  # days a browser session lives
INVITATION_HOURS = 72  # hours an invitation or first-start link lives
PASSWORD_LENGTH_MIN = 12  # characters
PASSWORD_LENGTH_MAX = 1_024  # characters
ATTEMPTS_WINDOW_SECONDS = 900  # seconds over which failed attempts are counted
SIGN_IN_FAILURES_MAX = 10  # failed passwords per account name in the window
SIGN_IN_FAILURES_PER_ADDRESS_MAX = 50  # failed passwords per client address in the window
CODE_FAILURES_MAX = 10  # wrong user codes per account in the window
DEVICE_REQUESTS_PER_ADDRESS_MAX = 60  # device codes asked for per client address in the window
CONNECTIONS_PER_ACCOUNT_MAX = 1_000  # live connections
PASSWORDS_AT_ONCE_MAX = 2  # password hashes computed at once
PASSWORDS_WAITING_MAX = 100  # password hashes computed or waiting for it
HASH_MEMORY_KIB = 32 * 1024  # KiB one password hash needs while it is computed
FORM_BYTES_MAX = 64 * 1024  # bytes of one form, of a page or of OAuth
FORM_FIELDS_MAX = 50  # parameters of one OAuth request
PAGE_QUERY_BYTES_MAX = 8 * 1024  # bytes of the query string of a page
LOCAL_ADDRESS_LENGTH_MAX = 2_000  # characters of an address to return to after sign-in
LABEL_LENGTH_MAX = 100  # characters of a connection's label
TARGET_LENGTH_MAX = 128  # characters of one id a connection is bound to
TARGETS_MAX = 1_000  # ids one connection may be bound to
EXPIRES_DAYS_MAX = 3_650  # days after which a connection may end
LAST_USED_SECONDS = 60  # seconds between two notes of when a connection was last used

# ── Execution (contract §5 "Result contract", §6) ────────
TURN_IDLE_SECONDS = 3_600  # seconds a turn may show no sign of life
TURN_HARD_FACTOR = 4  # times the idle limit that a turn may take in all
STOP_GRACE_SECONDS = 10  # seconds between SIGTERM and SIGKILL
LINGER_SECONDS = 10  # seconds a program may stay after its last event
DRAIN_SECONDS = 5  # seconds to read what a dead program left in its pipes
EVENTS_WAITING_MAX = 256  # events read and not yet recorded before a program must wait
OUTPUT_BYTES_MAX = 10 * 1024 * 1024  # bytes kept of an answer on stdout, and of stderr
OUTPUT_UNREAD_BYTES_MAX = 1024 * 1024  # bytes read ahead from a program before it must wait
LINE_BYTES_MAX = 32 * 1024 * 1024  # bytes of one line of output: a result, quoted within JSON
PROGRESS_LENGTH_MAX = 2_000  # characters of one progress line; the rest is cut
QUESTION_LENGTH_MAX = 20_000  # characters of one question; the rest is cut
PARTIAL_LENGTH_MAX = 256 * 1024  # characters kept of an answer that was not finished
RESULT_BYTES_MAX = 16 * 1024 * 1024  # bytes of result JSON ([S0] "Result JSON and file pages")
RESULT_INLINE_BYTES_MAX = 256 * 1024  # bytes of a result within an answer; above: a file ([S0])
RESULT_CHECK_SECONDS = 10  # seconds the check of a result may take
RESULT_PROBLEMS_MAX = 50  # problems named in a correction
FILE_PAGE_BYTES_MAX = 2 * 1024 * 1024  # bytes of one file page ([S0])
FILE_PAGE_BYTES_DEFAULT = 256 * 1024  # bytes, when the caller does not say (contract §5)
FILES_LISTED_MAX = 1_000  # produced files named per call
FILE_DEPTH_MAX = 32  # folders within folders that are looked into
AGENT_PROGRAM_RLIMITS = {  # as RLIMIT_* of an agent's program: processes, files, bytes
    "NPROC": 4_096,
    "NOFILE": 4_096,
    "FSIZE": 1 << 30,
    "CORE": 0,
}
RELAY_PROGRAM_RLIMITS = {  # as RLIMIT_* of a relay's program: bytes, seconds, processes
    "AS": 1 << 30,
    "CPU": 300,
    "NPROC": 1_024,  # counts every process of the server's user, hence more than one program needs
    "FSIZE": 256 << 20,
    "NOFILE": 256,
    "CORE": 0,
}
PROGRAM_TMP_BYTES_MAX = 256 * 1024 * 1024  # bytes of /tmp inside bubblewrap

# ── Crew call outputs ────────────────────────────────────────────────────────────────────────
CALL_OUTPUT_DAYS_MAX = 7  # days after its last change that the folder of a call is kept
CALL_OUTPUT_SWEEP_SECONDS = 3_600  # seconds at least between two sweeps of one Crew's calls

# ── Turns, their questions and wakeups (numbers are ours) ────────────────────────────────────
TURNS_RUNNING_MAX = 64  # turns at once on this server, those of calls within calls aside; setting
TURNS_LOOK_SECONDS = 1  # seconds between two looks at what is queued, answered or due, unasked
PROGRESS_LINES_KEPT_MAX = 200  # newest lines of progress kept of one call
MESSAGES_PER_TURN_MAX = 40  # waiting messages of one conversation that one turn takes up
QUESTIONS_PER_TURN_MAX = 20  # questions one turn may have open at once
FEEDBACK_SECONDS_DEFAULT = 600  # seconds an immediate question waits for its answer
FEEDBACK_SECONDS_MAX = 3_600  # seconds it may be told to wait
REQUEST_DAYS_MAX = 90  # days a durable request may be told to wait
WAKEUP_MINUTES_MAX = 43_200  # minutes ahead a wakeup may be scheduled
WAKEUPS_PER_CHAT_MAX = 20  # wakeups one conversation may wait for
WAKEUPS_PER_SWEEP_MAX = 500  # wakeups one minute's sweep fires; the rest wait for the next
WAKEUP_REASON_LENGTH_MAX = 2_000  # characters

#: What an operator may raise with `agentworks serve --set NAME=N`.
SETTINGS = (
    "MESSAGES_PER_HOUR_MAX",
    "MESSAGES_PER_INBOX_MAX",
    "INBOXES_PER_ACCOUNT_MAX",
    "INBOXES_PER_STORE_MAX",
    "CREW_CALLS_RUNNING_MAX",
    "TURNS_RUNNING_MAX",
)


def change(settings: dict[str, int]) -> None:
    """Set limits for this process, before it serves. Raises ValueError for any other name."""
    for name, value in settings.items():
        if name not in SETTINGS or value < 1:
            raise ValueError(
                f"{name}={value}: a setting is one of {', '.join(SETTINGS)}, from 1 up"
            )
        globals()[name] = value
