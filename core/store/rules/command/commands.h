/* commands.h - operator commands by what they are done to (rules §11); commands.c is the way in. */
#ifndef MOONSHIFT_STORE_RULES_COMMAND_COMMANDS_H
#define MOONSHIFT_STORE_RULES_COMMAND_COMMANDS_H

#include "job/command.h"
#include "store/rules/ground/state.h"

#define COMMAND_IDS 1000 /* jobs in one transaction */

/* A verb on jobs, with its entry in the log. All or nothing: an unknown id or a wrong state changes
 * nothing. */
bool commands_on_jobs(struct store *store, const struct command *command, struct ids ids,
                      time_ms now, struct error *error);
/* Would it be refused? Only reads. */
bool commands_check(struct store *store, const struct command *command, struct ids ids, time_ms now,
                    struct error *error);
/* Changes of jobs that are part of a larger verb: no entry in the operation log of their own. */
bool commands_set_retries(struct store *store, struct ids ids, const struct command *command,
                          time_ms now, struct error *error);
bool commands_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                           struct error *error);
/* Puts the reasons, or takes them away; what stays suspended is counted in store->journal.held. */
bool commands_set_suspended(struct store *store, struct ids ids, int reasons, bool suspended,
                            time_ms now, struct error *error);
/* Running ones, too. */
bool commands_cancel(struct store *store, struct ids ids, time_ms now, struct error *error);
bool commands_delete(struct store *store, struct ids ids, time_ms now, struct error *error);
/* One, if it is there. */
bool commands_delete_known(struct store *store, int64_t id, time_ms now, struct error *error);
/* `retries` 0: the configured number for each job. */
bool commands_retry(struct store *store, struct ids ids, int32_t retries, time_ms now,
                    struct error *error);

/* The jobs of one step, at most COMMAND_IDS; selected in the transaction that changes them. */
struct step {
    int64_t list[COMMAND_IDS + 1]; /* one more tells whether there are more */
    struct ids ids;
    int64_t window; /* ids that one step looks at; 0: all */
    bool more;
    int64_t job; /* that was created; 0: none */
};

/* The jobs that match command->query, or those of command->ids, from where the command stands;
 * moves it behind them. */
bool step_select(struct store *store, struct step *step, struct command *command, time_ms now,
                 struct error *error);
/* Ids from a kept statement whose last three parameters are after, upto and a limit. */
bool step_read(struct store *store, struct step *step, struct command *command, struct row *rows,
               struct error *error);
/* Where a step ends that begins behind command->after. */
int64_t step_end(const struct step *step, const struct command *command);

/* A verb on a definition, or an instance: first itself, then its jobs in steps. *touched: jobs of
 * this step. */
bool definition_command(struct store *store, struct command *command, struct step *step,
                        time_ms now, struct error *error);
bool instance_command(struct store *store, struct command *command, struct step *step, time_ms now,
                      struct error *error);
/* YES: the instance of a process is suspended. */
enum answer instance_held(struct store *store, int64_t id, struct error *error);
/* It has ended: nothing of it is suspended. */
bool instance_released(struct store *store, int64_t id, struct error *error);
/* A process with its start timers, or with all jobs of its instances. */
bool process_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error);
/* Who does a user task. */
bool task_command(struct store *store, const struct command *command, time_ms now,
                  struct error *error);
bool process_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error);
bool task_preview(struct store *store, const struct command *command, int64_t *count,
                  struct error *error);
/* How many jobs they would touch; only read. */
bool definition_preview(struct store *store, const struct command *command, int64_t *count,
                        struct error *error);
bool instance_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
bool incident_command(struct store *store, const struct command *command, time_ms now,
                      struct error *error);
/* Tells executors to take nothing more, or to work again; *touched of them. ERROR_NOT_FOUND names
 * those that run. */
bool drain_command(struct store *store, const struct command *command, size_t *touched, time_ms now,
                   struct error *error);
/* Begins to clean the history, whatever the window: the jobs that do it, one for each part. */
bool cleanup_begin(struct store *store, int64_t ids[COMMAND_MADE], int *count, time_ms now,
                   struct error *error);
/* retire.c: removes a deployment that nothing needs, its files and its registrations; what became
 * of its jobs stays. ERROR_CONFLICT, with what needs it, while it is the newest of its name that
 * definitions come from, loaded by an executor or here, registered, or while a job of it is there.
 * `try`: only looks. */
bool retire_deployment(struct store *store, int64_t id, bool try, time_ms now, struct error *error);
/* Registers, unregisters or deletes them, all or none; *touched: those that changed. */
bool deployment_command(struct store *store, const struct command *command, size_t *touched,
                        time_ms now, struct error *error);
/* *job: of run_schedule, the new one. */
bool schedule_command(struct store *store, const struct command *command, int64_t *job, time_ms now,
                      struct error *error);
/* How many it would touch, or why it would be refused. */
bool incident_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
bool schedule_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
bool deployment_preview(struct store *store, const struct command *command, int64_t *count,
                        time_ms now, struct error *error);
bool batch_preview(struct store *store, const struct command *command, int64_t *count,
                   struct error *error);
bool batch_command(struct store *store, struct command *command, struct step *step, time_ms now,
                   struct error *error);

/* A verb on ended jobs; one run of history cleanup. */
bool history_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error);
/* How many ended jobs it is for; only reads. */
bool history_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error);
bool cleanup_command(struct store *store, const struct command *command, struct step *step,
                     time_ms now, struct error *error);

/* What a job asked for with its success, in order (rules §12: a date is such a job). */
bool commands_of_success(struct store *store, const json_t *effects, const struct job *job,
                         time_ms now, struct error *error);

/* Definitions and suspended instances are read again, here and by everybody else. */
bool catalog_changed(struct store *store, struct error *error);

#endif
