/* error.h - why something failed: a code that programs branch on, one sentence for people.
 *
 * The struct lives on the caller's stack; functions that can fail return bool (or NULL) and take a
 * last parameter `struct error *`. Sentences are worded once, where the cause is known: lower case,
 * no full stop, the thing, the value in quotes, what was expected. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum error_code {
    ERROR_NONE,
    ERROR_FAILED,      /* "failed": anything without a code of its own; exit 1 */
    ERROR_USAGE,       /* "usage": the command line; exit 2 */
    ERROR_INVALID,     /* "invalid": a bad value handed in; exit 2 */
    ERROR_NOT_FOUND,   /* "not_found": no such id or name; exit 4 */
    ERROR_CONFLICT,    /* "conflict": the state forbids it; exit 5 */
    ERROR_BUSY,        /* "busy": another process held the store for too long; exit 1 */
    ERROR_CLOSED,      /* "closed": the engine or store is closed; exit 1 */
    ERROR_DAMAGED,     /* "damaged": the database is not what it should be; exit 65 */
    ERROR_FULL,        /* "full": no room on the disk; exit 74 */
    ERROR_IO,          /* "io": the disk or the system refused; exit 74 */
    ERROR_CONFIG,      /* "config": settings, script folder or schema version; exit 78 */
    ERROR_UNAVAILABLE, /* "unavailable": the server of the store cannot be reached, or is read only;
                          exit 69 */
    ERROR_STUCK,       /* "stuck": more handlers do not end than workers can be replaced; exit 70 */
    ERROR_INTERRUPTED, /* "interrupted": the user asked to stop; exit 130 */
    /* of a request over HTTP: */
    ERROR_UNAUTHORIZED, /* "unauthorized": nobody knows who asks; exit 1 */
    ERROR_FORBIDDEN,    /* "forbidden": whoever asks may not; exit 1 */
    ERROR_METHOD,       /* "method": the path is there, for another method; exit 2 */
    ERROR_TYPE,         /* "type": the content is of another type than expected; exit 2 */
    ERROR_CHANGED,      /* "changed": it is no longer what was looked at; exit 5 */
    ERROR_TOO_LARGE,    /* "too_large": more than is taken at once; exit 2 */
    ERROR_BACKLOG,      /* "backlog": as many jobs wait as may; exit 1 */
    ERROR_RATE          /* "rate": too many in a while; exit 1 */
};

struct error {
    enum error_code code;
    char text[2048]; /* valid UTF-8, NUL-terminated, cut if longer */
};

/* What a question with an error came to: "is there one", "may it", "is it so". */
enum answer { FAILED = -1, NO, YES };

static inline enum answer answer_not(enum answer answer) {
    if (answer == FAILED)
        return FAILED;
    return answer == YES ? NO : YES;
}

/* True if the state forbids it: what was asked for is refused, and all else is fine. */
static inline bool error_refuses(const struct error *error) {
    return error->code == ERROR_CONFLICT || error->code == ERROR_BACKLOG;
}

/* True if all that is written with it fails alike. Of a commit nobody may know how it ended, so it
 * is not tried again. */
static inline bool error_is_of_store(const struct error *error) {
    return error->code == ERROR_IO || error->code == ERROR_UNAVAILABLE ||
           error->code == ERROR_BUSY || error->code == ERROR_FULL;
}

/* Fills `error` (which may be NULL) and returns false, so that a failure path is one line. */
bool error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for lack of memory, with ERROR_FAILED. */
bool error_no_memory(struct error *error);
/* NULL, of a function that returns a pointer and has just filled the error. */
static inline void *error_null(bool filled) {
    (void)filled;
    return NULL;
}
/* The same for a name that is none of `names` (NULL-terminated): `unknown key "x"`, where `what` is
 * "unknown key". Then "did you mean" one that is close, else behind `otherwise` ("expected"; NULL:
 * nothing) all of them. */
bool error_unknown(struct error *error, enum error_code code, const char *what, const char *name,
                   const char *const *names, const char *otherwise);

/* The word programs see for a code ("not_found"); never NULL. */
const char *error_code_name(enum error_code code);

/* The process exit status for a code, see the list above; 0 for ERROR_NONE. */
int error_exit_status(enum error_code code);
/* The status of an answer over HTTP (RFC 9110); 200 for ERROR_NONE. */
int error_http_status(enum error_code code);
