"""`agentworks`, the hand: every operation of the protocol as a command, and a few that are local.

Only `main` is here, and it imports nothing before it is ready for Ctrl-C and a closed pipe.
"""

from __future__ import annotations

import gc
import sys

INTERRUPTED, PIPE_CLOSED = 130, 141  # what a shell reports for SIGINT and SIGPIPE


def main() -> None:
    """Run the command line and end the process with an exit code of contract §8. No traceback."""
    gc.disable()  # a command ends before there is anything to collect; searching costs a tenth
    try:
        from cli.commands import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C finds us leaving
        code = INTERRUPTED
    except BrokenPipeError:
        code = PIPE_CLOSED
    except Exception as fault:
        code = _fault(fault)
    _leave(code)


def _fault(fault: Exception) -> int:
    """Say in one line where the command line itself went wrong."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace else ""
    try:
        sys.stderr.write(f"agentworks: fault: {type(fault).__name__}: {fault}{place}\n")
    except (OSError, ValueError, AttributeError):
        pass  # nobody is left to read it; the exit code still says so
    return 1


def _leave(code: int) -> None:
    """End. Python would complain about a closed pipe while flushing, so it gets another one."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            import os

            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    sys.exit(code)
