/* maintenance.h - operations on a whole store: backup, restore, verification. */
#pragma once

#include "job/settings.h"
#include "store/backup.h"
#include "store/provision.h"
#include "store/store.h"

/* Copies the store of the settings into `file`, see store_backup. */
bool engine_backup(const struct settings *settings, const char *file, struct store_backup *backup,
                   struct error *error);
/* Makes `file` the store of the settings, see store_restore. */
bool engine_restore(const struct settings *settings, const char *file,
                    struct store_restored *restored, struct error *error);
/* Reads the whole store and says what is wrong, see store_verify. NULL: it could not be read. */
json_t *engine_verify(const struct settings *settings, const struct store_heard *heard,
                      struct error *error);

/* Makes the store of the settings, or brings it to this program's version; see store_provision. */
bool engine_provision(const struct settings *settings, bool creates, struct store_schema *schema,
                      struct error *error);
/* The statements that give the roles of a server their rights; see store_grants. */
bool engine_grants(const struct settings *settings, const struct store_roles *roles,
                   struct text *text, struct error *error);
/* The statements that let programs enqueue; see store_functions. */
bool engine_functions(const struct settings *settings, const struct store_roles *roles,
                      struct text *text, struct error *error);
