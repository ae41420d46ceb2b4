/* store_url.h - the URL of a store as messages, logs and lists show it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { STORE_SHOWN = 512 };

/* The store is one on a server: postgres://… or postgresql://… */
bool store_url_server(const char *url);

/* Copies the URL without the passwords in it; a longer one is cut. Returns `shown`. */
const char *store_url_show(const char *url, char shown[STORE_SHOWN]);

/* The same URL with this schema instead of its own; malloc'ed. NULL: no memory. */
char *store_url_in(const char *url, const char *schema, size_t size);
/* The schema of a store on a server, of *size bytes: the one that the URL names, or the default. */
#define STORE_SCHEMA "moonshift"
const char *store_url_schema(const char *url, size_t *size);
