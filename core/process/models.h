/* models.h - models of a folder that need not be read, because the folder before had the same ones
 * (rules §13). A model is the same if its path and its text are. */
#ifndef MOONSHIFT_PROCESS_MODELS_H
#define MOONSHIFT_PROCESS_MODELS_H

#include "script/script.h"

/* What is known of the models of `folder` by `before`, which was checked: for script_options. A new
 * object; NULL: nothing. Models with a start timer, or a priority of a start, depend on the time
 * and are left out. */
json_t *models_known(const struct folder *before, const struct folder *folder);
/* Completes the report of a folder that was checked with `known`: adds those models that were not
 * read, and their versions of those `before`. False: no memory. */
bool models_join(struct script_report *report, const json_t *known, const json_t *before);

#endif
