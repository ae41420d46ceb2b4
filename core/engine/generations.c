#include "engine/generations.h"
#include <stdlib.h>
#include <string.h>

static bool has(const struct generations *generations, const char *name) {
    for (size_t i = 0; i < generations->count; i++)
        if (definitions_find(&generations->list[i]->definitions, name))
            return true;
    return false;
}

/* Adds the handlers that no newer generation has. False: it has none of its own. */
static bool add(struct generations *generations, struct generation *generation) {
    struct definitions *served = &generations->served;
    size_t before = served->count;
    for (size_t i = 0; i < generation->definitions.count; i++) {
        const struct definition *definition = &generation->definitions.list[i];
        if (!has(generations, definition->name))
            served->list[served->count++] = *definition;
    }
    if (served->count == before && generations->count > 0)
        return false;
    generations->list[generations->count++] = generation;
    return true;
}

static int by_name(const void *left, const void *right) {
    const struct definition *a = left, *b = right;
    return strcmp(a->name, b->name);
}

struct generations *generations_new(struct generation *newest, const struct generations *before) {
    size_t older = before ? before->count : 0;
    size_t room = newest->definitions.count + (before ? before->served.count : 0) + 1;
    struct generations *generations = calloc(1, sizeof *generations);
    if (!generations)
        return NULL;
    generations->list = calloc(older + 1, sizeof(struct generation *));
    generations->served.list = calloc(room, sizeof *generations->served.list);
    if (!generations->list || !generations->served.list) {
        generations_free(generations, NULL);
        return NULL;
    }
    newest->number = before ? before->list[0]->number + 1 : 0;
    add(generations, newest);
    for (size_t i = 0; i < older; i++)
        add(generations, before->list[i]);
    qsort(generations->served.list, generations->served.count, sizeof *generations->served.list,
          by_name);
    if (definitions_find_processes(&generations->served))
        return generations;
    generations->count = 0; /* nothing is taken over */
    generations_free(generations, NULL);
    return NULL;
}

void generations_free(struct generations *generations, const struct generations *after) {
    if (!generations)
        return;
    for (size_t i = 0; i < generations->count; i++)
        if (!after || !generations_number(after, generations->list[i]->number))
            generation_free(generations->list[i]);
    free(generations->list);
    free(generations->served.list);
    json_decref(generations->served.processes);
    free(generations);
}

struct generation *generations_find(const struct generations *generations, const char *handler) {
    for (size_t i = 0; i < generations->count; i++)
        if (definitions_serve(&generations->list[i]->definitions, handler))
            return generations->list[i];
    return generations->list[0];
}

struct generation *generations_number(const struct generations *generations, int number) {
    for (size_t i = 0; i < generations->count; i++)
        if (generations->list[i]->number == number)
            return generations->list[i];
    return NULL;
}
