/* stored_folder.h - the script folder of an executor that has none on disk: the files of a
 * deployment, read from the store (rules §13). */
#pragma once

#include "job/settings.h"
#include "script/folder.h"

/* Reads the deployment of this name that counts, through a connection of its own. NULL: error;
 * ERROR_NOT_FOUND names the deployments that there are. */
struct folder *stored_folder(const struct settings *settings, const char *name,
                             struct error *error);

/* The deployment that counts of this folder's name as a folder that was checked, if the store has
 * what this program found in its models. It has no files if the hash is the same. The caller's;
 * NULL: nothing is known, or the folder has no model. */
struct folder *stored_check(const struct settings *settings, const struct folder *folder);
