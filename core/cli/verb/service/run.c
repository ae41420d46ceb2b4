/* run.c - runs jobs until TERM or INT, or until nothing is due (rules §15). */
#include "base/log.h"
#include "base/thread.h"
#include "cli/setup.h"
#include "cli/shown/display.h"
#include "cli/shown/output.h"
#include "cli/verb/service/logging.h"
#include "cli/verb/service/manager.h"
#include "cli/verb/service/network.h"
#include "cli/words/relative.h"
#include "job/acquisitions.h"
#include "script/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The argument of the executor's calls. */
struct watch {
    struct cli *cli;
    struct executor *executor;
    bool open;                   /* the network face asks for no token */
    struct face *face;           /* of the first folder; NULL: none */
    struct durations *durations; /* of its executor, beside the face */
    struct watched *folders;     /* NULL: their changes are not looked for */
    int count;
    bool reloads; /* the service manager was told so */
    struct display display;
};

/* A folder that is loaded again whenever its text changes (--watch). */
struct watched {
    struct attached_engine *engine;
    const char *directory;
    char hash[FOLDER_HASH];
};

/* Reloads a folder whose text has changed, so that one save of an editor counts once. A folder that
 * cannot be read is looked at again a second later. */
static void folder_look(struct watch *watch, struct watched *watched) {
    struct error unreadable = {0};
    struct folder *folder = folder_read(&watched->directory, 1, &unreadable);
    if (!folder)
        return;
    bool changed = strcmp(folder->hash, watched->hash) != 0;
    memcpy(watched->hash, folder->hash, sizeof watched->hash);
    folder_release(folder);
    if (changed)
        attached_engine_reload(watched->engine);
    if (changed && watch->face)
        face_reload(watch->face);
}

static void watch_tick(void *arg) {
    struct watch *watch = arg;
    struct runner_status status;
    manager_alive();
    if (watch->reloads)
        manager_ready();
    watch->reloads = false;
    for (int i = 0; i < watch->count; i++)
        folder_look(watch, &watch->folders[i]);
    executor_status(watch->executor, &status);
    if (watch->cli->interactive)
        display_tick(&watch->display, &status);
}

static void warnings_log(const struct folder *folder) {
    size_t i;
    json_t *warning;
    json_array_foreach(folder->warnings, i, warning) {
        log_event(LOG_WARN, "folder warning", "text:s", json_string_value(warning));
    }
}

/* The jobs failed, the command did not: their number is said, the status stays 0. */
static void end_tell(struct watch *watch, bool drain) {
    struct runner_status status;
    executor_status(watch->executor, &status);
    if (watch->cli->interactive)
        display_end(&watch->display, &status);
    else if (drain && status.failed > 0)
        log_event(LOG_WARN, "some runs failed", "failed:l done:l", status.failed, status.done);
}

static void retries_say(int64_t count, bool more, const char *when, bool person) {
    char away[RELATIVE_SIZE] = "";
    if (person && relative_time(when, clock_now(clock_system()), away))
        fprintf(stderr, "moonshift: %s%lld %s a retry, the first is due at %s (%s)\n",
                more ? "at least " : "", (long long)count,
                count == 1 ? "job waits for" : "jobs wait for", when, away);
    else
        log_event(LOG_INFO,
                  more ? "at least so many jobs wait for a retry" : "jobs wait for a retry",
                  "jobs:l first:s", count, when);
}

/* A drain does not wait for retries: it says how many there are, and when the first one is due. */
static void retries_tell(struct cli *cli, bool person) {
    struct error ignored = {0};
    struct engine *engine = setup_open(cli, STORE_READ, false, &ignored);
    json_t *retries = engine ? engine_ask(engine, ASK_RETRIES, NULL, &ignored) : NULL;
    int64_t count = json_integer_value(json_object_get(retries, "count"));
    const char *when = json_string_value(json_object_get(retries, "first"));
    engine_close(engine);
    if (count && when)
        retries_say(count, json_is_true(json_object_get(retries, "more")), when, person);
    json_decref(retries);
}

/* The folder is deployed now and at every change, also back to an older text. */
static void folder_watch(struct watch *watch, const struct cli *cli,
                         struct attached_engine *engine) {
    struct watched *watched = &watch->folders[watch->count++];
    *watched = (struct watched){.engine = engine, .directory = cli->directory};
    memcpy(watched->hash, cli->folder->hash, sizeof watched->hash);
    log_event(LOG_INFO, "watching", "folder:s deploys:s", cli->directory,
              "every change, also back to an older text");
}

