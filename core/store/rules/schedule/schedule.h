/* schedule.h - what the files in schedules/ declare, and the jobs that wait for their dates. Each
 * schedule has one such job while its cycle lasts; loading a folder brings them into line.
 * (rules §14) */
#pragma once

#include "store/rules/ground/state.h"

/* 1 the store has the deployment's schedules as they are, and no others of its name; 0 not; -1
 * error. Reads only. */
enum answer schedules_known(struct store *store, const struct store_deployment *deployment,
                            struct error *error);

/* Makes it so, in the open transaction; `id`: of the deployment. */
bool schedules_write(struct store *store, const struct store_deployment *deployment, int64_t id,
                     time_ms now, struct error *error);

/* *job: of run_schedule, the new one. */
bool schedule_command(struct store *store, const struct command *command, int64_t *job, time_ms now,
                      struct error *error);
bool schedule_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
