#include "cli/verb/service/network.h"
#include "cli/setup.h"
#include "cli/verb/service/manager.h"
#include "engine/stored_folder.h"
#include "script/folder.h"
#include <stdio.h>

/* A moonshift.lua that could not be started with is refused with them; the settings in force stay.
 */
struct folder *network_scripts(const json_t *paths, struct error *error) {
    const char *name = json_string_value(json_array_get(paths, 0));
    const char *store = json_string_value(json_array_get(paths, 1));
    struct settings settings;
    struct folder *folder = NULL;
    bool fine = settings_init(&settings, error);
    if (fine && store)
        fine = settings_apply_text(&settings, ORIGIN_FLAG, "store", store, error) &&
               settings_apply_environment(&settings, error);
    if (fine)
        folder = store ? stored_folder(&settings, name, error) : folder_read(&name, 1, error);
    fine = folder && setup_apply(&settings, folder, store ? NULL : name, error) &&
           settings_check(&settings, error);
    settings_clear(&settings);
    if (fine)
        return folder;
    folder_release(folder);
    return NULL;
}

json_t *network_paths(const struct cli *cli) {
    if (cli->deployment)
        return json_pack("[ss]", cli->deployment, cli->settings.store);
    return cli->directory ? json_pack("[s]", cli->directory) : NULL;
}

/* An executor that is to take nothing more is not ready for it. */
static bool takes_work(void *arg, struct error *why) {
    struct runner_status status;
    executor_status(arg, &status);
    if (status.stopping || status.draining)
        return error_set(why, ERROR_CONFLICT, "the executor is draining");
    if (status.away)
        return error_set(why, ERROR_UNAVAILABLE, "the server of the store does not answer");
    if (status.paused)
        return error_set(why, ERROR_FULL, "the store is full");
    return !status.exhausted ||
           error_set(why, ERROR_STUCK, "more handlers do not end than workers can be replaced");
}

/* On a terminal the log is quiet. What is behind # is never sent to a server. */
static void addresses_say(const struct cli *cli, struct face *face) {
    char key[FACE_KEY_SIZE];
    const char *address;
    bool signs_in = cli->interactive && face_key(face, key);
    for (size_t i = 0; cli->interactive && (address = face_address(face, i)); i++) {
        if (address[0] == 'u')
            fprintf(stderr, "moonshift: http at %s\n", address);
        else if (signs_in)
            fprintf(stderr, "moonshift: http at http://%s/#key=%s (once, within 10 minutes)\n",
                    address, key);
    }
}

bool network_start(struct cli *cli, bool open, struct executor *executor,
                   const struct durations *durations, struct face **face, struct error *error) {
    *face = NULL;
    if (!face_wanted(&cli->settings))
        return !open || error_set(error, ERROR_USAGE, "--open: no address (expected --http too)");
    json_t *paths = network_paths(cli);
    struct face_options options = {.settings = &cli->settings,
                                   .clock = clock_system(),
                                   .folder = cli->folder,
                                   .read = network_scripts,
                                   .paths = paths,
                                   .open = open,
                                   .ready = executor ? takes_work : NULL,
                                   .arg = executor,
                                   .reloaded = executor ? NULL : manager_ready,
                                   .durations = durations};
    *face = face_new(&options, error);
    json_decref(paths);
    if (*face)
        addresses_say(cli, *face);
    return *face != NULL;
}
