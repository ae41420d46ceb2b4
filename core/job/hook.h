/* hook.h - the events of a job that hooks are called with (rules §21), as bits of a set. */
#pragma once

#include <jansson.h>

#define HOOK_HANDLER "moonshift/hook" /* tells hooks of what happened where there was no Lua */

enum hook_event {
    HOOK_CREATED = 1,
    HOOK_FAILED = 2,  /* a run; the job has retries left or not */
    HOOK_DEAD = 4,    /* it has no retries left */
    HOOK_RETRIES = 8, /* an operator changed them */
    HOOK_ENDED = 16,  /* done, deleted or cancelled */
};

const char *hook_event_name(enum hook_event event);

/* From an array of names to a set; what is no event is left out. */
unsigned hook_events_read(const json_t *names);

/* The names in the set: a new reference; NULL: no memory. */
json_t *hook_events_names(unsigned events);
