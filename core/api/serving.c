/* serving.c - which generation runs a job: the newest loaded one that has its handler, so one that
 * a reload has replaced is kept as long as it has a handler which no newer has (rules §13). */
#include "api/engine_state.h"
#include <stdlib.h>
#include <string.h>

static const struct definitions *definitions_of(const struct generation *generation) {
    return script_definitions(generation->script);
}

static bool has(const struct generation *generation, const char *handler) {
    return definitions_find(definitions_of(generation), handler) != NULL;
}

struct generation *engine_serving(struct engine *engine, const char *handler) {
    if (engine->current && has(engine->current, handler))
        return engine->current;
    for (struct generation *older = engine->older; older; older = older->next)
        if (older->replaced && has(older, handler))
            return older;
    return engine->current;
}

/* Of its handlers, those it is the newest to have. */
static size_t add(struct engine *engine, struct generation *generation, struct definition *list) {
    const struct definitions *own = definitions_of(generation);
    size_t count = 0;
    for (size_t i = 0; i < own->count; i++)
        if (engine_serving(engine, own->list[i].name) == generation)
            list[count++] = own->list[i];
    return count;
}

static size_t most(const struct engine *engine) {
    size_t count = engine->current ? definitions_of(engine->current)->count : 0;
    for (const struct generation *older = engine->older; older; older = older->next)
        count += definitions_of(older)->count;
    return count;
}

static int by_name(const void *left, const void *right) {
    const struct definition *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static void forget_unneeded(struct engine *engine, struct definition *scratch) {
    for (struct generation **at = &engine->older; *at;) {
        struct generation *older = *at;
        if (!older->replaced || add(engine, older, scratch) > 0) {
            at = &older->next;
            continue;
        }
        *at = older->next;
        generation_free(older);
    }
}

bool engine_serve(struct engine *engine, struct error *error) {
    struct definition *list = calloc(most(engine) + 1, sizeof *list);
    if (!list)
        return error_set(error, ERROR_FAILED, "out of memory");
    forget_unneeded(engine, list);
    size_t count = engine->current ? add(engine, engine->current, list) : 0;
    for (struct generation *older = engine->older; older; older = older->next)
        if (older->replaced)
            count += add(engine, older, list + count);
    qsort(list, count, sizeof *list, by_name);
    free(engine->served.list);
    engine->served = (struct definitions){count, list};
    if (engine->executor)
        executor_serve(engine->executor, &engine->served);
    return true;
}

bool engine_replace(struct engine *engine, struct generation *generation, struct error *error) {
    struct generation *before = engine->current;
    if (before) {
        before->replaced = true;
        before->next = engine->older;
        engine->older = before;
    }
    engine->current = generation;
    if (engine_serve(engine, error))
        return true;
    engine->current = before;
    if (before) {
        before->replaced = false;
        engine->older = before->next;
        before->next = NULL;
    }
    return false;
}
