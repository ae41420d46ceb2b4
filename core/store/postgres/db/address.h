/* address.h - the URL of a store on a server: postgres://user@host:port/database?schema=moonshift
 * With pool=transaction there is a pool of connections in between, as pgbouncer is. */
#pragma once

#include "store/postgres/db/libpq.h"
#include <stdint.h>

enum { SCHEMA_MAX = 63 };

struct address {
    PQconninfoOption *options; /* for libpq; may hold a password */
    char *name;                /* the URL without its password, for messages */
    char schema[SCHEMA_MAX + 1];
    bool pooled; /* by the transaction: a connection is another client's behind each */
};

/* Reads the URL; `schema` is not libpq's, and is "moonshift" unless given. After an error `address`
 * still is to be cleared. */
bool address_read(struct address *address, const char *url, struct error *error);
void address_clear(struct address *address);

/* What the URL says of a keyword of libpq ("dbname"); NULL: nothing. */
const char *address_option(const struct address *address, const char *keyword);

/* The number of the schema's name in locks and channels: stores of one database do not meet. */
int32_t address_class(const struct address *address);
