"""An agent in the middle of a turn, for tests of what it may ask for there."""

from __future__ import annotations

from agentworks.identity.secrets import hashed
from agentworks.store import Transaction
from tests.conftest import World

_AGENT = """
INSERT INTO agents (agent_id, kind, account_id, name, name_key, about, made_at, changed_at)
VALUES ('crew-helper', 'crew', 'acc_ada', 'Helper', 'helper', 'Helps.', 1, 1);

INSERT INTO chats (chat_id, agent_id, mode, kind, holder, title, opened_at, active_at) VALUES
    ('chat_own',  'crew-helper', 'builder', 'own',  'own', 'Its own',  1, 1),
    ('chat_call', 'crew-helper', 'builder', 'call', NULL,  'Its call', 1, 1);

INSERT INTO calls (call_id, agent_id, owner_id, kind, function, chat_id, account_id, caller_kind,
                   caller_id, caller_name, chain, args, holds_slot, accepted_at, sign_at)
VALUES ('call_1', 'crew-helper', 'acc_ada', 'function', 'work', 'chat_call', 'acc_ada', 'person',
        'acc_ada', 'ada', '["crew-helper"]', '{}', 1, 1, 1);

INSERT INTO turns (turn_id, chat_id, place, cause, call_id, prompt, state, queued_at, started_at,
                   account_id)
VALUES ('turn_own',  'chat_own',  1, 'trigger',  NULL,     'Go.', 'running', 1, 1, 'acc_ada'),
       ('turn_call', 'chat_call', 1, 'function', 'call_1', 'Go.', 'running', 1, 1, 'acc_ada');
"""


def begin(world: World) -> None:
    """The Crew Helper of Ada, in two turns at once.

    `turn:own` acts in its own conversation; `turn:call` works on the call call_1.
    """

    def add(tx: Transaction) -> None:
        tx.run(_AGENT)
        for name in ("own", "call"):
            tx.run(
                "INSERT INTO turn_tokens VALUES (:hash, :turn_id, 'crew_builder', 0, 1)",
                hash=hashed(f"awt_{name}"),
                turn_id=f"turn_{name}",
            )

    world.transact(add)
