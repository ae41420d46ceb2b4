/* store_url.h - the URL of a store as messages, logs and lists show it. */
#ifndef MOONSHIFT_JOB_STORE_URL_H
#define MOONSHIFT_JOB_STORE_URL_H

#include <stddef.h>

enum { STORE_SHOWN = 512 };

/* Copies the URL without the passwords in it; a longer one is cut. Returns `shown`. */
const char *store_url_show(const char *url, char shown[STORE_SHOWN]);

#endif
