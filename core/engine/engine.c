#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/stored_folder.h"
#include "store/folder_kept.h"
#include "store/intake.h"
#include "time/instant.h"
#include <stdlib.h>
#include <string.h>

enum { LOG_PAGES = 3000 }; /* the write-ahead log may grow so far */

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
    return engine->generations ? &engine->generations->list[0]->definitions : &none;
}

int64_t engine_taken_back(struct engine *engine) {
    return engine->generations ? engine->generations->list[0]->taken_back : 0;
}

void engine_trace(struct engine *engine, const char *trace) {
    engine->trace = trace;
}

void engine_act_as(struct engine *engine, const char *who) {
    store_act_as(engine->store, who);
}

time_ms engine_now(const struct engine *engine) {
    return clock_now(engine->options.clock);
}

bool engine_has_scripts(const struct engine *engine) {
    return !engine->options.checks_only;
}

bool engine_idle(const struct engine *engine, struct error *error) {
    if (!engine->running)
        return true;
    return error_set(error, ERROR_CONFLICT, "the engine is running a job (expected outside of it)");
}

bool engine_enter(struct engine *engine, struct error *error) {
    if (!engine_idle(engine, error))
        return false;
    engine_ids_drop(engine);
    return true;
}

void engine_tidy(struct engine *engine) {
    store_tend(engine->store, CHORE_LOG, LOG_PAGES, NULL,
               NULL); /* a failure is tried again next time */
}

bool engine_end(struct engine *engine, bool ok, struct error *error) {
    if (!ok || !store_commit(engine->store, error)) {
        store_rollback(engine->store);
        return false;
    }
    engine_tidy(engine);
    return true;
}

json_t *engine_resolve_times(struct engine *engine, const json_t *object, struct error *error) {
    const struct zone *zone = zone_find(engine->options.settings->zone, error);
    return zone ? instants_resolve(object, zone, engine_now(engine), error) : NULL;
}

const struct generations *engine_generations(const struct engine *engine) {
    return engine->generations;
}

static bool deploy(struct engine *engine, struct generation *generation, const char *executor_name,
                   struct error *error) {
    return engine->options.mode == STORE_READ || generation->plain ||
           generation_deploy(generation, engine->store, engine->options.settings, executor_name,
                             engine->options.claim, engine_now(engine), error);
}

bool engine_join(struct engine *engine, const struct settings *settings, struct error *error) {
    bool known = !settings->deployment_aware ||
                 strcmp(settings->name, engine->options.settings->name) == 0; /* by loading */
    if (!known && engine->generations &&
        !deploy(engine, engine->generations->list[0], settings->name, error))
        return false;
    engine->joined_as = settings;
    return true;
}

void engine_leave(struct engine *engine) {
    engine->joined_as = NULL;
}

/* Those of the executor that runs the engine, else its own. */
static const struct settings *joined_settings(const struct engine *engine) {
    return engine->joined_as ? engine->joined_as : engine->options.settings;
}

bool engine_adopt(struct engine *engine, struct generation *generation, struct generations **before,
                  struct error *error) {
    if (!deploy(engine, generation, joined_settings(engine)->name, error))
        return false;
    struct generations *generations = generations_new(generation, engine->generations);
    if (!generations)
        return error_no_memory(error);
    *before = engine->generations;
    engine->generations = generations;
    return true;
}

void engine_keep(struct engine *engine) {
    struct generation *newest = engine->generations ? engine->generations->list[0] : NULL;
    if (newest && !newest->plain && engine->options.mode != STORE_READ)
        generation_keep(newest, engine->store, engine->options.settings);
}

bool engine_take_back(struct engine *engine, struct error *error) {
    struct generation *newest = engine->generations ? engine->generations->list[0] : NULL;
    int64_t newer = 0;
    if (!newest || !newest->left_to)
        return true;
    if (!store_deployment_newer(engine->store, newest->deployment, engine_now(engine), &newer,
                                error))
        return false;
    if (newer || !deploy(engine, newest, joined_settings(engine)->name, error))
        return newer != 0;
    generation_tell(newest);
    return true;
}

static const char *name_of(const struct engine *engine, const struct folder *folder) {
    const char *name = engine->options.settings->deployment;
    return name ? name : folder->name;
}

/* The store has a folder with the same files. */
static bool has_folder(struct engine *engine, const struct folder *folder) {
    const struct store_deployment content = {.name = name_of(engine, folder), .hash = folder->hash};
    int64_t id = 0;
    return store_deployed(engine->store, &content, &id, NULL) == YES;
}

/* Without its processes, which take long to read. NULL: the whole is needed, because the store
 * lacks the folder or has it under other settings, or something is wrong with it. */
static struct generation *load_plain(struct engine *engine, struct folder *folder) {
    const struct settings *settings = engine->options.settings;
    struct generation *generation = NULL;
    if (engine->options.plain && !folder->deployment && has_folder(engine, folder))
        generation = engine_open_generation(engine, folder, READING_PLAIN, NULL, NULL);
    if (!generation)
        return NULL;
    generation->plain = generation_deployed(generation, engine->store, settings, NULL) == YES;
    if (generation->plain)
        return generation;
    generation_free(generation);
    return NULL;
}

/* A part of a folder, of which the store knows that the whole is a deployment's. NULL as above. */
static struct generation *load_part(struct engine *engine, struct folder *part) {
    int64_t id = 0;
    enum answer marked = store_folder_marked(engine->store, name_of(engine, part), part->mark, &id,
                                             part->hash, NULL);
    return marked == YES ? load_plain(engine, part) : NULL;
}

