"""What the server writes about itself: one JSON object per line, on stderr, without secrets."""

from __future__ import annotations

import json
import logging
import sys

from agentworks import clock


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": clock.rfc3339(round(record.created * 1000)),
            "level": record.levelname.lower(),
            "from": record.name,
            "says": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure() -> None:
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[lines], force=True)
    for noisy in ("apscheduler", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def say(sentence: str) -> None:
    """A plain sentence to whoever started the server."""
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201
