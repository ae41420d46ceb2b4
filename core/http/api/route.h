/* route.h - the table of routes: the one source of the router, of the checks of parameters and
 * bodies, of the description of the API and its page (docs/api.md).
 *
 * A path may have one part in braces that names a thing: {id} is a whole number from 1, {name} one
 * or more parts, since names such as topic/ocr have slashes. {verb} at its end is any verb of the
 * route's target: those are read from the table of job/command.c. */
#pragma once

#include "http/api/service.h"
#include "job/ask.h"
#include "job/command.h"

enum value_type {
    VALUE_TEXT,
    VALUE_INTEGER,
    VALUE_FLAG,
    VALUE_TIME, /* an instant, as time/instant.h reads them */
    VALUE_OBJECT,
    VALUE_LIST,
    VALUE_ANY
};

/* A parameter of a query, or a key of a body. */
struct member {
    const char *name; /* NULL ends a list */
    enum value_type type;
    bool needed;
    const char *says;
};

struct call;
typedef bool route_run(struct call *call, struct error *error);

/* The form of the content of a request. */
enum route_body {
    BODY_NONE,
    BODY_OBJECT,
    BODY_MAYBE, /* an object, or nothing */
    BODY_JOBS,
    BODY_RAW /* any, and so are the query and the headers */
};

struct route {
    const char *method, *path;
    const char *says; /* one sentence */
    unsigned scope;
    enum worker_kind worker;
    route_run *run;
    enum ask_kind asks;         /* of a question; see `lists` */
    bool lists;                 /* the answer is a page of rows, and the filters are parameters */
    const struct member *query; /* beside those; NULL: none */
    enum route_body body;
    const struct member *members; /* of the body; NULL: those of the verb, or none */
    bool verbs;                   /* the path ends with {verb}, of: */
    enum command_target target;
    const char *order;         /* the kind of a command to a process; NULL: none */
    const char *key;           /* of the body or the command that the path names; NULL: none */
    const struct member *told; /* what the answer has; NULL: what `asks` has, or anything */
    bool makes;                /* 201: something new is there */
    bool keyed;                /* an Idempotency-Key is kept */
    bool matched;              /* an If-Match is looked at */
};

/* What a path names. */
struct place {
    int64_t id;             /* 0: none */
    const char *name;       /* NULL: none */
    enum command_verb verb; /* of a route with verbs */
    char text[2048];        /* where `name` is */
};

/* All routes, ended by one without a method. */
extern const struct route routes[];

/* The route of a request. NULL: ERROR_NOT_FOUND, or ERROR_METHOD with *allow. */
const struct route *route_find(const struct exchange *exchange, struct place *place,
                               const char **allow, struct error *error);

/* True if it is among the verbs that the {verb} of the route stands for. */
bool route_has_verb(const struct route *route, enum command_verb verb);

/* The name and type of a filter as a parameter, from 0 on; false: there are no more. Time filters
 * named `after` are `at_after` here: `after` pages. */
bool route_filter(const struct route *route, size_t at, struct member *parameter,
                  const char **filter, const char **form);
/* The same of the parameters that every list has. */
extern const struct member page_members[];
