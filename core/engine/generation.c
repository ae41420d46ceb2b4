#include "engine/generation.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "process/models.h"
#include "script/folder_name.h"
#include "store/folder_kept.h"
#include <stdlib.h>
#include <string.h>

static void log_problems(const json_t *problems) {
    size_t i;
    const json_t *problem;
    json_array_foreach(problems, i, problem) {
        log_event(LOG_ERROR, "folder refused", "file:s line:l reason:s",
                  json_string_value(json_object_get(problem, "file")),
                  json_integer_value(json_object_get(problem, "line")),
                  json_string_value(json_object_get(problem, "message")));
    }
}

static bool first_problem(const json_t *problem, struct error *error) {
    const char *file = json_string_value(json_object_get(problem, "file"));
    json_int_t line = json_integer_value(json_object_get(problem, "line"));
    const char *message = json_string_value(json_object_get(problem, "message"));
    message = message ? message : "unknown problem";
    if (!file)
        return error_set(error, ERROR_CONFIG, "%s", message);
    if (line <= 0)
        return error_set(error, ERROR_CONFIG, "%s: %s", file, message);
    return error_set(error, ERROR_CONFIG, "%s:%lld: %s", file, (long long)line, message);
}

/* A folder that cannot even be tried is logged as one problem. */
static bool untried(const struct folder *folder, bool log, const struct error *error) {
    if (log)
        log_event(LOG_ERROR, "folder refused", "file:s reason:s", folder->path, error->text);
    return false;
}

/* Keeps what was found, for the threads and for the next folder. A folder that was checked before
 * may be in use by other threads. False: no memory. */
static bool keep(struct generation *generation, struct script_report *report, json_t *known,
                 const struct folder *before) {
    struct folder *folder = generation->folder;
    if (before && !models_join(report, known, before->versions))
        return false;
    generation->versions = json_incref(report->versions);
    if (folder->models)
        return true;
    folder->models = json_incref(report->models);
    folder->versions = json_incref(report->versions);
    if (!before || strcmp(before->hash, folder->hash) != 0)
        generation->found = models_found(folder);
    return true;
}

static bool check(struct generation *generation, const struct folder *before,
                  const struct settings *settings, struct clock *clock, bool log,
                  struct error *error) {
    struct script_report report;
    json_t *known = before ? models_known(before, generation->folder) : NULL;
    struct script_options options = {.folder = generation->folder,
                                     .settings = settings,
                                     .clock = clock,
                                     .hook = HOOK_ALWAYS,
                                     .models = known};
    if (!script_check(&options, &report, error)) {
        json_decref(known);
        return untried(generation->folder, log, error);
    }
    if (log)
        log_problems(report.problems);
    bool ok = json_array_size(report.problems) == 0;
    if (!ok)
        first_problem(json_array_get(report.problems, 0), error);
    else if (!definitions_read(&generation->definitions, report.definitions) ||
             !keep(generation, &report, known, before))
        ok = error_no_memory(error);
    generation->schedules = json_incref(report.schedules);
    json_decref(known);
    script_report_clear(&report);
    return ok;
}

static struct generation *generation_new(struct folder *folder, struct error *error) {
    struct generation *generation = calloc(1, sizeof *generation);
    if (generation)
        generation->folder = folder_retain(folder);
    else
        error_no_memory(error);
    return generation;
}

struct generation *generation_check(struct folder *folder, const struct folder *before,
                                    const struct settings *settings, struct clock *clock, bool log,
                                    struct error *error) {
    struct generation *generation = generation_new(folder, error);
    if (generation && check(generation, before, settings, clock, log, error))
        return generation;
    generation_free(generation);
    return NULL;
}

static struct script_options ahead(const struct generation *generation,
                                   const struct settings *settings, struct clock *clock) {
    return (struct script_options){.folder = generation->folder,
                                   .settings = settings,
                                   .clock = clock,
                                   .hook = HOOK_ALWAYS,
                                   .models = generation->folder->models};
}

bool generation_warm(struct generation *generation, const struct settings *settings,
                     struct clock *clock) {
    struct script_options options = ahead(generation, settings, clock);
    size_t count = (size_t)generation->ready_count;
    struct script **list = list_room(generation->ready, count, sizeof *list);
    if (!list)
        return false;
    generation->ready = list;
    list[count] = script_open(&options, NULL);
    generation->ready_count += list[count] != NULL;
    return list[count] != NULL;
}

void generation_join(struct generation *generation, const struct settings *settings,
                     struct clock *clock) {
    struct script_options options = ahead(generation, settings, clock);
    for (int i = 0; i < generation->ready_count; i++)
        script_join(generation->ready[i], &options);
}