/* The engine has the whole of its folder from now on. */
static bool complete(struct engine *engine, struct error *error) {
    const char *path = engine->options.folder->path;
    struct folder *whole = folder_read(&path, 1, error);
    if (!whole)
        return false;
    folder_release(engine->options.folder);
    engine->options.folder = whole;
    return true;
}

/* The next one that creates a job need not read the folder. */
static struct generation *load_marked(struct engine *engine, struct folder *folder) {
    struct generation *generation = load_plain(engine, folder);
    if (generation && folder->mark[0])
        store_folder_mark(engine->store, generation->deployment, folder->mark, NULL);
    return generation;
}

/* Models that the store knows are read when an instance needs them. */
static struct generation *load_whole(struct engine *engine, struct folder *folder,
                                     struct error *error) {
    const struct engine_options *options = &engine->options;
    struct folder *before = options->borrowed ? NULL : stored_check(options->settings, folder);
    struct generation *generation =
        options->checks_only
            ? generation_check(folder, before, options->settings, options->clock, false, error)
            : engine_open_generation(engine, folder, READING_RUN, before, error);
    folder_release(before);
    return generation;
}

/* *generation NULL: there is no folder. */
static bool load(struct engine *engine, struct folder *folder, struct generation **generation,
                 struct error *error) {
    const struct engine_options *options = &engine->options;
    *generation = folder && folder->part ? load_part(engine, folder) : NULL;
    if (folder && folder->part && !*generation) {
        if (!complete(engine, error))
            return false;
        folder = engine->options.folder;
    }
    if (folder && !*generation && !options->checks_only)
        *generation = load_marked(engine, folder);
    if (folder && !*generation)
        *generation = load_whole(engine, folder, error);
    return !folder || *generation;
}

/* Takes the generation over in any case. */
static bool take(struct engine *engine, struct generation *generation, struct error *error) {
    struct generations *before;
    if (!generation)
        return true;
    if (!engine_adopt(engine, generation, &before, error)) {
        generation_free(generation);
        return false;
    }
    generations_free(before, engine->generations);
    engine_keep(engine);
    return true;
}

static bool open_store(struct engine *engine, struct error *error) {
    const struct engine_options *options = &engine->options;
    engine->store = store_open(options->settings->store, options->mode, options->settings, error);
    if (!engine->store)
        return false;
    if (!clock_is_virtual(options->clock))
        store_set_clock(engine->store, options->clock);
    if (options->hurries) {
        store_set_impatient(engine->store, options->hurries);
        store_budget(engine->store, 1);
    }
    return options->checks_only || store_clear_opened(engine->store, engine_now(engine), error);
}

/* A Lua state that is kept may ask the store while it loads; a folder that is only checked makes no
 * store if it cannot be loaded. */
static bool begin(struct engine *engine, struct error *error) {
    const struct engine_options *options = &engine->options;
    struct generation *first = NULL;
    if (options->checks_only && !load(engine, options->folder, &first, error))
        return false;
    if (!open_store(engine, error)) {
        generation_free(first);
        return false;
    }
    return (first || load(engine, options->folder, &first, error)) && take(engine, first, error);
}

/* Its own, which goes as that of its store; a virtual one is the caller's. */
static struct clock *clock_of(const struct engine_options *options) {
    const bool is_virtual = options->clock && clock_is_virtual(options->clock);
    return is_virtual ? clock_retain(options->clock) : clock_real_new();
}

struct engine *engine_open(const struct engine_options *options, struct error *error) {
    json_setup();
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return error_null(error_no_memory(error));
    engine->options = *options;
    engine->options.clock = clock_of(options);
    engine->options.folder = options->folder ? folder_retain(options->folder) : NULL;
    engine->services = engine->options.clock ? job_services_direct(engine) : NULL;
    if (engine->services ? begin(engine, error) : error_no_memory(error))
        return engine;
    engine_close(engine);
    return NULL;
}

void engine_close(struct engine *engine) {
    if (!engine)
        return;
    if (engine->keeper)
        engine->keeper_end(engine->keeper);
    generations_free(engine->generations, NULL);
    for (struct generation *next; engine->earlier; engine->earlier = next) {
        next = engine->earlier->next;
        generation_free(engine->earlier);
    }
    job_services_free(engine->services);
    free(engine->room.specs);
    free(engine->pace);
    store_close(engine->store);
    folder_release(engine->options.folder);
    clock_release(engine->options.clock);
    free(engine);
}

bool engine_reload(struct engine *engine, struct folder *folder, struct error *error) {
    struct generation *generation;
    if (!engine_idle(engine, error) || !load(engine, folder, &generation, error) ||
        !take(engine, generation, error))
        return false;
    folder_release(engine->options.folder);
    engine->options.folder = folder_retain(folder);
    return true;
}

bool engine_take_checked(struct engine *engine, struct generation *checked, struct error *error) {
    struct folder *folder = folder_retain(checked->folder);
    bool idle = engine_idle(engine, error), done = idle && take(engine, checked, error);
    if (!idle)
        generation_free(checked);
    if (done) {
        folder_release(engine->options.folder);
        engine->options.folder = folder;
    } else
        folder_release(folder);
    return done;
}

bool engine_startable(struct engine *engine, struct error *error) {
    if (store_kind(engine->store) == STORE_MEMORY)
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