static void on_reload(void *arg) {
    struct watch *watch = arg;
    manager_reloading();
    watch->reloads = true;
    if (watch->face)
        face_reload(watch->face);
}

/* Requests are answered no more while running jobs are waited for. */
static void on_stop(void *arg) {
    struct watch *watch = arg;
    manager_stopping();
    if (watch->face)
        face_close(watch->face);
}

/* Attaches an engine for each folder. The executor's own settings are those of the first. */
static bool engines_add(struct watch *watch, struct cli *folders, int count, struct error *error) {
    bool fine = true;
    for (int i = 0; i < count && fine && !thread_told_to_stop(); i++) {
        struct cli *cli = &folders[i];
        warnings_log(cli->folder);
        json_t *paths = network_paths(cli);
        struct attached_engine_options options = {.settings = &cli->settings,
                                                  .clock = clock_system(),
                                                  .folder = cli->folder,
                                                  .read = network_scripts,
                                                  .paths = paths,
                                                  .follows = cli->deployment,
                                                  .durations = i ? NULL : watch->durations};
        struct attached_engine *engine =
            paths ? executor_attach(watch->executor, &options, error) : NULL;
        fine = engine || (paths ? false : error_no_memory(error));
        json_decref(paths);
        if (fine && watch->folders)
            folder_watch(watch, cli, engine);
    }
    return fine;
}

/* What the executor counts for its face. */
static bool durations_keep(struct watch *watch, const struct settings *settings,
                           struct error *error) {
    watch->durations = face_wanted(settings) ? durations_new() : NULL;
    return watch->durations || !face_wanted(settings) || error_no_memory(error);
}

static bool executor_go(struct watch *watch, struct cli *folders, int count, bool drain,
                        struct error *error) {
    bool ticks = watch->cli->interactive || watch->folders || manager_listens();
    struct executor_options options = {.settings = &folders[0].settings,
                                       .program = true,
                                       .watched = watch->folders != NULL,
                                       .drain = drain,
                                       .tick = ticks ? watch_tick : NULL,
                                       .reload = on_reload,
                                       .stop = on_stop,
                                       .arg = watch};
    watch->executor = executor_new(&options, error);
    bool fine = watch->executor && durations_keep(watch, &folders[0].settings, error) &&
                engines_add(watch, folders, count, error) &&
                network_start(&folders[0], watch->open, watch->executor, watch->durations,
                              &watch->face, error);
    /* Whether a server would have answered is no matter to who is to stop and has begun nothing. */
    bool unasked = !fine && error->code == ERROR_UNAVAILABLE && thread_told_to_stop();
    if (fine && !thread_told_to_stop()) {
        if (watch->cli->interactive)
            display_start(&watch->display);
        manager_ready();
        fine = executor_run(watch->executor, error);
        end_tell(watch, drain);
        for (int i = 0; fine && drain && i < count; i++)
            retries_tell(&folders[i], watch->cli->interactive);
    }
    face_free(watch->face);
    executor_free(watch->executor);
    durations_free(watch->durations);
    return fine || unasked;
}

/* Loads the folder into the store and prints its name and hash. */
static bool deploy(struct cli *cli, struct error *error) {
    struct engine *engine = setup_open(cli, STORE_CREATE, true, error);
    size_t count = engine ? engine_definitions(engine)->count : 0;
    int64_t newer = engine ? engine_taken_back(engine) : 0;
    char taken[64] = "";
    engine_close(engine);
    if (!engine)
        return false;
    const struct folder *folder = cli->folder;
    const char *name = cli->settings.deployment ? cli->settings.deployment : folder->name;
    if (cli->json)
        return output_json(json_pack("{ss ss sI so*}", "name", name, "hash", folder->hash,
                                     "definitions", (json_int_t)count, "rolled_back",
                                     newer ? json_integer(newer) : NULL),
                           error);
    if (newer)
        snprintf(taken, sizeof taken, ", rolled back from deployment %lld", (long long)newer);
    output_add("%s: %zu handlers, %.12s%s\n", name, count, folder->hash, taken);
    return true;
}

static bool deploy_run(struct cli *cli, const struct flags *flags, struct error *error) {
    cli->takes_back = true;
    return setup_settings(cli, flags, error) && deploy(cli, error);
}

/* An executor on the wrong folder would wait for ever, without a word. */
static bool folder_usable(const struct cli *cli, struct error *error) {
    return !folder_idle(cli->folder) || settings_given(&cli->settings, "stock") ||
           error_set(error, ERROR_CONFIG,
                     "%s \"%s\": nothing to run (expected Lua files in handlers/, batches/ or "
                     "schedules/, or the setting stock)",
                     cli->deployment ? "deployment" : "script folder",
                     cli->deployment ? cli->deployment : cli->directory);
}

