/* operate.h - does an operator's verb (base/order.h) and says what it did. */
#ifndef MOONSHIFT_CLI_OPERATE_H
#define MOONSHIFT_CLI_OPERATE_H

#include "cli/flags.h"
#include <jansson.h>

/* To be put among the flags of a verb that may touch more jobs than one transaction takes. */
#define OPERATE_WAIT_FLAG                                                                          \
    { "--wait", NULL, "if a batch does it: until it is done, with a bar on a terminal" }

/* To be put among the flags of a verb on jobs. */
#define OPERATE_FLAGS                                                                              \
    {"--dry-run", NULL, "say how many jobs it would touch, change nothing"}, OPERATE_WAIT_FLAG

/* To be put among the flags of a verb on one thing. */
#define DRY_RUN_FLAG                                                                               \
    { "--dry-run", NULL, "say what it would do, change nothing" }

/* Takes `order` over (NULL: memory is out). "3 jobs <done>", or the batch that does it, or what
 * will do it and when, or with --dry-run how many it would touch. */
bool operate_run(struct cli *cli, const struct flags *flags, json_t *order, const char *done,
                 struct error *error);

/* With --dry-run: how many jobs it would touch, or incidents or schedules if it is for one. */
bool operate_dry_run(struct cli *cli, const struct flags *flags, const json_t *order,
                     const char *done, struct error *error);

/* order[key] = the date that a flag or word gives; "none" and NULL: null. */
bool operate_date(json_t *order, const char *key, const char *text, struct error *error);

#endif
