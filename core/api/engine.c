#include "api/engine_state.h"
#include "base/json.h"
#include "store/intake.h"
#include <stdlib.h>
#include <string.h>

struct store *engine_store(struct engine *engine) {
    return engine->store;
}

struct clock *engine_clock(struct engine *engine) {
    return engine->options.clock;
}

struct folder *engine_folder(struct engine *engine) {
    return engine->options.folder;
}

const struct settings *engine_settings(struct engine *engine) {
    return engine->options.settings;
}

const struct definitions *engine_definitions(struct engine *engine) {
    static const struct definitions none;
    return engine->current ? script_definitions(engine->current->script) : &none;
}

int64_t engine_taken_back(struct engine *engine) {
    return engine->current ? engine->current->taken_back : 0;
}

time_ms engine_now(const struct engine *engine) {
    return clock_now(engine->options.clock);
}

bool engine_idle(const struct engine *engine, struct error *error) {
    if (!engine->running)
        return true;
    return error_set(error, ERROR_CONFLICT, "the engine is running a job (expected outside of it)");
}

static size_t user_files(const struct folder *folder, struct store_file *files) {
    size_t count = 0;
    for (size_t i = 0; i < folder->count; i++) {
        const struct folder_file *file = &folder->files[i];
        if (!file->stock)
            files[count++] = (struct store_file){file->path, file->text, file->size};
    }
    return count;
}

static bool deploy(struct engine *engine, struct generation *generation, const char *executor_name,
                   struct error *error) {
    const struct folder *folder = generation->folder;
    struct store_file *files = calloc(folder->count + 1, sizeof *files);
    if (!files)
        return error_set(error, ERROR_FAILED, "out of memory");
    struct store_deployment deployment = {.name = folder->name,
                                          .hash = folder->hash,
                                          .files = files,
                                          .file_count = user_files(folder, files),
                                          .definitions = script_definitions(generation->script),
                                          .schedules = script_schedules(generation->script),
                                          .takes_back = engine->options.takes_back};
    bool ok = store_deploy(engine->store, &deployment, executor_name, engine_now(engine),
                           &generation->deployment, error);
    generation->taken_back = deployment.taken_back;
    free(files);
    return ok;
}

bool engine_register(struct engine *engine, const struct settings *settings, struct error *error) {
    bool known = !settings->deployment_aware ||
                 strcmp(settings->name, engine->options.settings->name) == 0; /* by loading */
    return known || !engine->current || deploy(engine, engine->current, settings->name, error);
}

/* Loads, deploys and serves. */
static bool load(struct engine *engine, struct folder *folder, struct error *error) {
    bool borrow = engine->options.borrowed != NULL;
    struct generation *generation = generation_new(engine, folder, borrow, error);
    if (!generation)
        return false;
    const struct settings *settings =
        engine->joined_as ? engine->joined_as : engine->options.settings;
    if ((engine->options.mode == STORE_READ || deploy(engine, generation, settings->name, error)) &&
        engine_replace(engine, generation, error))
        return true;
    generation_free(generation);
    return false;
}

struct engine *engine_open(const struct engine_options *options, struct error *error) {
    json_setup();
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    engine->options = *options;
    engine->options.clock = clock_retain(options->clock ? options->clock : clock_system());
    engine->options.folder = options->folder ? folder_retain(options->folder) : NULL;
    const struct settings *settings = options->settings;
    engine->store = store_open(settings->store, options->mode, settings, error);
    if (!engine->store || !store_clear_opened(engine->store, engine_now(engine), error) ||
        (options->folder && !load(engine, options->folder, error))) {
        engine_close(engine);
        return NULL;
    }
    return engine;
}

void engine_close(struct engine *engine) {
    if (!engine)
        return;
    executor_free(engine->executor);
    generation_free(engine->current);
    for (struct generation *next; engine->older; engine->older = next) {
        next = engine->older->next;
        generation_free(engine->older);
    }
    free(engine->served.list);
    free(engine->room.drafts);
    store_close(engine->store);
    folder_release(engine->options.folder);
    clock_release(engine->options.clock);
    free(engine);
}

bool engine_reload(struct engine *engine, struct folder *folder, struct error *error) {
    if (!engine_idle(engine, error) || !load(engine, folder, error))
        return false;
    struct folder *before = engine->options.folder;
    engine->options.folder = folder_retain(folder);
    folder_release(before);
    return true;
}

bool engine_startable(struct engine *engine, struct error *error) {
    if (!store_path(engine->store))
        return error_set(error, ERROR_CONFLICT,
                         "an executor on a store in memory cannot be started (expected turn or "
                         "drain)");
    if (clock_is_virtual(engine->options.clock))
        return error_set(error, ERROR_CONFLICT,
                         "an executor on a virtual clock cannot be started (expected turn or "
                         "drain)");
    if (!engine->options.folder)
        return error_set(error, ERROR_CONFLICT, "the engine has no scripts to run");
    return true;
}
