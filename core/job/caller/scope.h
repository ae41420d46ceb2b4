/* scope.h - what a caller over HTTP may do: a set of scopes, and their names. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* A mask. */
enum scope {
    SCOPE_NONE = 0,     /* for everybody: probes, the page itself */
    SCOPE_READ = 1,     /* "read": questions */
    SCOPE_PAYLOAD = 2,  /* "payload": payloads, results, lines and variables in their answers */
    SCOPE_ENQUEUE = 4,  /* "enqueue": creates jobs and instances, sends messages and signals */
    SCOPE_WORK = 8,     /* "work": fetches and settles */
    SCOPE_OPERATE = 16, /* "operate": operator's verbs; includes READ and PAYLOAD */
    SCOPE_ADMIN = 32,   /* "admin": tokens and settings */
    SCOPE_ALL = 63
};

#define SCOPES_TEXT_SIZE 64

/* Reads an array of names, or names between commas, with what they include. False: error, which
 * names the first one that is none. */
bool scopes_read(const json_t *names, unsigned *scopes, struct error *error);
/* Whether it is a list of 1 to 100 names of handlers, of which each may end with a star that stands
 * for anything. */
bool handlers_check(const json_t *handlers, struct error *error);
/* "read,payload" into `text` (SCOPES_TEXT_SIZE bytes). */
void scopes_write(unsigned scopes, char *text);
