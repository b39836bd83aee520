"""What a running agent may do about its own turn: report, ask a person, and be woken again.

These operations are offered inside turns alone ([S0] "Direct messages", "Human interaction during
workflow execution"): the turn's token says which turn, conversation and call are meant.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from agentworks.contracts.operation import INSIDE, WRITING, Operation, Scope, WaitSeconds
from agentworks.contracts.refusal import RefusalCode

PROGRESS_LENGTH_MAX = 2_000  # characters; rules/limits.py lists these with the others
QUESTION_LENGTH_MAX = 20_000  # characters
FEEDBACK_SECONDS_MAX = 3_600
REQUEST_DAYS_MAX = 90
WAKEUP_MINUTES_MAX = 43_200
WAKEUP_REASON_LENGTH_MAX = 2_000  # characters

Question = Annotated[
    Annotated[str, Meta(min_length=1, max_length=QUESTION_LENGTH_MAX)],
    Meta(
        description="What you want to know, in plain words. On the CLI, - is stdin.",
        extra={"cli": "QUESTION"},
    ),
]
AnswerSchema = Annotated[
    Any,
    Meta(
        description="What the answer must be (JSON Schema); left out, any text or value."
        " On the CLI, - is stdin.",
        extra_json_schema={"type": "object"},
        extra={"json": True},
    ),
]
WakeupId = Annotated[
    Annotated[str, Meta(min_length=1, max_length=128)],
    Meta(description="From the wakeup's receipt.", extra={"cli": "WAKEUP"}),
]
InMinutes = Annotated[
    Annotated[int, Meta(ge=1, le=WAKEUP_MINUTES_MAX)],
    Meta(description="Minutes from now: 1 to 43,200 (30 days).", extra={"cli": "in"}),
]


# ── progress ─────────────────────────────────────────────────────────────────────────────────


class ReportProgress(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    line: Annotated[
        Annotated[str, Meta(min_length=1, max_length=PROGRESS_LENGTH_MAX)],
        Meta(
            description="What is being done now, for your caller. On the CLI, - is stdin.",
            extra={"cli": "LINE"},
        ),
    ]


class Reported(Struct, frozen=True, kw_only=True, tag_field="status", tag="reported"):
    call_id: str
    number: int


REPORT_PROGRESS: Operation[ReportProgress, Reported] = Operation(
    name="turns.report_progress",
    about="Tell your caller what you are doing; it is a sign of life, never completion.",
    request=ReportProgress,
    answers=(Reported,),
    scope=Scope.RUN,
    offered_to=INSIDE,
    refuses=(RefusalCode.NOT_PENDING,),
    http="POST /api/turns/progress",
    cli="turns progress",
    tools=("report_function_progress",),
)


# ── questions to a person ────────────────────────────────────────────────────────────────────


class AskPerson(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    question: Question
    schema: AnswerSchema = None
    secret: Annotated[
        bool, Meta(description="The answer is a password or code: it is forgotten once told.")
    ] = False
    expires_seconds: Annotated[
        Annotated[int, Meta(ge=10, le=FEEDBACK_SECONDS_MAX)],
        Meta(description="How long it may be answered: 10 to 3,600 seconds."),
    ] = 600
    wait_seconds: WaitSeconds = 0


class RequestInput(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    question: Question
    schema: AnswerSchema = None
    expires_days: Annotated[
        Annotated[int, Meta(ge=1, le=REQUEST_DAYS_MAX)] | UnsetType,
        Meta(description="Days it may be answered; left out, for as long as it takes."),
    ] = UNSET


class GetAnswer(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    request_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=128)],
        Meta(description="From the question's receipt.", extra={"cli": "REQUEST"}),
    ]
    wait_seconds: WaitSeconds = 0


class Asked(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="asked"):
    """The question is put; nobody has answered yet."""

    request_id: str
    kind: Literal["feedback", "durable", "secret"]
    next: str
    expires_at: str | None = None


class PersonAnswered(Struct, frozen=True, kw_only=True, tag_field="status", tag="answered"):
    """An answer is information; it grants no right to act."""

    request_id: str
    answer: Any


class Unanswered(Struct, frozen=True, kw_only=True, tag_field="status", tag="unanswered"):
    """There will be no answer. An expiry is never an approval."""

    request_id: str
    why: Literal["expired", "withdrawn"]


ASK_PERSON: Operation[AskPerson, Asked | PersonAnswered | Unanswered] = Operation(
    name="turns.ask_person",
    about="Ask a person something now; the question ends with your turn, or when its time is out.",
    request=AskPerson,
    answers=(Asked, PersonAnswered, Unanswered),
    scope=Scope.RUN,
    offered_to=INSIDE,
    refuses=(RefusalCode.NOT_PENDING, RefusalCode.RATE_LIMITED),
    http="POST /api/turns/questions",
    cli="turns ask",
    tools=("human_feedback",),
    wait_default=20,
)

REQUEST_INPUT: Operation[RequestInput, Asked] = Operation(
    name="turns.request_input",
    about="Ask a person something that may take days: end your turn, the answer prompts the next.",
    request=RequestInput,
    answers=(Asked,),
    scope=Scope.RUN,
    offered_to=INSIDE,
    refuses=(RefusalCode.NOT_PENDING, RefusalCode.RATE_LIMITED),
    http="POST /api/turns/requests",
    cli="turns request",
    tools=("create_human_input_request",),
)

GET_ANSWER: Operation[GetAnswer, Asked | PersonAnswered | Unanswered] = Operation(
    name="turns.get_answer",
    about="The answer to a question of yours, waiting for it if asked to.",
    request=GetAnswer,
    answers=(Asked, PersonAnswered, Unanswered),
    scope=Scope.READ,
    offered_to=INSIDE,
    refuses=(RefusalCode.NOT_FOUND,),
    reads=True,
    http="GET /api/turns/questions/{request_id}",
    cli="turns answer",
    tools=("get_human_answer",),
    wait_default=20,
)


# ── wakeups ──────────────────────────────────────────────────────────────────────────────────


class ScheduleWakeup(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=WAKEUP_REASON_LENGTH_MAX)],
        Meta(
            description="What you will want to know when you wake. On the CLI, - is stdin.",
            extra={"cli": "REASON"},
        ),
    ]
    in_minutes: InMinutes


class RescheduleWakeup(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    wakeup_id: WakeupId
    in_minutes: InMinutes


class CancelWakeup(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    wakeup_id: WakeupId


class WakeupScheduled(Struct, frozen=True, kw_only=True, tag_field="status", tag="scheduled"):
    """It prompts one turn in this very conversation, at that minute or after a pause."""

    wakeup_id: str
    due_at: str


class WakeupCancelled(Struct, frozen=True, kw_only=True, tag_field="status", tag="cancelled"):
    wakeup_id: str


SCHEDULE_WAKEUP: Operation[ScheduleWakeup, WakeupScheduled] = Operation(
    name="wakeups.schedule",
    about="Have another turn in this conversation later. Nothing is sent again.",
    request=ScheduleWakeup,
    answers=(WakeupScheduled,),
    scope=Scope.RUN,
    offered_to=WRITING,
    http="POST /api/wakeups",
    cli="wakeups schedule",
    tools=("schedule_message_wakeup:schedule",),
)

RESCHEDULE_WAKEUP: Operation[RescheduleWakeup, WakeupScheduled] = Operation(
    name="wakeups.reschedule",
    about="Give a wakeup of this conversation another time.",
    request=RescheduleWakeup,
    answers=(WakeupScheduled,),
    scope=Scope.RUN,
    offered_to=WRITING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING),
    http="POST /api/wakeups/{wakeup_id}",
    cli="wakeups reschedule",
    tools=("schedule_message_wakeup:reschedule",),
)

CANCEL_WAKEUP: Operation[CancelWakeup, WakeupCancelled] = Operation(
    name="wakeups.cancel",
    about="Let a wakeup of this conversation not happen.",
    request=CancelWakeup,
    answers=(WakeupCancelled,),
    scope=Scope.RUN,
    offered_to=WRITING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING),
    http="DELETE /api/wakeups/{wakeup_id}",
    cli="wakeups cancel",
    tools=("schedule_message_wakeup:cancel",),
)
