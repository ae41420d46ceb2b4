/* generations.h - the loaded script folders of one engine. A job runs on the newest that has its
 * handler, so an older one is kept as long as it has a handler which no newer has (rules §13). */
#ifndef MOONSHIFT_RUN_GENERATIONS_H
#define MOONSHIFT_RUN_GENERATIONS_H

#include "run/deployment.h"

struct generations { /* immutable once built */
    size_t count;
    struct deployment **list;  /* newest first, never empty */
    struct definitions served; /* of all of them, by name; the texts are theirs */
};

/* `newest`, and of those before (NULL: there are none) what is still needed. The deployments are
 * taken over, `before` itself stays as it is. NULL: no memory, nothing is taken over. */
struct generations *generations_new(struct deployment *newest, const struct generations *before);
/* Frees it, and of its deployments those that are not in `after` (NULL: all). NULL is fine. */
void generations_free(struct generations *generations, const struct generations *after);

/* The newest that has the handler, else the newest. */
struct deployment *generations_find(const struct generations *generations, const char *handler);
/* By number, or NULL. */
struct deployment *generations_number(const struct generations *generations, int generation);

#endif
