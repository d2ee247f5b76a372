-- Every failure has an owner: verified guests, calls that failed, stops, pauses, and intents that are given up.

ALTER TABLE conversations
    -- The verified guest as the host application names it: {"name", "email"}.
    ADD COLUMN guest        jsonb,
    ADD COLUMN guest_at     timestamptz,
    -- The host's number of the user's turn, and how often failures were forgotten: by a new turn, or by a person.
    ADD COLUMN turn         bigint NOT NULL DEFAULT 0,
    ADD COLUMN round        bigint NOT NULL DEFAULT 0,
    ADD COLUMN stopped_at   timestamptz,
    ADD COLUMN stop_reason  text CHECK (stop_reason IN ('same_call', 'unavailable')),
    ADD CHECK ((stopped_at IS NULL) = (stop_reason IS NULL));
CREATE INDEX conversations_guest ON conversations (guest_at) WHERE guest IS NOT NULL;

ALTER TABLE intents
    ADD COLUMN cancelled_at timestamptz,
    -- The same for the same tool and arguments, whatever key the caller chose.
    ADD COLUMN call         text,
    -- How often it was asked, and the last asking whose failure the guards have counted. Old ones count no more.
    ADD COLUMN asked        bigint NOT NULL DEFAULT 1,
    ADD COLUMN noted        bigint NOT NULL DEFAULT 1;
UPDATE intents SET call = key;
ALTER TABLE intents ALTER COLUMN call SET NOT NULL, ALTER COLUMN noted SET DEFAULT 0;

-- One row a call of the agent that failed, a batch being one call; what the guards count, by the conversation's round.
CREATE TABLE failures (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    round           bigint NOT NULL,
    call            text NOT NULL,
    unavailable     boolean NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (conversation_id, tenant_id) REFERENCES conversations (id, tenant_id)
);
CREATE INDEX failures_conversation ON failures (conversation_id, tenant_id, round);
CREATE INDEX failures_age ON failures (at);

-- The agent was told that the outcome is unknown; the verdict on it is an event.
ALTER TABLE items ADD COLUMN shown_unknown boolean NOT NULL DEFAULT false;
UPDATE items SET shown_unknown = true WHERE state = 'unknown';

-- Events of a conversation (stopped, lifted) have no item.
ALTER TABLE events
    ALTER COLUMN item_id DROP NOT NULL,
    ADD COLUMN conversation_id text,
    ADD CHECK (item_id IS NOT NULL OR conversation_id IS NOT NULL);

-- Who polls by "after the last id I saw" must not miss an event, and transactions may commit in another order than they
-- drew their ids. So the id is drawn under a lock of the tenant that is held to the commit: when an id can be seen, all
-- lower ones of the tenant can be seen, or will never exist. Events are rare, and the reader waits for nobody.
CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7266393, hashtext(NEW.tenant_id));
    NEW.id := nextval(pg_get_serial_sequence('events', 'id'));
    RETURN NEW;
END $$;
CREATE TRIGGER number_event BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION number_event();

-- A provider that is not called for now: our credentials were refused, or a person said so.
CREATE TABLE pauses (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider    text NOT NULL,
    cause       text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    lifted_at   timestamptz
);
CREATE UNIQUE INDEX pauses_open ON pauses (provider) WHERE lifted_at IS NULL;
