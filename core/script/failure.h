/* failure.h - from whatever was raised to text that can be stored. Private to script/. */
#ifndef MOONSHIFT_SCRIPT_FAILURE_H
#define MOONSHIFT_SCRIPT_FAILURE_H

#include "script/state.h"

/* Pops what the last state_call raised. *message and *stack: malloc'ed valid UTF-8, NULL only when
 * memory is out; *permanent: the raised table says so. */
void failure_describe(struct state *state, char **message, char **stack, bool *permanent);

/* `message` and the traceback of the last state_call, malloc'ed. */
char *failure_stack(const struct state *state, const char *message);

/* "64 MiB" into `text`. */
void failure_bytes(size_t bytes, char *text, size_t size);

#endif
