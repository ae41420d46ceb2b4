/* models.h - models of a folder that need not be read, because the folder before had the same ones
 * (rules §13). A model is the same if its path and its text are. The folder before may be that of
 * another process: what was found is kept in the store. */
#pragma once

#include "script/script.h"

/* What is known of the models of `folder` by `before`, which was checked: for script_options. A new
 * object; NULL: nothing. Models with a start timer, or a priority of a start, depend on the time
 * and are left out. */
json_t *models_known(const struct folder *before, const struct folder *folder);
/* What the findings depend on but the texts, as one: another program finds anew. */
enum { MODELS_PROGRAM = 96 };
void models_program(const struct settings *settings, char program[MODELS_PROGRAM]);
/* What was found in a folder that was checked, for the store; the caller's. NULL: it has no model,
 * or no memory. */
char *models_found(const struct folder *folder);
/* Gives what was found to a folder with the same files that no other thread has yet. False: it is
 * not of that shape. */
bool models_take(struct folder *folder, const json_t *found);
/* Completes the report of a folder that was checked with `known`: adds those models that were not
 * read, and their versions of those `before`. False: no memory. */
bool models_join(struct script_report *report, const json_t *known, const json_t *before);
