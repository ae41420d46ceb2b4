/* batch_type.h - the types of batches, and the config that each takes (rules §17). The stock
 * ones do operators' verbs; others are files batches/TYPE.lua. Private to core/engine/. */
#pragma once

#include "engine/engine.h"
#include "job/command.h"

/* Finds the definition behind the type; NULL for a stock one that is not loaded here.
 * ERROR_NOT_FOUND with "did you mean", or the types that are known. */
bool batch_type_find(struct engine *engine, const char *type, const struct definition **definition,
                     struct error *error);

/* True if the type takes the config (NULL: none). A type of a folder takes any. */
bool batch_type_check(struct engine *engine, const char *type, const json_t *config,
                      struct error *error);

/* The verb's type of batch, NULL if it has none. */
const char *batch_type_of(enum command_verb verb);
