/* health.c - asks a running program whether it is well, where there is no curl. */
#include "base/json.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "http/wire/client.h"

/* The reason that a problem has. */
static void ill(const struct text *content, int status, struct error *error) {
    struct error unreadable = {0};
    json_t *problem = json_read(content->data, content->size, "answer", &unreadable);
    const char *why = json_text(problem, "detail");
    error_set(error, ERROR_UNAVAILABLE, "%s (status %d)", why ? why : "it is not well", status);
    json_decref(problem);
}

static bool health_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool ready = flags_has(flags, "--ready");
    struct text content = {0};
    if (!setup_settings(cli, flags, error))
        return false;
    const char *address = json_string_value(json_array_get(cli->settings.http, 0));
    if (!address)
        return error_set(error, ERROR_USAGE, "health: no address (expected --http ADDRESS)");
    int status = client_get(address, ready ? "/health/ready" : "/health/live", &content, error);
    bool fine = status == 200;
    if (status && !fine)
        ill(&content, status, error);
    if (fine && cli->json)
        output_add("%s\n", content.data);
    else if (fine)
        output_add("%s\n", ready ? "ready" : "live");
    text_clear(&content);
    return fine;
}

static const struct flag health_flags[] = {
    {"--ready", NULL, "whether it takes work, and not only whether it answers"},
    {0},
};

const struct cli_command health_commands[] = {
    {"health", "[--http ADDRESS] [--ready]", "ask a running program whether it is well",
     "Asks the first address of the setting `http`. Ends with 0 if it is well, else with 69.",
     health_flags, 0, 0, true, false, health_run},
    {0},
};
