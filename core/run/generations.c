#include "run/generations.h"
#include <stdlib.h>
#include <string.h>

static bool has(const struct definitions *definitions, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(definitions->list[i].name, name) == 0)
            return true;
    return false;
}

/* Adds what none before it serves. False: there is nothing of the kind. */
static bool add(struct generations *generations, struct deployment *deployment) {
    struct definitions *served = &generations->served;
    size_t before = served->count;
    for (size_t i = 0; i < deployment->definitions.count; i++) {
        const struct definition *definition = &deployment->definitions.list[i];
        if (!has(served, before, definition->name))
            served->list[served->count++] = *definition;
    }
    if (served->count == before && generations->count > 0)
        return false;
    generations->list[generations->count++] = deployment;
    return true;
}

static int by_name(const void *left, const void *right) {
    const struct definition *a = left, *b = right;
    return strcmp(a->name, b->name);
}

struct generations *generations_new(struct deployment *newest, const struct generations *before) {
    size_t older = before ? before->count : 0;
    size_t room = newest->definitions.count + (before ? before->served.count : 0) + 1;
    struct generations *generations = calloc(1, sizeof *generations);
    if (!generations)
        return NULL;
    generations->list = calloc(older + 1, sizeof(struct deployment *));
    generations->served.list = calloc(room, sizeof *generations->served.list);
    if (!generations->list || !generations->served.list) {
        generations_free(generations, NULL);
        return NULL;
    }
    newest->generation = before ? before->list[0]->generation + 1 : 0;
    add(generations, newest);
    for (size_t i = 0; i < older; i++)
        add(generations, before->list[i]);
    qsort(generations->served.list, generations->served.count, sizeof *generations->served.list,
          by_name);
    return generations;
}

void generations_free(struct generations *generations, const struct generations *after) {
    if (!generations)
        return;
    for (size_t i = 0; i < generations->count; i++)
        if (!after || !generations_number(after, generations->list[i]->generation))
            deployment_free(generations->list[i]);
    free(generations->list);
    free(generations->served.list);
    free(generations);
}

struct deployment *generations_find(const struct generations *generations, const char *handler) {
    for (size_t i = 0; i < generations->count; i++)
        if (definitions_find(&generations->list[i]->definitions, handler))
            return generations->list[i];
    return generations->list[0];
}

struct deployment *generations_number(const struct generations *generations, int generation) {
    for (size_t i = 0; i < generations->count; i++)
        if (generations->list[i]->generation == generation)
            return generations->list[i];
    return NULL;
}
