/* client.h - asks a network face of this machine one question, for probes. */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* GETs `path` at an address as listeners have it, and waits a few seconds at most. Returns the
 * status, with the content in *content (the caller's); 0: error. */
int client_get(const char *address, const char *path, struct text *content, struct error *error);
