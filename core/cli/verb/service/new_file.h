/* new_file.h - files that a verb writes into a folder, never over one that is there. */
#pragma once

#include "base/error.h"
#include <stddef.h>

struct new_file {
    const char *name; /* below the folder: "schedules/backup.lua" */
    const char *text;
    size_t size;
};

/* Makes the folder, if it is not there. Its parents must be there. */
bool new_file_directory(const char *directory, struct error *error);

/* False, "conflict": such a file is there. */
bool new_file_free(const char *directory, const struct new_file *file, struct error *error);

/* Writes it, with the folders between. One that somebody else has just made stays. */
bool new_file_write(const char *directory, const struct new_file *file, struct error *error);