struct script *generation_take(struct generation *generation) {
    return generation->ready_count > 0 ? generation->ready[--generation->ready_count] : NULL;
}

static bool open_script(struct generation *generation, const struct folder *before,
                        struct error *error) {
    struct script_report report = {0};
    generation->script = script_open(&generation->options, error);
    if (!generation->script ||
        !script_declares(generation->script, &generation->definitions, &generation->schedules,
                         &generation->versions, error))
        return false;
    report.versions = generation->versions;
    bool ok = !before || models_join(&report, generation->known, before->versions);
    json_decref(report.models);
    return ok || error_no_memory(error);
}

struct generation *generation_open(const struct script_options *options,
                                   const struct folder *before, struct error *error) {
    struct generation *generation = generation_new(options->folder, error);
    if (!generation)
        return NULL;
    generation->options = *options;
    generation->known = before ? models_known(before, options->folder) : NULL;
    generation->options.models = generation->known;
    if (open_script(generation, before, error))
        return generation;
    generation_free(generation);
    return NULL;
}

static void drop(struct script *script) {
    if (!script_drop(script))
        log_event(LOG_ERROR, "scripts do not close", "");
}

void generation_free(struct generation *generation) {
    if (!generation)
        return;
    drop(generation->script);
    while (generation->ready_count > 0)
        drop(generation_take(generation));
    free(generation->ready);
    definitions_clear(&generation->definitions);
    json_decref(generation->schedules);
    json_decref(generation->versions);
    json_decref(generation->renamed);
    json_decref(generation->known);
    free(generation->found);
    folder_release(generation->folder);
    free(generation);
}

void generation_freshen(struct generation *generation) {
    if (generation->options.borrowed || !script_worn(generation->script))
        return;
    struct script *fresh = script_open(&generation->options, NULL);
    if (!fresh)
        return;
    drop(generation->script);
    generation->script = fresh;
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

enum answer generation_deployed(struct generation *generation, struct store *store,
                                const struct settings *settings, struct error *error) {
    const struct folder *folder = generation->folder;
    generation->name = settings->deployment ? settings->deployment : folder->name;
    const struct store_deployment content = {.name = generation->name,
                                             .hash = folder->hash,
                                             .definitions = &generation->definitions,
                                             .schedules = generation->schedules};
    return store_deployed(store, &content, &generation->deployment, error);
}

bool generation_deploy(struct generation *generation, struct store *store,
                       const struct settings *settings, const char *executor_name,
                       enum deployment_claim claim, time_ms now, struct error *error) {
    const struct folder *folder = generation->folder;
    struct store_file *files = calloc(folder->count + 1, sizeof *files);
    if (!files)
        return error_no_memory(error);
    generation->name = settings->deployment ? settings->deployment : folder->name;
    json_t *others = *folder->path ? folder_name_others(folder->path, generation->name) : NULL;
    struct store_deployment content = {.name = generation->name,
                                       .others = others,
                                       .hash = folder->hash,
                                       .files = files,
                                       .file_count = user_files(folder, files),
                                       .definitions = &generation->definitions,
                                       .schedules = generation->schedules,
                                       .processes = generation->versions,
                                       .claim = claim,
                                       .known = folder->deployment};
    bool ok = store_deploy(store, &content, executor_name, now, &generation->deployment, error);
    generation->taken_back = content.taken_back;
    generation->left_to = content.left_to;
    json_decref(generation->renamed);
    generation->renamed = content.renamed;
    json_decref(others);
    free(files);
    return ok;
}

/* The next program can do without. */
void generation_keep(struct generation *generation, struct store *store,
                     const struct settings *settings) {
    char program[MODELS_PROGRAM];
    if (!generation->found || generation->folder->deployment)
        return;
    models_program(settings, program);
    store_models_keep(store, generation->deployment, program, generation->found, NULL);
    free(generation->found);
    generation->found = NULL;
}

void generation_tell(const struct generation *generation) {
    const char *name = generation->name;
    char *renamed = json_write(generation->renamed, NULL);
    if (renamed)
        log_event(LOG_INFO, "deployments renamed", "folder:s deployments:s", name, renamed);
    free(renamed);
    if (generation->left_to)
        log_event(LOG_WARN, "a live executor has a newer folder: definitions and schedules stay",
                  "folder:s deployment:l newer:l", name, generation->deployment,
                  generation->left_to);
    if (generation->taken_back)
        log_event(LOG_WARN, "rolled back to an older folder", "folder:s deployment:l newer:l", name,
                  generation->deployment, generation->taken_back);
}
