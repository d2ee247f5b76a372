-- Batches and the other tools: what changes something that exists, whom a booking is for, and what runs by the calendar.

ALTER TABLE items
    -- What it changes, by the provider's own id: a reservation, a payment.
    ADD COLUMN subject      text,
    -- HMACs, so that they tell nothing: whom a booking is for, and which stay it is, whatever the conversation.
    ADD COLUMN guest        text,
    ADD COLUMN stay         text,
    -- What the look before the last write saw: how it was before.
    ADD COLUMN seen         jsonb,
    -- Of a booking that was moved to other dates: the base under which it is asked for now.
    ADD COLUMN moved_base   text,
    -- Which later item has undone this one.
    ADD COLUMN superseded_by bigint;

-- One open item a subject. What comes later waits, so that a late commit can't turn an order of wishes around.
CREATE UNIQUE INDEX items_open_subject ON items (subject, provider, tenant_id)
    WHERE subject IS NOT NULL AND state IN ('queued', 'running', 'unknown');
CREATE INDEX items_subject ON items (subject, tenant_id) WHERE subject IS NOT NULL;
-- What a cancellation undoes is found by the provider's id of it.
CREATE INDEX items_provider_id ON items (provider_id, tenant_id) WHERE provider_id IS NOT NULL;
CREATE INDEX items_moved ON items (moved_base, tenant_id) WHERE moved_base IS NOT NULL;
CREATE INDEX items_guest ON items (guest, stay, tenant_id) WHERE guest IS NOT NULL;

-- 'schedule': made by the caretaker, once a hotel, job and date.
ALTER TABLE intents DROP CONSTRAINT intents_key_kind_check;
ALTER TABLE intents ADD CONSTRAINT intents_key_kind_check CHECK (key_kind IN ('derived', 'header', 'schedule'));

-- What the calendar has asked for, by the hotel's local date: never twice, and a day that was missed is told.
CREATE TABLE scheduled (
    tenant_id   text NOT NULL REFERENCES tenants,
    property    text NOT NULL,
    job         text NOT NULL,
    date        date NOT NULL,
    intent_id   text REFERENCES intents,    -- NULL: skipped, it was of no use any more
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (property, job, date, tenant_id)
);
