-- ── Who can be asked ─────────────────────────────────────────────────────────

-- Crews, code agents, later workflows and relays: what `agents.list` shows. The kind is a detail.
CREATE TABLE agents (
    agent_id     text PRIMARY KEY,             -- a UUID for a Crew, wf_… for a workflow, code_…
    kind         text NOT NULL CHECK (kind IN ('crew', 'workflow', 'code', 'relay')),
    account_id   text NOT NULL REFERENCES accounts ON DELETE CASCADE,   -- its owner
    name         text NOT NULL,
    name_key     text NOT NULL,                -- as names are compared: letters and digits alone
    about        text NOT NULL,
    instructions text NOT NULL DEFAULT '',     -- what its runtime is told before anything else
    messaging    integer NOT NULL DEFAULT 1 CHECK (messaging IN (0, 1)),
    runtime      text,                         -- JSON {name, …settings}; NULL refuses to run
    idle_seconds integer NOT NULL DEFAULT 3600,   -- without a sign of life, then timed out
    paused_at    integer,                      -- its wakeups and schedules are held since
    made_at      integer NOT NULL,
    changed_at   integer NOT NULL,
    UNIQUE (account_id, name_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_name ON agents (name_key);

-- Who besides the owner may do what with it; an owner has every role.
CREATE TABLE members (
    agent_id   text NOT NULL REFERENCES agents ON DELETE CASCADE,
    account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    role       text NOT NULL CHECK (role IN ('reader', 'runner', 'editor', 'owner')),
    PRIMARY KEY (agent_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_account ON members (account_id);

CREATE TABLE functions (
    agent_id        text NOT NULL REFERENCES agents ON DELETE CASCADE,
    name            text NOT NULL,
    place           integer NOT NULL,          -- its place in the agent's list
    description     text NOT NULL,
    inputs          text NOT NULL CHECK (json_valid(inputs)),           -- contract Input, in order
    result_schema   text CHECK (json_valid(result_schema)),
    allowed_callers text NOT NULL,             -- kind:id, separated by spaces; empty is everyone
    instructions    text NOT NULL,             -- never shown to callers
    changed_at      integer NOT NULL,
    PRIMARY KEY (agent_id, name)
) STRICT, WITHOUT ROWID;

-- A fixed instruction that a native crew step or a schedule binds to.
CREATE TABLE triggers (
    agent_id     text NOT NULL REFERENCES agents ON DELETE CASCADE,
    trigger_id   text NOT NULL,
    conversation text NOT NULL CHECK (conversation IN ('own', 'fresh')),
    PRIMARY KEY (agent_id, trigger_id)
) STRICT, WITHOUT ROWID;

-- The files its authors gave an agent. They are placed in its folder before a turn, and again when
-- they have changed here; what the agent writes there itself is not in this table.
CREATE TABLE agent_files (
    agent_id   text NOT NULL REFERENCES agents ON DELETE CASCADE,
    path       text NOT NULL,                  -- below the agent's folder, with /
    content    blob NOT NULL,
    sha256     blob NOT NULL CHECK (length(sha256) = 32),
    changed_at integer NOT NULL,
    PRIMARY KEY (agent_id, path)
) STRICT;

-- ── Where an agent thinks ────────────────────────────────────────────────────

-- A chat is one continuing conversation inside an agent: its own, one per caller, one per direct
-- message conversation, or one made for a single call. Turns run in it one at a time, in order.
CREATE TABLE chats (
    chat_id     text PRIMARY KEY,
    agent_id    text NOT NULL REFERENCES agents ON DELETE CASCADE,
    mode        text NOT NULL CHECK (mode IN ('builder', 'run')),
    kind        text NOT NULL CHECK (kind IN ('own', 'caller', 'messages', 'call', 'trigger')),
    holder      text,                          -- who continues it: 'account:…', 'registration:…'
    title       text NOT NULL,
    session_ref text,                          -- the runtime's own name for it, to resume
    opened_at   integer NOT NULL,
    active_at   integer NOT NULL,
    UNIQUE (agent_id, kind, holder)
) STRICT, WITHOUT ROWID;

-- ── What was asked for ───────────────────────────────────────────────────────

-- One accepted ask or one accepted use of a function. Settled once.
CREATE TABLE calls (
    call_id         text PRIMARY KEY,
    agent_id        text NOT NULL REFERENCES agents ON DELETE CASCADE,
    owner_id        text NOT NULL,             -- the account whose agent that is
    kind            text NOT NULL CHECK (kind IN ('ask', 'function')),
    function        text NOT NULL,             -- 'ask' for an ask
    chat_id         text NOT NULL REFERENCES chats ON DELETE CASCADE,
    account_id      text NOT NULL,             -- the launch account: whose access is re-checked
    connection_id   text,                      -- the launch connection, with its bounds
    caller_kind     text NOT NULL,             -- contract CallerKind
    caller_id       text NOT NULL,             -- the agent, connection or account that called
    caller_name     text NOT NULL,             -- as the agent is told
    caller_chat_id  text,                      -- inside a turn: the conversation that called
    parent_call_id  text,                      -- the call whose turn made this one
    root_call_id    text,                      -- the first call of its chain, unless it is that
    chain           text NOT NULL CHECK (json_valid(chain)),   -- agent ids from the first caller on
    chain_calls     integer NOT NULL DEFAULT 1,   -- of a chain's first call: calls in the chain
    args            text CHECK (json_valid(args)),
    result_schema   text CHECK (json_valid(result_schema)),   -- as it was when it was accepted
    message         text,                      -- of an ask
    inbox_id        text,                      -- of an ask: the conversation it belongs to
    notify_chat_id  text,                      -- where its outcome prompts a turn
    state           text NOT NULL DEFAULT 'working',
    holds_slot      integer NOT NULL CHECK (holds_slot IN (0, 1)),   -- something of it may be alive
    revision        integer NOT NULL DEFAULT 1,   -- raised by any change a caller can see
    last_number     integer NOT NULL DEFAULT 0,   -- counter of its progress lines
    activity        text NOT NULL DEFAULT '',
    accepted_at     integer NOT NULL,
    started_at      integer,
    sign_at         integer NOT NULL,          -- the last sign of life
    settled_at      integer,
    answer          text,                      -- the final reply
    result          text CHECK (json_valid(result)),
    result_file     text,                      -- when it is too large to stand in the row
    partial         text,
    reason          text,
    usage           text CHECK (json_valid(usage)),
    files           text CHECK (json_valid(files)),   -- what it produced, as listed at its end
    files_expired   integer NOT NULL DEFAULT 0 CHECK (files_expired IN (0, 1)),
    CHECK ((state = 'working') = (settled_at IS NULL)),
    CHECK ((kind = 'ask') = (message IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX calls_by_caller ON calls (account_id, accepted_at);
CREATE INDEX calls_by_owner ON calls (owner_id, accepted_at);
CREATE INDEX calls_by_agent ON calls (agent_id, accepted_at);
CREATE INDEX calls_by_chat ON calls (chat_id);   -- a removed agent takes its chats along
CREATE INDEX calls_holding_a_slot ON calls (agent_id) WHERE holds_slot = 1;

CREATE TABLE call_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO call_moves VALUES
    ('working',   'answered',    'the agent gave its final reply to an ask'),
    ('working',   'completed',   'the function ended with its result'),
    ('working',   'failed',      'it ended badly; what there is of it is in partial'),
    ('working',   'interrupted', 'the server stopped meanwhile; never repeated blindly'),
    ('working',   'timed_out',   'no sign of life for too long; the caller waits no more'),
    ('timed_out', 'late',        'the answer came after all'),
    ('timed_out', 'failed',      'it ended badly after all'),
    ('timed_out', 'interrupted', 'the server stopped while it was still running');

CREATE TRIGGER call_moves_only_as_drawn
BEFORE UPDATE OF state ON calls
WHEN OLD.state <> NEW.state
 AND NOT EXISTS (SELECT 1 FROM call_moves WHERE was = OLD.state AND becomes = NEW.state)
BEGIN
    SELECT raise(ABORT, 'call: no such move');
END;

CREATE TABLE call_progress (
    call_id text NOT NULL REFERENCES calls ON DELETE CASCADE,
    number  integer NOT NULL,
    at      integer NOT NULL,
    line    text NOT NULL,
    PRIMARY KEY (call_id, number)
) STRICT, WITHOUT ROWID;

-- What a running turn asks of a person or of its caller.
CREATE TABLE questions (
    request_id  text PRIMARY KEY,
    call_id     text REFERENCES calls ON DELETE CASCADE,
    turn_id     text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('feedback', 'durable', 'secret')),
    question    text NOT NULL,
    schema      text CHECK (json_valid(schema)),
    state       text NOT NULL DEFAULT 'pending',
    answer      text CHECK (json_valid(answer)),
    answered_by text,
    asked_at    integer NOT NULL,
    expires_at  integer,                       -- an expiry is never an approval
    answered_at integer,
    told_at     integer,                       -- when whoever asked was given the answer
    CHECK ((state = 'answered') = (answer IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX questions_by_call ON questions (call_id, asked_at);
CREATE INDEX questions_by_turn ON questions (turn_id) WHERE state = 'pending';
CREATE INDEX questions_pending ON questions (expires_at) WHERE state = 'pending';
CREATE INDEX questions_to_tell ON questions (answered_at)
WHERE told_at IS NULL AND state IN ('answered', 'expired');

CREATE TABLE question_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO question_moves VALUES
    ('pending', 'answered',  'somebody who may, answered; the first answer counts'),
    ('pending', 'expired',   'its time ran out'),
    ('pending', 'withdrawn', 'the turn that asked has ended');

CREATE TRIGGER question_moves_only_as_drawn
BEFORE UPDATE OF state ON questions
WHEN NOT EXISTS (SELECT 1 FROM question_moves WHERE was = OLD.state AND becomes = NEW.state)
BEGIN
    SELECT raise(ABORT, 'question: no such move');
END;

-- ── What runs ────────────────────────────────────────────────────────────────

-- One turn of an agent in one of its chats. A chat runs one at a time, in order of `place`.
CREATE TABLE turns (
    turn_id    text PRIMARY KEY,
    chat_id    text NOT NULL REFERENCES chats ON DELETE CASCADE,
    place      integer NOT NULL,
    cause      text NOT NULL,                  -- why it was queued
    call_id    text REFERENCES calls ON DELETE CASCADE,   -- the call whose work this is
    prompt     text NOT NULL,                  -- for messages and wakeups: built when it starts
    state      text NOT NULL DEFAULT 'queued',
    queued_at  integer NOT NULL,
    started_at integer,
    ended_at   integer,
    reason     text,
    usage      text CHECK (json_valid(usage)),
    account_id text,                           -- whose access it uses: known once it runs
    connection_id text,                        -- the launch connection, with its bounds
    UNIQUE (chat_id, place),
    CHECK (cause IN ('ask', 'function', 'steer', 'answer', 'messages', 'wakeup', 'notify', 'trigger'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX turns_running ON turns (chat_id) WHERE state = 'running';
CREATE INDEX turns_queued ON turns (queued_at) WHERE state = 'queued';
CREATE INDEX turns_queued_by_chat ON turns (chat_id, place) WHERE state = 'queued';
CREATE INDEX turns_steering ON turns (queued_at) WHERE state = 'queued' AND cause = 'steer';
CREATE INDEX turns_by_call ON turns (call_id);

CREATE TABLE turn_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO turn_moves VALUES
    ('queued',  'running',     'its chat was free and the runner took it'),
    ('queued',  'steered',     'its text went into the running turn of its call'),
    ('queued',  'cancelled',   'what caused it is gone, or its authority is'),
    ('running', 'ended',       'its runtime gave its last word'),
    ('running', 'failed',      'its runtime failed'),
    ('running', 'interrupted', 'the server stopped meanwhile; never repeated blindly');

CREATE TRIGGER turn_moves_only_as_drawn
BEFORE UPDATE OF state ON turns
WHEN NOT EXISTS (SELECT 1 FROM turn_moves WHERE was = OLD.state AND becomes = NEW.state)
BEGIN
    SELECT raise(ABORT, 'turn: no such move');
END;

-- The credential of a running turn: what its agent may do, until the turn settles.
CREATE TABLE turn_tokens (
    secret_hash blob PRIMARY KEY,
    turn_id     text NOT NULL UNIQUE REFERENCES turns ON DELETE CASCADE,
    caller_kind text NOT NULL,                 -- contract CallerKind of whoever acts in the turn
    replies_only integer NOT NULL CHECK (replies_only IN (0, 1)),   -- a guest's conversation
    made_at     integer NOT NULL
) STRICT, WITHOUT ROWID;

-- ── What is due ──────────────────────────────────────────────────────────────

CREATE TABLE wakeups (
    wakeup_id text PRIMARY KEY,
    chat_id   text NOT NULL REFERENCES chats ON DELETE CASCADE,
    due_at    integer NOT NULL,
    reason    text NOT NULL,
    state     text NOT NULL DEFAULT 'scheduled',
    made_at   integer NOT NULL,
    account_id    text NOT NULL,               -- whose access its turn will use, if still there
    connection_id text,
    turn_id   text                             -- the turn it became
) STRICT, WITHOUT ROWID;

CREATE INDEX wakeups_due ON wakeups (due_at) WHERE state = 'scheduled';
CREATE INDEX wakeups_by_chat ON wakeups (chat_id, due_at);
CREATE INDEX wakeups_firing ON wakeups (turn_id) WHERE state = 'firing';

CREATE TABLE wakeup_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO wakeup_moves VALUES
    ('scheduled', 'firing',      'its minute came'),
    ('scheduled', 'cancelled',   'its agent cancelled it'),
    ('firing',    'fired',       'its turn began'),
    ('firing',    'cancelled',   'the access its turn was to use is gone'),
    ('firing',    'interrupted', 'the server stopped mid-delivery; never sent again blindly');

CREATE TRIGGER wakeup_moves_only_as_drawn
BEFORE UPDATE OF state ON wakeups
WHEN NOT EXISTS (SELECT 1 FROM wakeup_moves WHERE was = OLD.state AND becomes = NEW.state)
BEGIN
    SELECT raise(ABORT, 'wakeup: no such move');
END;

ALTER TABLE store ADD COLUMN paused_at integer;          -- the scheduler's global pause
ALTER TABLE conversations ADD COLUMN opener_agent_id text;   -- the Crew or workflow at that end
ALTER TABLE conversations ADD COLUMN peer_agent_id text;
ALTER TABLE messages ADD COLUMN turn_id text;            -- the receiving turn, once it began
ALTER TABLE submissions ADD COLUMN fingerprint_converted blob;   -- as it was understood
