/* functions.c - the functions by which programs enqueue in transactions of their own. They write
 * rows of the outbox with the rights of its owner, so that a role may enqueue and do nothing else.
 *
 * A row gets its place as its transaction is committed: the trigger is deferred. A notification
 * comes with the commit, too. The owner of the functions is that of the tables: a store holds
 * nothing of others (trusted.c, which also has the names). */
#include "store/postgres/db/engine.h"
#include "store/postgres/life/rights.h"

#define AS_OWNER "LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$"
#define ENQUEUE "FUNCTION %s.enqueue(handler text, payload jsonb, options jsonb)"

#define OWNED(what)                                                                                \
    "DO $$ BEGIN EXECUTE (SELECT pg_catalog.format('ALTER " what " OWNER TO %%I', tableowner)"     \
    " FROM pg_catalog.pg_tables WHERE schemaname = '%l' AND tablename = 'outbox'); END $$;"

static const char *const functions[] = {
    "-- %s.enqueue(handler, payload, options): a job once the caller commits. %e may call it.",
    "BEGIN;",
    "CREATE OR REPLACE FUNCTION %s.outbox_place() RETURNS trigger " AS_OWNER
    " BEGIN UPDATE %s.outbox SET place = pg_catalog.nextval('%s.outbox_id_seq') WHERE id = NEW.id;"
    " RETURN NULL; END $$;",
    "CREATE OR REPLACE FUNCTION %s.enqueue(handler text, payload jsonb DEFAULT NULL,"
    " options jsonb DEFAULT '{}') RETURNS bigint " AS_OWNER " DECLARE number bigint; BEGIN"
    " IF pg_catalog.jsonb_typeof(options) <> 'object' THEN"
    " RAISE EXCEPTION 'options %%: expected an object', options; END IF;"
    " INSERT INTO %s.outbox(at, handler, payload, options) VALUES"
    " ((extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint, handler, payload::text,"
    " options::text) RETURNING id INTO number;"
    " PERFORM pg_catalog.pg_notify('%c', ''); RETURN number; END $$;",
    "SET LOCAL client_min_messages = warning;",
    "DROP TRIGGER IF EXISTS outbox_place ON %s.outbox;",
    "CREATE CONSTRAINT TRIGGER outbox_place AFTER INSERT ON %s.outbox DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION %s.outbox_place();",
    OWNED("FUNCTION %s.outbox_place()"),
    OWNED(ENQUEUE),
    "REVOKE ALL ON FUNCTION %s.outbox_place() FROM PUBLIC;",
    "REVOKE ALL ON " ENQUEUE " FROM PUBLIC;",
    "GRANT USAGE ON SCHEMA %s TO %e;",
    "GRANT EXECUTE ON " ENQUEUE " TO %e;",
    "COMMIT;",
    NULL,
};

bool postgres_functions(const char *url, const struct store_roles *roles, struct text *text,
                        struct error *error) {
    return rights_lines(url, roles, functions, text, error);
}
