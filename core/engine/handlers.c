/* handlers.c - which generation runs a job: the newest of the folder that has its handler (rules
 * §13), else the deployment that the store knows it from. */
#include "engine/engine_state.h"

struct generation *engine_open_generation(struct engine *engine, struct folder *folder,
                                          enum script_reading reading, const struct folder *before,
                                          struct error *error) {
    const struct script_borrowed *borrowed = engine->options.borrowed;
    struct script_options options = {.folder = folder,
                                     .settings = engine->options.settings,
                                     .clock = engine->options.clock,
                                     .hook = borrowed ? HOOK_OFF : HOOK_ALWAYS,
                                     .host = job_services_host(engine->services),
                                     .borrowed = borrowed,
                                     .reading = reading};
    return generation_open(&options, before, error);
}

/* An earlier deployment's folder, loaded on first use and kept. Its definitions say which stock
 * handlers it has. */
static struct generation *earlier(struct engine *engine, int64_t deployment, struct error *error) {
    for (struct generation *known = engine->earlier; known; known = known->next)
        if (known->deployment == deployment)
            return known;
    json_t *files = store_deployment_files(engine->store, deployment, error);
    struct folder *folder = files ? folder_from_json(files, "store", deployment, error) : NULL;
    if (folder)
        folder->all_stock = true;
    struct generation *generation =
        folder ? engine_open_generation(engine, folder, READING_EARLIER, NULL, error) : NULL;
    folder_release(folder);
    json_decref(files);
    if (!generation)
        return NULL;
    generation->deployment = deployment;
    generation->next = engine->earlier;
    engine->earlier = generation;
    return generation;
}

bool engine_find(struct engine *engine, const char *handler, struct generation **generation,
                 const struct definition **definition, struct error *error) {
    *definition = NULL;
    *generation = engine->generations ? generations_find(engine->generations, handler) : NULL;
    if (*generation)
        *definition = definitions_find(&(*generation)->definitions, handler);
    if (*definition)
        return true;
    int64_t deployment = 0;
    *generation = NULL;
    enum answer known = store_knows(engine->store, handler, &deployment, error);
    if (known != YES || deployment == 0)
        return known != FAILED;
    *generation = earlier(engine, deployment, error);
    if (*generation)
        *definition = definitions_find(&(*generation)->definitions, handler);
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
    job_spec_unknown(handler, names, error);
    json_decref(names);
    return false;
}
