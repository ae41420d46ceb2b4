/* process_act.h - gives a command to a process, here or by a job, and says what came of it. */
#pragma once

#include "cli/command.h"
#include "cli/wait/job_wait.h"

#define VARIABLES_FLAG                                                                             \
    { "--variables", "JSON", "an object with their values; name=value goes before it", FLAG_ONE }
#define WAY_FLAGS                                                                                  \
    {"--wait", NULL, "let a job do it, and wait for its end", FLAG_ONE}, TIMEOUT_FLAG, {           \
        "--now", NULL, "here, if need be by the handlers of the store's deployment"                \
    }
#define ELSEWHERE                                                                                  \
    "Without the script folder a job of the process does it, on an executor that has the folder."

/* What came of it. */
struct process_done {
    int64_t instance, job; /* 0: not known; 0: no job did it */
    bool later;            /* the job has not run yet */
    bool kept;             /* a message, for what will wait for it */
    bool by_jobs;          /* a signal, of which each receiver has one */
    json_t *told;          /* what a trial would do, or NULL; owned */
};

/* Only what may begin an instance makes a store, for the folder that it then deploys. NULL: error.
 */
struct engine *process_act_engine(struct cli *cli, const struct flags *flags, bool begins,
                                  struct error *error);
/* Reads this word as an id; variables begin with the word `first`. NULL: error. */
json_t *process_act_command(const char *kind, const char *member, const struct flags *flags,
                            int word, int first, struct error *error);
/* Adds the flags that are members, and the words from `first` on as variables. Takes the command
 * over, NULL included: memory is out. NULL: error. */
json_t *process_act_variables(json_t *command, const struct flags *flags, int first,
                              struct error *error);
/* Gives the command, which it takes over; NULL: error is filled. done->told is the caller's. */
bool process_act_order(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                       struct process_done *done, struct error *error);
/* Says what was done, with the id of the instance between two texts, or which job is to do it. */
bool process_act_say(const struct cli *cli, const struct process_done *done, const char *before,
                     const char *after, struct error *error);
/* Both: gives the command and says what came of it. */
bool process_act(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                 const char *before, const char *after, struct error *error);
