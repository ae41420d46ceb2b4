/* rights.h - statements for an administrator, who runs them as they are printed. */
#pragma once

#include "store/provision.h"

/* Adds the lines, up to NULL, for the store of the URL. A letter behind % stands for: d database,
 * s schema, c channel of the outbox; o owner, w worker, r reader, e enqueuer. */
bool rights_lines(const char *url, const struct store_roles *roles, const char *const *lines,
                  struct text *text, struct error *error);
