/* schema.h - the tables of a store as PostgreSQL reads them. */
#ifndef MOONSHIFT_STORE_POSTGRES_LIFE_SCHEMA_H
#define MOONSHIFT_STORE_POSTGRES_LIFE_SCHEMA_H

/* A script that makes them where unqualified names are looked for; malloc'ed. NULL: no memory. */
char *postgres_schema(void);

#endif
