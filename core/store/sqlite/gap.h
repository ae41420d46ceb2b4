/* gap.h - the gap watch: what no live executor would ever take (rules §3). */
#ifndef MOONSHIFT_STORE_SQLITE_GAP_H
#define MOONSHIFT_STORE_SQLITE_GAP_H

#include "base/text.h"
#include "store/sqlite/census.h"

#define GAP_MAX 10000 /* jobs counted in one gap; future dates looked at */

/* What is missing where the best executor comes so far: "handler", "category", "deployment",
 * "range". */
const char *gap_kind(enum serves_stage stage);

/* The words for it: `category "mail"`, `priority 10 to 49`. */
void gap_add_missing(struct text *words, enum serves_stage stage,
                     const struct catalog_stream *stream, int64_t min, int64_t max);
/* `priority 10 to 49`, `priority 50 and above`. */
void gap_add_range(struct text *words, int64_t min, int64_t max);

/* [{ kind, text, count, more, … }]; inside look_begin. NULL: error. */
json_t *gap_list(struct store *store, const struct census *census, struct error *error);

#endif
