/* commands.h - verbs on executors and deployments (rules §11). */
#pragma once

#include "job/command.h"
#include "store/rules/ground/state.h"

/* Tells executors to take nothing more, or to work again; *touched of them. ERROR_NOT_FOUND names
 * those that run. */
bool drain_command(struct store *store, const struct command *command, size_t *touched, time_ms now,
                   struct error *error);
/* retire.c: removes a deployment that nothing needs, its files and its registrations; what became
 * of its jobs stays. ERROR_CONFLICT, with what needs it, while it is the newest of its name that
 * definitions come from, loaded by an executor or here, registered, or while a job of it is there.
 * `try`: only looks. */
bool retire_deployment(struct store *store, int64_t id, bool try, time_ms now, struct error *error);
/* Registers, unregisters or deletes them, all or none; *touched: those that changed. */
bool deployment_command(struct store *store, const struct command *command, size_t *touched,
                        time_ms now, struct error *error);
bool deployment_preview(struct store *store, const struct command *command, int64_t *count,
                        time_ms now, struct error *error);
