/* unserved.h - finds jobs that no live executor would ever take (rules §3). */
#pragma once

#include "base/text.h"
#include "store/rules/fleet/executor_list.h"

#define UNSERVED_MAX 10000 /* jobs counted of one kind; future dates looked at */

/* What is missing where the best executor comes so far: "handler", "process" or "topic",
 * "category", "deployment", "range". */
const char *unserved_kind(enum serves_stage stage, const struct catalog_stream *stream);

/* The words for it: `category "mail"`, `priority 10 to 49`. */
void unserved_add_missing(struct text *words, enum serves_stage stage,
                          const struct catalog_stream *stream, int64_t min, int64_t max);
/* `priority 10 to 49`, `priority 50 and above`. */
void unserved_add_range(struct text *words, int64_t min, int64_t max);

/* [{ kind, text, count, more, … }]; inside look_begin. NULL: error. */
json_t *unserved_list(struct store *store, const struct executor_list *executors,
                      struct error *error);
