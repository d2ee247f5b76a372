-- The spine: who asks (tenants, keys, conversations), what was asked (intents), what shall happen once (items),
-- each call for it (attempts), and what waits for a person (dead letters) or for the host (events).

CREATE TABLE tenants (
    id          text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
    -- Secret of all HMACs of this tenant. It must be readable to make keys, so it is protected as the database is.
    secret      bytea NOT NULL CHECK (length(secret) = 32),
    settings    jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id          text PRIMARY KEY,
    tenant_id   text NOT NULL REFERENCES tenants,
    scope       text NOT NULL CHECK (scope IN ('agent', 'host', 'ops')),
    hash        bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz
);

-- One row a conversation: the lock under which its intents are admitted one after the other.
CREATE TABLE conversations (
    tenant_id   text NOT NULL REFERENCES tenants,
    id          text NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
    created_at  timestamptz NOT NULL DEFAULT now(),
    admitted    bigint NOT NULL DEFAULT 0,
    -- The telling column first, here and in every index with a tenant: in a young database, without statistics, any index
    -- that begins with the tenant looks as good as the right one, and reads all its rows.
    PRIMARY KEY (id, tenant_id)
);

CREATE TABLE intents (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    tool            text NOT NULL,
    -- 'derived': made from the identity, the agent asks again. 'header': the caller's own, the same HTTP request.
    key_kind        text NOT NULL CHECK (key_kind IN ('derived', 'header')),
    key             text NOT NULL,
    fingerprint     text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    UNIQUE (key, key_kind, tenant_id),
    FOREIGN KEY (conversation_id, tenant_id) REFERENCES conversations (id, tenant_id)
);
CREATE INDEX intents_conversation ON intents (conversation_id, tenant_id);

CREATE TABLE items (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    key             text NOT NULL,
    base            text NOT NULL,          -- shared by identical effects, which k tells apart
    k               int NOT NULL,
    epoch           int NOT NULL DEFAULT 0,
    key_generation  int NOT NULL DEFAULT 0, -- raised after a definite refusal, which the provider may replay for ever
    reference       text NOT NULL,
    effect          text NOT NULL,
    queue           text NOT NULL,
    provider        text NOT NULL,
    fingerprint     text NOT NULL,
    request         jsonb NOT NULL,
    request_bytes   bytea,                  -- set at the first mark, sent again as they are
    state           text NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'unknown', 'cancelled', 'superseded')),
    result          jsonb,
    provider_id     text,                   -- the provider's own id of the effect
    error           jsonb,
    refusal         jsonb,                  -- a refusal that came while another write was in doubt
    slow            boolean NOT NULL DEFAULT false,
    rev             bigint NOT NULL DEFAULT 0,
    token           uuid,
    lease_until     timestamptz,
    due_at          timestamptz DEFAULT now(),  -- may run from then on; NULL: nothing to do
    publish_at      timestamptz,                -- the relay publishes (again) then; NULL: nothing to do
    published       int NOT NULL DEFAULT 0,     -- messages sent since it last ran
    writes          int NOT NULL DEFAULT 0,     -- since it was last armed
    attempts        int NOT NULL DEFAULT 0,     -- all calls ever
    failures        int NOT NULL DEFAULT 0,     -- calls in a row that told nothing, for backoff
    doubted_at      timestamptz,                -- since when its outcome is in doubt
    first_sent_at   timestamptz,                -- under the present key generation, for the key's life
    expires_at      timestamptz NOT NULL,
    stop_writes     boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    settled_at      timestamptz,
    UNIQUE (key, tenant_id),
    CHECK ((token IS NULL) = (lease_until IS NULL)),
    CHECK (state <> 'running' OR token IS NOT NULL),
    CHECK (state <> 'succeeded' OR result IS NOT NULL),
    CHECK (state NOT IN ('failed', 'cancelled') OR error IS NOT NULL)
);
CREATE INDEX items_base ON items (base);
CREATE INDEX items_conversation ON items (conversation_id, tenant_id);
-- The relay and a worker without work ask for the first of a queue: each reads just the rows that it takes.
CREATE INDEX items_publish ON items (queue, publish_at) WHERE publish_at IS NOT NULL;
CREATE INDEX items_due ON items (queue, due_at) WHERE due_at IS NOT NULL;

-- Which intents asked for which items; position is the place in the answer.
CREATE TABLE links (
    intent_id   text NOT NULL REFERENCES intents ON DELETE CASCADE,
    position    int NOT NULL,
    item_id     bigint NOT NULL REFERENCES items,
    PRIMARY KEY (intent_id, position)
);
CREATE INDEX links_item ON links (item_id);

-- One row a call, open before the first byte is sent, closed after. Append-only otherwise.
CREATE TABLE attempts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item_id         bigint NOT NULL REFERENCES items,
    kind            text NOT NULL CHECK (kind IN ('write', 'check')),
    key_generation  int NOT NULL,
    started_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    may_send_until  timestamptz NOT NULL,
    closed_at       timestamptz,
    outcome         text CHECK (outcome IN
        ('done', 'rejected', 'not_sent', 'unknown', 'misconfigured', 'found', 'mismatched', 'absent')),
    cause           text,
    CHECK ((closed_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX attempts_item ON attempts (item_id);

CREATE TABLE dead_letters (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id   text NOT NULL,
    item_id     bigint NOT NULL REFERENCES items,
    reason      text NOT NULL CHECK (reason IN ('unknown_outcome', 'duplicate', 'late_success', 'mismatch', 'poison',
        'exhausted', 'expired', 'misconfigured')),
    detail      text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    closed_at   timestamptz
);
-- The same trouble waits once, however often it is met.
CREATE UNIQUE INDEX dead_letters_open ON dead_letters (item_id, reason) WHERE closed_at IS NULL;

CREATE TABLE events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id   text NOT NULL,
    item_id     bigint NOT NULL REFERENCES items,
    kind        text NOT NULL,
    detail      jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX events_tenant ON events (tenant_id, id);

-- What retention leaves: an intent without its links answers 410; an item without guest data still guards its key.
ALTER TABLE intents ADD COLUMN pruned_at timestamptz;
ALTER TABLE items ADD COLUMN blanked_at timestamptz;
CREATE INDEX intents_age ON intents (created_at) WHERE pruned_at IS NULL;
CREATE INDEX items_settled ON items (settled_at) WHERE blanked_at IS NULL;
