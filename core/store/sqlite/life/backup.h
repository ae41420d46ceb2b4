/* backup.h - what backup and restore share. */
#pragma once

#include "job/settings.h"

/* The file and all that a store lays beside it. */
void backup_clear(const char *path);
/* ERROR_DAMAGED: it is no sound store. */
bool backup_check(const char *path, const struct settings *settings, struct error *error);
