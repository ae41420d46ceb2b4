#include "api/engine_state.h"
#include <stdlib.h>

static struct script_options script_options_of(struct engine *engine, struct folder *folder,
                                               bool borrow) {
    struct script_options options = {.folder = folder,
                                     .settings = engine->options.settings,
                                     .clock = engine->options.clock,
                                     .hook = borrow ? HOOK_OFF : HOOK_ALWAYS,
                                     .host = engine_host(engine),
                                     .borrowed = borrow ? engine->options.borrowed : NULL,
                                     .modules = engine->options.modules,
                                     .handlers = engine->options.handlers};
    return options;
}

struct generation *generation_new(struct engine *engine, struct folder *folder, bool borrow,
                                  struct error *error) {
    struct generation *generation = calloc(1, sizeof *generation);
    if (!generation) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    generation->folder = folder_retain(folder);
    struct script_options options = script_options_of(engine, folder, borrow);
    generation->script = script_open(&options, error);
    if (generation->script)
        return generation;
    generation_free(generation);
    return NULL;
}

void generation_free(struct generation *generation) {
    if (!generation)
        return;
    script_close(generation->script);
    folder_release(generation->folder);
    free(generation);
}

void generation_freshen(struct engine *engine, struct generation *generation) {
    bool borrowed = generation == engine->current && engine->options.borrowed;
    if (borrowed || !script_worn(generation->script))
        return;
    struct script_options options = script_options_of(engine, generation->folder, false);
    struct script *fresh = script_open(&options, NULL);
    if (!fresh) /* the worn one serves on, and this is tried again after the next run */
        return;
    const struct definitions *old = script_definitions(generation->script);
    struct definitions *now = script_definitions(fresh);
    for (size_t i = 0; i < now->count; i++) {
        const struct definition *before = definitions_find(old, now->list[i].name);
        now->list[i].id = before ? before->id : 0;
    }
    struct script *worn = generation->script;
    generation->script = fresh;
    if (!engine_serve(engine, NULL)) { /* what is served still points to the worn one */
        generation->script = worn;
        worn = fresh;
    }
    script_close(worn);
}

/* An earlier deployment's folder, loaded on first use and kept. */
static struct generation *earlier(struct engine *engine, int64_t deployment, struct error *error) {
    for (struct generation *known = engine->older; known; known = known->next)
        if (known->deployment == deployment)
            return known;
    json_t *files = store_deployment_files(engine->store, deployment, error);
    struct folder *folder = files ? folder_from_json(files, "store", error) : NULL;
    struct generation *generation = folder ? generation_new(engine, folder, false, error) : NULL;
    folder_release(folder);
    json_decref(files);
    if (!generation)
        return NULL;
    generation->deployment = deployment;
    generation->next = engine->older;
    engine->older = generation;
    return generation;
}

bool engine_find(struct engine *engine, const char *handler, struct generation **generation,
                 const struct definition **definition, struct error *error) {
    *generation = engine_serving(engine, handler);
    *definition =
        *generation ? definitions_find(script_definitions((*generation)->script), handler) : NULL;
    if (*definition)
        return true;
    int64_t deployment = 0;
    *generation = NULL;
    int known = store_knows(engine->store, handler, &deployment, error);
    if (known <= 0 || deployment == 0)
        return known >= 0;
    *generation = earlier(engine, deployment, error);
    if (*generation)
        *definition = definitions_find(script_definitions((*generation)->script), handler);
    return *generation != NULL;
}

/* The names of the folder, else of the store, as a JSON array; NULL if that cannot be had. */
static json_t *known_names(struct engine *engine) {
    const struct definitions *definitions = engine_definitions(engine);
    if (definitions->count > 0)
        return definitions_names(definitions);
    struct store_page page = {.limit = 1000};
    json_t *rows = store_definitions(engine->store, NULL, &page, engine_now(engine), NULL), *row;
    json_t *names = json_array();
    size_t i;
    json_array_foreach(rows, i, row)
        json_array_append(names, json_object_get(row, "name"));
    json_decref(rows);
    return names;
}

bool engine_unknown(struct engine *engine, const char *handler, struct error *error) {
    json_t *names = known_names(engine);
    draft_unknown(handler, names, error);
    json_decref(names);
    return false;
}
