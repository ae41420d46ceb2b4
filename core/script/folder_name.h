/* folder_name.h - how the deployment of a script folder is called. */
#pragma once

#include <jansson.h>

/* Makes the name of a path as it was given: its last part, links not followed. Of "shop/current" it
 * is "shop", of "." that of PWD where this is the same folder. The caller's; NULL: no memory. */
char *folder_name_make(const char *path);

/* Lists the names that the folder may have had: that of its path, that of its real path, and those
 * of the folders beside it in `releases/`. An array of texts without `name`; NULL: no memory. */
json_t *folder_name_others(const char *path, const char *name);
