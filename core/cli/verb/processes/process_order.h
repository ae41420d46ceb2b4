/* process_order.h - a command to an instance, given from a command line. */
#ifndef MOONSHIFT_CLI_VERB_PROCESSES_PROCESS_ORDER_H
#define MOONSHIFT_CLI_VERB_PROCESSES_PROCESS_ORDER_H

#include "cli/command.h"

/* The flags that say who does it. */
#define WAY_FLAGS                                                                                  \
    {"--wait", NULL, "let a job do it, and wait for its end", FLAG_ONE},                           \
        {"--timeout", "SPAN", "with --wait: give up after this span (30s, 5m, PT5M, or seconds)"}, \
    {                                                                                              \
        "--now", NULL, "here, if need be by the handlers of the store's deployment"                \
    }
#define ELSEWHERE                                                                                  \
    "Without the script folder a job of the process does it, on an executor that has the folder."

/* Gives the command, taken over, and says what came of it, with the id of the instance between
 * `before` and `after`. `begins`: it may begin an instance, and makes a store for that. */
bool process_act(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                 const char *before, const char *after, struct error *error);

#endif
