/* credential.h - the token in a header `Authorization` (RFC 6750, 7617): of Bearer, or as the
 * password of Basic. Pure. */
#pragma once

#include <stdbool.h>

#define CREDENTIAL_SIZE 256

/* Writes the token into `token` (CREDENTIAL_SIZE bytes). False: there is none that can be one;
 * NULL: no header. */
bool credential_read(const char *header, char *token);
