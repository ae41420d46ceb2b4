/* run.c - runs jobs until TERM or INT, or until nothing is due (rules §15). */
#include "base/acquisitions.h"
#include "base/log.h"
#include "cli/display.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "run/node.h"
#include "run/thread.h"
#include "script/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the node calls back with. */
struct watch {
    struct cli *cli;
    struct node *node;
    struct watched *folders; /* NULL: nobody looks whether they change */
    int count;
    struct display display;
};

/* A folder that is loaded again whenever its text changes (--watch). */
struct watched {
    struct member *member;
    const char *directory;
    char hash[FOLDER_HASH];
};

/* By its text, so that whatever an editor does to the files counts once. What cannot be read now is
 * looked at again a second later. */
static void folder_look(struct watched *watched) {
    struct error unreadable;
    struct folder *folder = folder_read(&watched->directory, 1, &unreadable);
    if (!folder)
        return;
    bool changed = strcmp(folder->hash, watched->hash) != 0;
    memcpy(watched->hash, folder->hash, sizeof watched->hash);
    folder_release(folder);
    if (changed)
        member_reload(watched->member);
}

static void watch_tick(void *arg) {
    struct watch *watch = arg;
    struct foreman_status status;
    for (int i = 0; i < watch->count; i++)
        folder_look(&watch->folders[i]);
    node_status(watch->node, &status);
    if (watch->cli->interactive)
        display_tick(&watch->display, &status);
}

/* Reads a folder again for a reload; a moonshift.lua that could not be started with is refused with
 * it, the settings in force stay. Runs in a thread of its own. */
static struct folder *folder_again(const json_t *paths, struct error *error) {
    const char *directory = json_string_value(json_array_get(paths, 0));
    struct settings settings;
    struct folder *folder = folder_read(&directory, 1, error);
    if (!folder)
        return NULL;
    bool fine = settings_init(&settings, error) &&
                setup_apply(&settings, folder, directory, error) &&
                settings_check(&settings, error);
    settings_clear(&settings);
    if (fine)
        return folder;
    folder_release(folder);
    return NULL;
}

static bool log_level_read(const char *text, enum log_level *level, struct error *error) {
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; text && i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    return !text || error_set(error, ERROR_USAGE,
                              "log level \"%s\": expected error, warn, info or debug", text);
}

static bool log_format_read(const char *text, enum log_format *format, struct error *error) {
    *format = text && strcmp(text, "json") == 0 ? LOG_JSON : LOG_LOGFMT;
    return !text || *format == LOG_JSON || strcmp(text, "logfmt") == 0 ||
           error_set(error, ERROR_USAGE, "log format \"%s\": expected logfmt or json", text);
}

static const char *flag_or_variable(const struct flags *flags, const char *flag,
                                    const char *variable) {
    const char *text = flags_text(flags, flag);
    if (!text)
        text = getenv(variable);
    return text && text[0] ? text : NULL;
}

/* Log lines unless a person looks on: then one refreshed line, and what goes wrong above it. */
static bool log_setup(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *text = flag_or_variable(flags, "--log-format", "MOONSHIFT_LOG_FORMAT");
    if (text)
        cli->interactive = false;
    bool quiet = cli->interactive && !flags_has(flags, "--watch");
    enum log_level level = quiet ? LOG_WARN : LOG_INFO;
    enum log_format format;
    if (!log_format_read(text, &format, error) ||
        !log_level_read(flag_or_variable(flags, "--log-level", "MOONSHIFT_LOG_LEVEL"), &level,
                        error))
        return false;
    log_configure(format, level);
    return true;
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
    struct foreman_status status;
    node_status(watch->node, &status);
    if (watch->cli->interactive)
        display_end(&watch->display, &status);
    else if (drain && status.failed > 0)
        log_event(LOG_WARN, "some runs failed", "failed:l done:l", status.failed, status.done);
}

/* A drain does not wait for retries: it says how many there are, and when the first one is due. */
static void retries_tell(const struct cli *cli, bool person) {
    struct error ignored = {0};
    int64_t count = 0;
    time_ms first = TIME_NEVER;
    char when[TIME_TEXT_SIZE];
    struct store *store = store_open(cli->settings.store, STORE_READ, &cli->settings, &ignored);
    bool known = store && store_retries_wait(store, &count, &first, &ignored);
    store_close(store);
    if (!known || !count)
        return;
    time_format(first, when);
    if (person)
        fprintf(stderr, "moonshift: %lld %s a retry, the first is due at %s\n", (long long)count,
                count == 1 ? "job waits for" : "jobs wait for", when);
    else
        log_event(LOG_INFO, "jobs wait for a retry", "jobs:l first:s", count, when);
}

/* It is deployed as it is now and at every change, back to what it was before as well. */
static void folder_watch(struct watch *watch, const struct cli *cli, struct member *member) {
    struct watched *watched = &watch->folders[watch->count++];
    *watched = (struct watched){.member = member, .directory = cli->directory};
    memcpy(watched->hash, cli->folder->hash, sizeof watched->hash);
    log_event(LOG_INFO, "watching", "folder:s deploys:s", cli->directory,
              "every change, also back to an older text");
}

