/* config.h - the settings that a script folder brings along. */
#pragma once

#include "job/settings.h"
#include "script/folder.h"

/* Applies moonshift.lua of the folder (NULL: nothing to do). A relative store in it is relative to
 * that file, and the default store is in the folder: `paths` are the folders that were read, as
 * texts in a JSON array. Of a folder that comes from a store, the setting store is left out: the
 * store is the one that it was read from. */
bool config_apply(struct settings *settings, const struct folder *folder, const json_t *paths,
                  struct error *error);

/* All settings of an engine: defaults, moonshift.lua, the options it was opened with, and those it
 * is used with (either may be NULL). settings_clear in any case. */
bool config_settings(struct settings *settings, const struct folder *folder, const json_t *paths,
                     const json_t *opened, const json_t *used, struct error *error);

/* Reads the folders of a JSON array of texts (NULL or empty: the stock scripts alone). */
struct folder *config_folder(const json_t *paths, struct error *error);
