/* schema.h - the tables of a store as PostgreSQL reads them, made and looked at before use. */
#ifndef MOONSHIFT_STORE_POSTGRES_LIFE_SCHEMA_H
#define MOONSHIFT_STORE_POSTGRES_LIFE_SCHEMA_H

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

#endif
