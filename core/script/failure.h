/* failure.h - from whatever was raised to text that can be stored (rules §8). Private to script/.
 */
#pragma once

#include "script/state.h"

struct failure {
    char *message, *stack; /* valid UTF-8, malloc'ed; NULL only when memory is out */
    bool permanent;        /* the raised table says so: no more retries */
    time_ms retry_after;   /* the same: not before so many ms have passed; 0: none */
    char *doubt;           /* malloc'ed: why what it says of that counts for nothing; NULL: fine */
    bool conflict;         /* the same: not a failure, to be run again */
    bool held;             /* the same: for as long as its caller is suspended */
    bool later;            /* the same: not for this program, which looks again in a while */
};

/* Pops what the last state_call raised. */
struct failure failure_describe(struct state *state);
/* The same; empty if a limit has stopped the call. */
struct failure failure_take(struct state *state);
void failure_clear(struct failure *failure);

/* `message` and the traceback of the last state_call, malloc'ed. */
char *failure_stack(const struct state *state, const char *message);

/* Says why a function was left out: what it raised, or the limit that stopped it. */
const char *failure_words(const struct failure *failure, enum stop stopped);

/* "64 MiB" into `text`. */
void failure_bytes(size_t bytes, char *text, size_t size);
