/* process_file.h - a file of processes by itself, outside of any script folder. */
#pragma once

#include "cli/cli.h"

/* True if there is a file of this name; NULL names none. */
bool process_file_is(const char *path);

/* True if a word means a file, whether it is there or not: by its end, or because it is one. */
bool process_file_names(const char *word);

/* Takes the file as a folder of its own, or else the script folder, into `cli`. */
bool process_file_take(struct cli *cli, const char *file, struct error *error);
