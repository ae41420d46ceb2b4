/* clean.h - removing history, at most so many rows at once (rules §18). */
#pragma once

#include "job/cleanup.h"
#include "store/rules/job/select.h"
#include "store/rules/record/history.h"

struct cleaned {
    int64_t count[HISTORY_KINDS];
    bool more; /* there was not room for all */
};

/* Removes what may go at `now`, at most plan->batch_size rows, and notes in the plan how far it
 * came. In the open transaction. */
bool clean_run(struct store *store, struct cleanup *plan, struct cleaned *cleaned, time_ms now,
               struct error *error);

/* How much of each kind may go at `now`; only reads. */
bool clean_count(struct store *store, const struct cleanup *plan, struct cleaned *cleaned,
                 time_ms now, struct error *error);

/* Removes an ended job with its failures and lines, at most *room rows, which are taken off. *gone:
 * nothing of it is left. A `seq` of 0: its end was never noted. */
bool clean_job(struct store *store, const struct ended *ended, int64_t *room, bool *gone,
               struct error *error);

/* The jobs of one step in the order of their ends, from where the command stands; `after` and
 * `upto` count ends. Moves the command behind them. */
bool ended_step(struct store *store, struct step *step, struct command *command,
                struct error *error);
/* How many they are. */
bool ended_count(struct store *store, const struct command *command, int64_t *count,
                 struct error *error);

/* A verb on ended jobs; one run of history cleanup. */
bool history_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error);
/* How many ended jobs it is for; only reads. */
bool history_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error);
bool cleanup_command(struct store *store, const struct command *command, struct step *step,
                     time_ms now, struct error *error);
/* Begins to clean the history, whatever the window: the jobs that do it, one for each part. */
bool cleanup_begin(struct store *store, int64_t ids[COMMAND_MADE], int *count, time_ms now,
                   struct error *error);
