/* config.h - the settings that a script folder brings along. */
#ifndef MOONSHIFT_API_CONFIG_H
#define MOONSHIFT_API_CONFIG_H

#include "base/settings.h"
#include "script/folder.h"

/* Applies moonshift.lua of the folder (NULL: nothing to do). A relative store in it is relative to
 * that file: `paths` are the folders that were read, as text in a JSON array. */
bool config_apply(struct settings *settings, const struct folder *folder, const json_t *paths,
                  struct error *error);

/* Reads the folders of a JSON array of texts (NULL or empty: the stock scripts alone). */
struct folder *config_folder(const json_t *paths, struct error *error);

#endif
