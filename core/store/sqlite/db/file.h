/* file.h - whole files: copied, synced, moved. Messages name the file. */
#pragma once

#include "base/error.h"
#include <limits.h>
#include <sys/types.h>

/* "<path><suffix>" into `name`; false: it is too long. */
bool file_name(char name[PATH_MAX], const char *path, const char *suffix, struct error *error);

/* Makes an empty file with the mode of another one, and for root its owner, if `owned`; a file of
 * that name is an error, and no link is followed. */
struct stat;
bool file_make(const char *path, const struct stat *like, bool owned, struct error *error);
/* All of a file into another one that file_make has made. */
bool file_copy(const char *from, const char *to, struct error *error);
/* What was written is on the disk; and the names in a file's folder are. */
bool file_sync(const char *path, struct error *error);
bool file_sync_folder(const char *path, struct error *error);
/* In one step; without `replace` a file that is there is ERROR_CONFLICT. */
bool file_move(const char *from, const char *to, bool replace, struct error *error);

/* A name for what is not whole yet, "<path>-partial-<process>"; those of processes that are gone
 * are removed. */
bool file_partial(char name[PATH_MAX], const char *path, struct error *error);
