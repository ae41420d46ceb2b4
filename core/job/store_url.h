/* store_url.h - the URL of a store as messages, logs and lists show it. */
#ifndef MOONSHIFT_JOB_STORE_URL_H
#define MOONSHIFT_JOB_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { STORE_SHOWN = 512 };

/* The store is one on a server: postgres://… or postgresql://… */
bool store_url_server(const char *url);

/* Copies the URL without the passwords in it; a longer one is cut. Returns `shown`. */
const char *store_url_show(const char *url, char shown[STORE_SHOWN]);

#endif
