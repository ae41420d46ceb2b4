/* process_entry.h - what the operation log says of a command to an instance of a process. */
#pragma once

#include "engine/process/process_cause.h"

/* What an entry has besides its time and its author. */
struct process_entry {
    const char *verb;
    char entity[JOB_NAME_MAX + 32];
    char *before, *after; /* owned; NULL: none */
};

/* Describes a command. `before`: what the walk says of the values that it has set, or NULL.
 * process_entry_clear in any case. */
bool process_entry_make(struct process_entry *entry, const struct process_cause *cause,
                        const json_t *command, const json_t *before, struct error *error);
void process_entry_clear(struct process_entry *entry);
