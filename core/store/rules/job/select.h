/* select.h - the jobs that a verb means: by their ids, or by what they are asked for. */
#pragma once

#include "store/rules/job/job_commands.h"

struct jobs_range {
    int64_t after, upto; /* ids above the one, at most the other */
    int limit;
};

/* Ascending; `ids` has room for range->limit. */
bool jobs_ids(struct store *store, const json_t *filters, const struct jobs_range *range,
              time_ms now, int64_t *ids, size_t *count, struct error *error);

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
/* The next ones of command->ids. */
void step_slice(struct step *step, struct command *command);
/* Ids from a kept statement whose last three parameters are after, upto and a limit. */
bool step_read(struct store *store, struct step *step, struct command *command, struct row *rows,
               struct error *error);
/* Where a step ends that begins behind command->after. */
int64_t step_end(const struct step *step, const struct command *command);
