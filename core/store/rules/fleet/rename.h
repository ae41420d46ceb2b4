/* rename.h - deployments get another name: that of their script folder has changed. */
#pragma once

#include "job/command.h"
#include "store/rules/fleet/executor_list.h"

/* Gives the deployments called `from` the name `to`, and the schedules that came with them. Those
 * that a live executor has keep theirs. Of two with one text the newer stays, and what belonged to
 * the other one is its own; while jobs of both wait, both stay. `renamed` gets { id = from }. */
bool deployments_rename(struct store *store, const struct executor_list *executors,
                        const char *from, const char *to, json_t *renamed, struct error *error);

/* The same by hand. ERROR_CONFLICT: a live executor has one of them. */
bool rename_command(struct store *store, const struct command *command, size_t *touched,
                    time_ms now, struct error *error);
