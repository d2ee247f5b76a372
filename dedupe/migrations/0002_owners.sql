-- Every failure has an owner: verified guests, calls that failed, stops, pauses, and intents that are given up.

ALTER TABLE conversations
    -- The verified guest as the host application names it: {"name", "email"}.
    ADD COLUMN guest        jsonb,
    -- The host's number of the user's turn. A new one lifts a stop and forgets the failures before.
    ADD COLUMN turn         bigint NOT NULL DEFAULT 0,
    ADD COLUMN forgiven_at  timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN stopped_at   timestamptz,
    ADD COLUMN stop_reason  text CHECK (stop_reason IN ('same_call', 'unavailable')),
    ADD CHECK ((stopped_at IS NULL) = (stop_reason IS NULL));

ALTER TABLE intents ADD COLUMN cancelled_at timestamptz;

-- One row a call of the agent that was told as failed, a batch being one call; what the guards count.
CREATE TABLE failures (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    call            text NOT NULL,      -- the same for the same tool and arguments: the derived intent key
    unavailable     boolean NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations
);
CREATE INDEX failures_conversation ON failures (tenant_id, conversation_id, at);

-- A provider that is not called for now: our credentials were refused, or a person said so.
CREATE TABLE pauses (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider    text NOT NULL,
    cause       text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    lifted_at   timestamptz
);
CREATE UNIQUE INDEX pauses_open ON pauses (provider) WHERE lifted_at IS NULL;
