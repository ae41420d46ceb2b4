/* batch_type.h - what types of batches there are, and what each may be told (rules §17). The stock
 * ones do operators' verbs; others are files batches/TYPE.lua. Private to core/api/. */
#ifndef MOONSHIFT_API_BATCH_TYPE_H
#define MOONSHIFT_API_BATCH_TYPE_H

#include "api/engine.h"
#include "base/order.h"

/* The definition behind the type; NULL for a stock one that is not loaded here. ERROR_NOT_FOUND
 * with "did you mean", or the types that are known. */
bool batch_type_find(struct engine *engine, const char *type, const struct definition **definition,
                     struct error *error);

/* Whether the type takes the config (NULL: none). Whatever a type of a folder gets is its own. */
bool batch_type_check(struct engine *engine, const char *type, const json_t *config,
                      struct error *error);

/* The verb's type of batch, NULL if it has none. */
const char *batch_type_of(enum order_verb verb);

#endif