/* One engine for each folder; what is the executor's is as the first folder has it. */
static bool engines_add(struct watch *watch, struct cli *folders, int count, struct error *error) {
    bool fine = true;
    for (int i = 0; i < count && fine && !thread_told_to_stop(); i++) {
        struct cli *cli = &folders[i];
        warnings_log(cli->folder);
        json_t *paths = json_pack("[s]", cli->directory);
        struct member_options options = {.settings = &cli->settings,
                                         .clock = clock_system(),
                                         .folder = cli->folder,
                                         .read = folder_again,
                                         .paths = paths};
        struct member *member = paths ? node_add(watch->node, &options, error) : NULL;
        fine = member || (paths ? false : error_set(error, ERROR_FAILED, "out of memory"));
        json_decref(paths);
        if (fine && watch->folders)
            folder_watch(watch, cli, member);
    }
    return fine;
}

static bool node_go(struct watch *watch, struct cli *folders, int count, bool drain,
                    struct error *error) {
    bool ticks = watch->cli->interactive || watch->folders;
    struct node_options options = {.settings = &folders[0].settings,
                                   .program = true,
                                   .watched = watch->folders != NULL,
                                   .drain = drain,
                                   .tick = ticks ? watch_tick : NULL,
                                   .arg = watch};
    watch->node = node_new(&options, error);
    bool fine = watch->node && engines_add(watch, folders, count, error);
    if (fine && !thread_told_to_stop()) {
        if (watch->cli->interactive)
            display_start(&watch->display);
        fine = node_run(watch->node, error);
        end_tell(watch, drain);
        for (int i = 0; fine && drain && i < count; i++)
            retries_tell(&folders[i], watch->cli->interactive);
    }
    node_free(watch->node);
    return fine;
}

/* Loads the folder into the store and says what it was. */
static bool deploy(struct cli *cli, struct error *error) {
    struct engine *engine = setup_open(cli, STORE_CREATE, true, error);
    size_t count = engine ? engine_definitions(engine)->count : 0;
    int64_t newer = engine ? engine_taken_back(engine) : 0;
    char taken[64] = "";
    engine_close(engine);
    if (!engine)
        return false;
    const struct folder *folder = cli->folder;
    if (cli->json)
        return output_json(json_pack("{ss ss sI so*}", "name", folder->name, "hash", folder->hash,
                                     "definitions", (json_int_t)count, "rolled_back",
                                     newer ? json_integer(newer) : NULL),
                           error);
    if (newer)
        snprintf(taken, sizeof taken, ", rolled back from deployment %lld", (long long)newer);
    output_add("%s: %zu handlers, %.12s%s\n", folder->name, count, folder->hash, taken);
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
                     "script folder \"%s\": nothing to run (expected Lua files in handlers/, "
                     "batches/ or schedules/, or the setting stock)",
                     cli->directory);
}

/* The folders behind the first, with settings of their own. */
static bool folders_read(struct cli *folders, const struct flags *flags, struct error *error) {
    bool fine = acquisitions_apply(&folders[0].settings, &folders[0].settings, error);
    for (int i = 1; i < flags->word_count && fine; i++)
        fine = setup_directory(&folders[i], flags, flags->words[i], error) &&
               folder_usable(&folders[i], error) && setup_keeps(&folders[i], error) &&
               acquisitions_apply(&folders[i].settings, &folders[0].settings, error);
    return fine;
}

static bool all_deploy(struct cli *folders, int count, struct error *error) {
    for (int i = 0; i < count; i++)
        if (!deploy(&folders[i], error))
            return false;
    return true;
}

/* folders[0] is the command's own, cleared by whoever runs it. */
static bool folders_run(struct cli *cli, const struct flags *flags, struct cli *folders, int count,
                        struct error *error) {
    struct watch watch = {.cli = cli};
    if (flags_has(flags, "--watch") &&
        !(watch.folders = calloc((size_t)count, sizeof *watch.folders)))
        return error_set(error, ERROR_FAILED, "out of memory");
    folders[0] = *cli;
    for (int i = 1; i < count; i++)
        folders[i].json = cli->json;
    bool fine = folders_read(folders, flags, error);
    if (fine)
        fine = cli->settings.active
                   ? node_go(&watch, folders, count, flags_has(flags, "--drain"), error)
                   : all_deploy(folders, count, error);
    *cli = folders[0];
    for (int i = 1; i < count; i++)
        setup_clear(&folders[i]);
    free(watch.folders);
    return fine;
}

static bool run_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!log_setup(cli, flags, error) || !setup_settings(cli, flags, error) ||
        !folder_usable(cli, error) || !setup_keeps(cli, error))
        return false;
    int count = flags->word_count > 1 ? flags->word_count : 1;
    struct cli *folders = calloc((size_t)count, sizeof *folders);
    bool fine = folders ? folders_run(cli, flags, folders, count, error)
                        : error_set(error, ERROR_FAILED, "out of memory");
    free(folders);
    return fine;
}

static const struct flag run_flags[] = {
    {"--workers", "N", "worker threads (else one per processor)"},
    {"--priority-range", "MIN:MAX", "run jobs of these priorities only; either side may be empty"},
    {"--drain", NULL, "end when nothing is left that is due"},
    {"--watch", NULL, "load the folders again when they change, show what handlers print"},
    {"--log-format", "FORMAT", "logfmt or json; also on a terminal"},
    {"--log-level", "LEVEL", "error, warn, info or debug"},
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
     "\nstops at once. HUP loads the folders again; a broken one is refused and the old one stays.",
     run_flags, 0, -1, true, true, run_run},
    {"deploy", "[DIR]", "load a script folder into the store and run nothing",
     "Jobs can then be created where the folder is not.", NULL, 0, 1, false, true, deploy_run},
    {0},
};
