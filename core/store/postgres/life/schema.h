/* schema.h - the tables of a store as PostgreSQL reads them, made and looked at before use. */
#pragma once

#include "base/error.h"

struct store;

/* A script that makes them where unqualified names are looked for; malloc'ed. NULL: no memory. */
char *postgres_schema(void);

/* Checks what is there, or creates it. */
bool postgres_migrate(struct store *store, struct error *error);
/* Reads the version of the schema; and can this program work with it? False: ERROR_CONFIG. */
bool postgres_schema_read(struct store *store, struct error *error);
/* Has the role what it needs? False: ERROR_CONFIG, by the names of what it lacks. */
bool postgres_rights(struct store *store, struct error *error);
/* May names be looked for in its schema? False: ERROR_CONFIG, by what is there of other roles. */
bool postgres_trusts(struct store *store, struct error *error);

/* How many jobs of a stream are in each place; shard: the process of a session, or 0: of those that
 * are gone. */
#define OCCUPANCY_COLUMNS                                                                          \
    "shard bigint, stream bigint, ready bigint NOT NULL DEFAULT 0,"                                \
    " timer bigint NOT NULL DEFAULT 0, parked bigint NOT NULL DEFAULT 0,"                          \
    " PRIMARY KEY(shard, stream));\n"

/* Each statement that moves jobs counts them (rules/place/occupancy.h), in the row of its session.
 * A session that counted in a row of others would wait for their commits. */
#define OCCUPANCY_TRIGGER(table, event, word, rows)                                                \
    "CREATE TRIGGER occupancy_" word " AFTER " event " ON " table " REFERENCING " rows             \
    " TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION occupancy_move();\n"
#define OCCUPANCY_TRIGGERS_OF(table)                                                               \
    OCCUPANCY_TRIGGER(table, "INSERT", "came", "NEW")                                              \
    OCCUPANCY_TRIGGER(table, "DELETE", "left", "OLD")
#define OCCUPANCY_OF(table) "CASE WHEN TG_TABLE_NAME='" table "' THEN n ELSE 0 END"
#define OCCUPANCY_TRIGGERS                                                                         \
    "CREATE FUNCTION occupancy_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"                \
    " INSERT INTO occupancy AS o(shard, stream, ready, timer, parked)"                             \
    " SELECT pg_backend_pid(), stream, " OCCUPANCY_OF("ready") ", " OCCUPANCY_OF(                  \
        "timer") ", " OCCUPANCY_OF("parked") " FROM (SELECT stream,"                               \
                                             " CASE WHEN TG_OP='INSERT' THEN count(*) ELSE "       \
                                             "-count(*) END AS n FROM moved GROUP BY stream) m"    \
                                             " ON CONFLICT(shard, stream) DO UPDATE SET "          \
                                             "ready=o.ready+excluded.ready,"                       \
                                             " timer=o.timer+excluded.timer, "                     \
                                             "parked=o.parked+excluded.parked; RETURN NULL; END "  \
                                             "$$;\n" OCCUPANCY_TRIGGERS_OF("ready")                \
                                                 OCCUPANCY_TRIGGERS_OF("timer")                    \
                                                     OCCUPANCY_TRIGGERS_OF("parked")
