/* overview.h - a store at a glance: what waits, who works, how fast, and what needs a person. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include <jansson.h>

struct overview;

/* What a person looks at. */
struct overview_view {
    const char *store;
    const char *filter; /* a part of handlers' names and of messages; "": all */
    int64_t chosen;     /* the incident that is marked; 0: none */
    int width, rows;    /* of a terminal; 0: as long and as wide as it gets */
};

/* NULL: no memory. */
struct overview *overview_new(void);
void overview_free(struct overview *overview); /* NULL is fine */

/* Takes what the store says now: the answers of ASK_STATS, of ASK_LOG and of ASK_INCIDENTS, the
 * newest first. Takes the references over; NULL: memory is out. Rates are those of the last five
 * seconds, delays and runs those of the entries. */
bool overview_take(struct overview *overview, json_t *stats, json_t *log, json_t *incidents,
                   struct error *error);

/* All of it as one document: `stats`, with delay and run of each definition, and `incidents`. A new
 * reference; NULL: no memory. */
json_t *overview_document(const struct overview *overview);

/* The incidents that the view shows, the newest first: a new reference; NULL: no memory. */
json_t *overview_incidents(const struct overview *overview, const struct overview_view *view);

/* Appends it in lines. */
bool overview_write(const struct overview *overview, const struct overview_view *view,
                    struct text *out, struct error *error);
