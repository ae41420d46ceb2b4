/* folder_kept.h - what the store keeps of folders, so that a program need not read them again. It
 * is an aid: nothing is lost with it but time. */
#pragma once

#include "base/error.h"
#include <jansson.h>
#include <stdint.h>

struct store;

/* YES: files of this mark (struct folder) were those of a deployment of this name; *id and `hash`
 * (65 bytes) are the deployment's. */
enum answer store_folder_marked(struct store *store, const char *name, const char *mark,
                                int64_t *id, char *hash, struct error *error);
/* Writes that files of this mark are those of the deployment, in a transaction of its own, unless
 * that is known. */
bool store_folder_mark(struct store *store, int64_t deployment, const char *mark,
                       struct error *error);

/* What the same program has found in the models of this deployment, as store_models_keep was given
 * it; `program` says all that it depends on but the texts. A new reference; NULL: it is not known,
 * or an error. */
json_t *store_models_found(struct store *store, int64_t deployment, const char *program,
                           struct error *error);
/* Keeps it, in a transaction of its own, unless it is there. */
bool store_models_keep(struct store *store, int64_t deployment, const char *program,
                       const char *found, struct error *error);
