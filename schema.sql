-- The whole memory of an AgentWorks server. Read top to bottom: what this file is,
-- who may speak, what was said, what was submitted.
--
-- Times are integer milliseconds since 1970, UTC. Numbers that readers use as cursors come from
-- counter columns raised in the transaction that stores what they number (contract §4).

-- ── What this file is ────────────────────────────────────────────────────────

CREATE TABLE store (
    one        integer PRIMARY KEY CHECK (one = 1),
    epoch      integer NOT NULL,               -- raised by a restore; every page names it
    created_at integer NOT NULL
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
    fingerprint   blob NOT NULL,               -- of the request, without its waiting time
    answer        blob NOT NULL,
    subject       text NOT NULL,               -- the conversation or call it began
    accepted_at   integer NOT NULL,
    PRIMARY KEY (holder, operation, submission_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX submissions_by_time ON submissions (accepted_at);
