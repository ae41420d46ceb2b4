/* generations.h - the loaded script folders of one engine. A job runs on the newest that has its
 * handler, so an older one is kept as long as it has a handler which no newer has (rules §13). */
#pragma once

#include "engine/generation.h"

struct generations { /* immutable once built */
    size_t count;
    struct generation **list;  /* newest first, never empty */
    struct definitions served; /* of all of them, by name; the texts are theirs */
};

/* Joins `newest` and those of `before` (NULL: none) that are still needed. Takes the generations
 * over; `before` itself stays as it is. NULL: no memory, nothing is taken over. */
struct generations *generations_new(struct generation *newest, const struct generations *before);
/* Frees the set, and its generations that are not in `after` (NULL: all). NULL is fine. */
void generations_free(struct generations *generations, const struct generations *after);

/* Finds the newest generation that has the handler, else the newest. */
struct generation *generations_find(const struct generations *generations, const char *handler);
/* Finds a generation by its number; NULL: it is not there. */
struct generation *generations_number(const struct generations *generations, int number);
