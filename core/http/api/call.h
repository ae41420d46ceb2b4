/* call.h - one request while it is worked on: what it names, asks and brings. */
#pragma once

#include "http/api/route.h"
#include "http/api/service.h"
#include <jansson.h>

struct call {
    struct engine *engine; /* NULL: nothing of it is needed */
    const struct caller *caller;
    struct figures *figures; /* of the face, for /metrics */
    struct exchange *exchange;
    const struct route *route;
    struct place place; /* what the path names */
    json_t *filters;    /* of the query, as the store takes them */
    json_t *options;    /* of the query: the other parameters; an object */
    json_t *body;       /* NULL: none */
    /* How the answer is told, see keyed.h. */
    bool (*tell)(struct call *call, const void *result, struct error *error);
    const void *result;
};

/* Reads the query and the body as the route says. call_clear in any case afterwards. */
bool call_read(struct call *call, struct error *error);
void call_clear(struct call *call);

/* The answer, which is taken over; NULL: ERROR_FAILED. Returns true if it could be written. */
bool call_answer(struct call *call, int status, json_t *answer, struct error *error);
/* The same of a text, malloc'ed and taken over. */
bool call_answer_text(struct call *call, int status, const char *type, char *text,
                      struct error *error);

/* True if the content is said to be of this type. */
bool call_has_type(const struct exchange *exchange, const char *name);

/* How long the answer may wait; stays where it is not said. */
bool call_wait(const json_t *value, time_ms *wait, struct error *error);

/* Refuses keys of an object that are none of the members, and values of another type, and says
 * which are missing. */
bool members_check(const json_t *object, const struct member *members, const char *what,
                   struct error *error);
