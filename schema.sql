-- The whole memory of an AgentWorks server. Read top to bottom: what this file is,
-- who may speak, what was said, what was submitted.
--
-- Times are integer milliseconds since 1970, UTC. Numbers that readers use as cursors come from
-- counter columns raised in the transaction that stores what they number (contract §4).

-- ── What this file is ────────────────────────────────────────────────────────

CREATE TABLE store (
    one        integer PRIMARY KEY CHECK (one = 1),
    epoch      integer NOT NULL,               -- raised by a restore; every page names it
    created_at integer NOT NULL,
    paused_at  integer                         -- wakeups and schedules are held since
) STRICT;

-- ── Who may speak ────────────────────────────────────────────────────────────

CREATE TABLE accounts (
    account_id    text PRIMARY KEY,
    name          text NOT NULL,
    name_key      text NOT NULL UNIQUE,        -- the name as it is compared: lower case
    owner         integer NOT NULL CHECK (owner IN (0, 1)),
    password_hash text,                        -- argon2id; NULL until a person has chosen one
    created_at    integer NOT NULL,
    disabled_at   integer
) STRICT, WITHOUT ROWID;

-- One-time links: the owner's first start, and invitations. Only the hash of a secret is kept.
CREATE TABLE invitations (
    secret_hash  blob PRIMARY KEY,
    account_name text NOT NULL,
    owner        integer NOT NULL CHECK (owner IN (0, 1)),
    created_at   integer NOT NULL,
    expires_at   integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    secret_hash blob PRIMARY KEY,
    account_id  text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    created_at  integer NOT NULL,
    expires_at  integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_account ON sessions (account_id);

CREATE TABLE connections (
    connection_id text PRIMARY KEY,
    account_id    text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    label         text NOT NULL,
    scopes        text NOT NULL,               -- words of contract Scope, separated by spaces
    targets       text,                        -- ids, separated by spaces; NULL is every target
    created_at    integer NOT NULL,
    last_used_at  integer,
    expires_at    integer,
    revoked_at    integer
) STRICT, WITHOUT ROWID;

CREATE INDEX connections_by_account ON connections (account_id, created_at);

CREATE TABLE tokens (
    secret_hash   blob PRIMARY KEY,
    connection_id text NOT NULL REFERENCES connections ON DELETE CASCADE,
    kind          text NOT NULL CHECK (kind IN ('static', 'access', 'refresh')),
    expires_at    integer,                     -- NULL: as long as its connection
    spent_at      integer,                     -- a refresh token is used once
    CHECK (kind <> 'static' OR (expires_at IS NULL AND spent_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_by_connection ON tokens (connection_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at) WHERE expires_at IS NOT NULL;

-- A program that waits to be let in (RFC 8628).
CREATE TABLE devices (
    secret_hash   blob PRIMARY KEY,            -- of the device_code, which only the program knows
    user_code     text NOT NULL UNIQUE,        -- what the person types, without its dash
    label         text NOT NULL,
    scopes        text NOT NULL,
    state         text NOT NULL DEFAULT 'pending',
    connection_id text REFERENCES connections ON DELETE CASCADE,
    asked_at      integer NOT NULL,
    expires_at    integer NOT NULL,
    polled_at     integer,
    CHECK ((state IN ('approved', 'collected')) = (connection_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX devices_by_expiry ON devices (expires_at);

CREATE TABLE device_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO device_moves VALUES
    ('pending',  'approved',  'a person let it in'),
    ('pending',  'denied',    'a person turned it away'),
    ('approved', 'collected', 'the program fetched its tokens, once');

CREATE TRIGGER device_moves_only_as_drawn
BEFORE UPDATE OF state ON devices
WHEN NOT EXISTS (SELECT 1 FROM device_moves WHERE was = OLD.state AND becomes = NEW.state)
BEGIN
    SELECT raise(ABORT, 'device: no such move');
END;

-- Failed passwords and codes, counted over a window: rules/limits.py, "Sign-in".
CREATE TABLE attempts (
    subject      text NOT NULL,
    attempted_at integer NOT NULL,
    number       integer NOT NULL,             -- tells apart attempts of one millisecond
    PRIMARY KEY (subject, attempted_at, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX attempts_by_time ON attempts (attempted_at);

-- An account's named address, agent:<name>. A removed name that returns is someone else.
CREATE TABLE registrations (
    registration_id        text PRIMARY KEY,
    account_id      text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    name            text NOT NULL,
    name_key        text NOT NULL,             -- lower case: names are compared without case
    registered_at   integer NOT NULL,
    last_number     integer NOT NULL DEFAULT 0,   -- the mailbox's counter
    removed_through integer NOT NULL DEFAULT 0,   -- highest mailbox number evicted so far
    UNIQUE (account_id, name_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE registration_connections (
    registration_id      text NOT NULL REFERENCES registrations ON DELETE CASCADE,
    connection_id text NOT NULL REFERENCES connections ON DELETE CASCADE,
    PRIMARY KEY (registration_id, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX registration_connections_by_connection ON registration_connections (connection_id);

-- ── What was said ────────────────────────────────────────────────────────────

-- A conversation has exactly two ends: its opener and its peer. Its id is also its inbox_id.
-- An end is a kind and an id: 'account' (an unnamed external agent, which keeps the inbox) or
-- 'registration' (a named agent). A registration that is gone leaves its end behind, unreachable.
CREATE TABLE conversations (
    conversation_id text PRIMARY KEY,
    account_id      text NOT NULL REFERENCES accounts ON DELETE CASCADE,   -- who opened it
    opener_kind     text NOT NULL,
    opener_id       text NOT NULL,
    opener_name     text NOT NULL,             -- as its messages are signed
    peer_kind       text NOT NULL,
    peer_id         text NOT NULL,
    peer_name       text NOT NULL,
    pair            text UNIQUE,               -- the two ends in order, where they continue
    opened_at       integer NOT NULL,
    active_at       integer NOT NULL,          -- the last message
    active_hour     integer NOT NULL,          -- the same in whole hours: an index that rests
    last_sequence   integer NOT NULL DEFAULT 0,   -- the conversation's counter
    removed_through integer NOT NULL DEFAULT 0,   -- highest sequence evicted so far
    kept            integer NOT NULL DEFAULT 0 CHECK (kept >= 0),  -- messages it holds
    opener_agent_id text,                      -- the Crew or workflow at that end, if one is
    peer_agent_id   text,
    CHECK (opener_kind IN ('account', 'registration', 'crew', 'workflow', 'code')),
    CHECK (peer_kind IN ('account', 'registration', 'crew', 'workflow', 'code'))
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_activity ON conversations (active_hour);
CREATE INDEX conversations_by_account ON conversations (account_id);   -- unmoved by a message

-- In the order they were stored: clustered by conversation, each would split leaves (0015).
CREATE TABLE messages (
    conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
    sequence        integer NOT NULL,
    message_id      text NOT NULL,
    by_opener       integer NOT NULL CHECK (by_opener IN (0, 1)),
    registration_id        text,                      -- the receiving registration, if it is one
    number          integer,                   -- its place in that registration's mailbox
    sent_by         text,                      -- the sending connection
    sent_at         integer NOT NULL,
    delivery        text NOT NULL DEFAULT 'stored',
    body            text NOT NULL CHECK (length(body) BETWEEN 1 AND 20000),
    turn_id         text,                      -- the receiving turn, once it began
    PRIMARY KEY (conversation_id, sequence),
    CHECK ((registration_id IS NULL) = (number IS NULL))
) STRICT;

CREATE UNIQUE INDEX messages_by_id ON messages (message_id);
CREATE UNIQUE INDEX messages_by_mailbox ON messages (registration_id, number) WHERE registration_id IS NOT NULL;
CREATE INDEX messages_under_way ON messages (conversation_id)
WHERE delivery IN ('pending', 'dispatching');  -- these protect their inbox from eviction

CREATE TABLE delivery_moves (
    was     text NOT NULL,
    becomes text NOT NULL,
    because text NOT NULL,
    PRIMARY KEY (was, becomes)
) STRICT, WITHOUT ROWID;

INSERT INTO delivery_moves VALUES
    ('stored',      'pending',       'it waits for a turn of its receiver'),
    ('stored',      'admitted',      'its receiver took it up'),
    ('stored',      'processed',     'its receiver says it is dealt with'),
    ('stored',      'typed',         'it was typed into its receiver''s terminal'),
    ('pending',     'dispatching',   'a turn is being started with it'),
    ('pending',     'undeliverable', 'its receiver or its sender''s access is gone'),
    ('pending',     'cancelled',     'it was withdrawn before a turn began'),
    ('dispatching', 'admitted',      'the receiving turn began'),
    ('dispatching', 'undeliverable', 'its receiver or its sender''s access is gone'),
    ('dispatching', 'interrupted',   'the server stopped meanwhile; never sent again blindly'),
    ('admitted',    'processed',     'the turn ended, or its receiver says so'),
    ('admitted',    'interrupted',   'the server stopped during the turn'),
    ('typed',       'admitted',      'its receiver took it up'),
    ('typed',       'processed',     'its receiver says it is dealt with');

CREATE TRIGGER delivery_moves_only_as_drawn
BEFORE UPDATE OF delivery ON messages
WHEN NOT EXISTS (SELECT 1 FROM delivery_moves WHERE was = OLD.delivery AND becomes = NEW.delivery)
BEGIN
    SELECT raise(ABORT, 'delivery: no such move');
END;

-- A removed inbox still answers `expired` for a while; no body is kept.
CREATE TABLE expired_inboxes (
    conversation_id text PRIMARY KEY,
    account_id      text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    expired_at      integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX expired_inboxes_by_time ON expired_inboxes (expired_at);

-- ── What was submitted ───────────────────────────────────────────────────────

-- A retry finds its receipt. Written in the transaction that does the work it remembers.
CREATE TABLE submissions (
    holder        text NOT NULL,               -- an account, or an execution's own identity
    operation     text NOT NULL,
    submission_id text NOT NULL,
    fingerprint   blob NOT NULL,               -- of the request as given, without its waiting time
    answer        blob NOT NULL,
    subject       text NOT NULL,               -- the conversation or call it began
    accepted_at   integer NOT NULL,
    fingerprint_converted blob,                -- of the request as it was understood
    PRIMARY KEY (holder, operation, submission_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX submissions_by_time ON submissions (accepted_at);

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
