/* home.h - where a script folder has its store. */
#pragma once

#include "job/settings.h"

/* Makes a relative store and a relative state_dir in the values of moonshift.lua relative to that
 * file. `paths` are the
 * folders that were read, as texts in a JSON array. */
void home_place(json_t *values, const json_t *paths);

/* Puts the default store into the folder that holds moonshift.lua, else into the first folder, and
 * the state directory as well. What was named stays as it is. */
bool home_default(struct settings *settings, const json_t *paths, struct error *error);

/* Refuses to start beside jobs that wait elsewhere: false if the default store of the folder is not
 * there yet, and moonshift.db of the working directory holds jobs or cannot be read. */
bool home_check(const struct settings *settings, struct error *error);
