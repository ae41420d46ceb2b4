/* suspend.h - instances that are suspended, and the verbs that suspend and activate them. */
#pragma once

#include "store/rules/job/select.h"

/* A verb on an instance: first itself, then its jobs in steps. */
bool instance_command(struct store *store, struct command *command, struct step *step, time_ms now,
                      struct error *error);
bool instance_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
/* YES: the instance of a process is suspended. */
enum answer instance_held(struct store *store, int64_t id, struct error *error);
/* It is suspended by itself; its jobs are so already. */
bool instance_hold(struct store *store, int64_t id, time_ms now, struct error *error);
/* It has ended: nothing of it is suspended. */
bool instance_released(struct store *store, int64_t id, struct error *error);