static bool next_folder_read(struct cli *cli, const struct flags *flags, const char *path,
                             struct error *error) {
    return setup_directory(cli, flags, path, error) && folder_usable(cli, error) &&
           setup_keeps(cli, error);
}

/* Reads the folders behind the first, each with settings of its own. */
static bool folders_read(struct cli *folders, const struct flags *flags, struct error *error) {
    bool fine = acquisitions_apply(&folders[0].settings, &folders[0].settings, error);
    for (int i = 1; i < flags->word_count && fine; i++)
        fine = next_folder_read(&folders[i], flags, flags->words[i], error) &&
               acquisitions_apply(&folders[i].settings, &folders[0].settings, error);
    return fine;
}

static bool all_deploy(struct cli *folders, int count, struct error *error) {
    for (int i = 0; i < count; i++)
        if (!deploy(&folders[i], error))
            return false;
    return true;
}

/* folders[0] is the command's own, which its caller clears. */
static bool folders_run(struct cli *cli, const struct flags *flags, struct cli *folders, int count,
                        struct error *error) {
    struct watch watch = {.cli = cli, .open = flags_has(flags, "--open")};
    if (flags_has(flags, "--watch") &&
        !(watch.folders = calloc((size_t)count, sizeof *watch.folders)))
        return error_no_memory(error);
    folders[0] = *cli;
    for (int i = 1; i < count; i++)
        folders[i].json = cli->json;
    bool fine = folders_read(folders, flags, error);
    if (fine)
        fine = cli->settings.active
                   ? executor_go(&watch, folders, count, flags_has(flags, "--drain"), error)
                   : all_deploy(folders, count, error);
    *cli = folders[0];
    for (int i = 1; i < count; i++)
        setup_clear(&folders[i]);
    free(watch.folders);
    return fine;
}

/* A directory, or a deployment of the store. */
static bool source_read(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *name = flags_text(flags, "--deployment");
    if (name && flags->word_count > 1)
        return error_set(error, ERROR_USAGE,
                         "--deployment \"%s\": %d folders cannot have one name (expected one)",
                         name, flags->word_count);
    if (!name || flags->word_count > 0 || flags_has(flags, "-C"))
        return setup_settings(cli, flags, error);
    if (flags_has(flags, "--watch"))
        return error_set(error, ERROR_USAGE,
                         "--watch looks at a folder (expected DIR instead of --deployment)");
    return setup_deployment(cli, flags, name, error);
}

static bool run_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!logging_setup(cli, flags, flags_has(flags, "--watch"), error) ||
        !source_read(cli, flags, error) || !folder_usable(cli, error) || !setup_keeps(cli, error))
        return false;
    int count = flags->word_count > 1 ? flags->word_count : 1;
    struct cli *folders = calloc((size_t)count, sizeof *folders);
    bool fine = folders ? folders_run(cli, flags, folders, count, error) : error_no_memory(error);
    free(folders);
    return fine;
}

static const struct flag run_flags[] = {
    {"--workers", "N", "worker threads (else one per processor)"},
    {"--priority-range", "MIN:MAX", "run jobs of these priorities only; either side may be empty"},
    {"--deployment", "NAME",
     "without DIR: run the store's deployment of this name, and follow newer ones"},
    {"--drain", NULL, "end when nothing is left that is due"},
    {"--watch", NULL, "load the folders again when they change, show what handlers print"},
    OPEN_FLAG,
    LOGGING_FLAGS,
    {0},
};

const struct cli_command run_commands[] = {
    {"run", "[DIR…] [--workers N] [--priority-range MIN:MAX] [--drain] …",
     "run the jobs of a script folder, or of several",
     "Each folder is an engine with its own moonshift.lua and store; they share the workers and "
     "what"
     "\nelse belongs to the executor (name, workers, queue, keep_alive, shutdown_wait), as flags,"
     "\nvariables or the first folder say.\n"
     "Runs until TERM or INT: running jobs are waited for (setting shutdown_wait), a second signal"
     "\nstops at once. HUP loads the folders again; a broken one is refused and the old one "
     "stays.\n"
     "With --deployment NAME there is no folder here: the files are those that the store has of "
     "NAME,"
     "\nand a deployment of that name is loaded by itself as soon as it is made.",
     run_flags, 0, -1, true, true, run_run},
    {"deploy", "[DIR]", "load a script folder into the store and run nothing",
     "Jobs can then be created where the folder is not.", NULL, 0, 1, false, true, deploy_run},
    {0},
};
