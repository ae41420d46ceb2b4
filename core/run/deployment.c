#include "run/deployment.h"
#include "base/log.h"
#include <stdlib.h>

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

static bool check(struct deployment *deployment, const struct settings *settings,
                  struct clock *clock, bool log, struct error *error) {
    struct script_report report;
    struct script_options options = {.folder = deployment->folder,
                                     .settings = settings,
                                     .clock = clock,
                                     .hook = HOOK_ALWAYS,
                                     .modules = DEPLOYMENT_NO_REFERENCE,
                                     .handlers = DEPLOYMENT_NO_REFERENCE};
    if (!script_check(&options, &report, error))
        return untried(deployment->folder, log, error);
    if (log)
        log_problems(report.problems);
    bool ok = json_array_size(report.problems) == 0;
    if (!ok)
        first_problem(json_array_get(report.problems, 0), error);
    else if (!definitions_read(&deployment->definitions, report.definitions))
        ok = error_set(error, ERROR_FAILED, "out of memory");
    deployment->schedules = json_incref(report.schedules);
    script_report_clear(&report);
    return ok;
}

struct deployment *deployment_load(struct folder *folder, const struct settings *settings,
                                   struct clock *clock, bool log, struct error *error) {
    struct deployment *deployment = calloc(1, sizeof *deployment);
    if (!deployment) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    deployment->folder = folder_retain(folder);
    if (check(deployment, settings, clock, log, error))
        return deployment;
    deployment_free(deployment);
    return NULL;
}

void deployment_free(struct deployment *deployment) {
    if (!deployment)
        return;
    definitions_clear(&deployment->definitions);
    json_decref(deployment->schedules);
    folder_release(deployment->folder);
    free(deployment);
}

bool deployment_write(struct deployment *deployment, struct store *store, const char *executor_name,
                      time_ms now, struct error *error) {
    const struct folder *folder = deployment->folder;
    struct store_file *files = calloc(folder->count + 1, sizeof *files);
    size_t count = 0;
    if (!files)
        return error_set(error, ERROR_FAILED, "out of memory");
    for (size_t i = 0; i < folder->count; i++) {
        const struct folder_file *file = &folder->files[i];
        if (!file->stock)
            files[count++] = (struct store_file){file->path, file->text, file->size};
    }
    struct store_deployment content = {.name = folder->name,
                                       .hash = folder->hash,
                                       .files = files,
                                       .file_count = count,
                                       .definitions = &deployment->definitions,
                                       .schedules = deployment->schedules,
                                       .takes_back = deployment->takes_back};
    bool ok = store_deploy(store, &content, executor_name, now, &deployment->id, error);
    free(files);
    if (ok && content.left_to)
        log_event(LOG_WARN, "a live executor has a newer folder: definitions and schedules stay",
                  "folder:s deployment:l newer:l", folder->name, deployment->id, content.left_to);
    if (ok && content.taken_back)
        log_event(LOG_WARN, "rolled back to an older folder", "folder:s deployment:l newer:l",
                  folder->name, deployment->id, content.taken_back);
    return ok;
}
