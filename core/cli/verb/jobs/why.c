#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/wait/executor.h"
#include <stdlib.h>
#include <string.h>

/* Prints the text of a row. */
static bool print_text(const json_t *row, struct error *error) {
    char *text = output_value(json_object_get(row, "text"), false);
    if (text)
        output_add("%s\n", text);
    free(text);
    return text || error_no_memory(error);
}

static bool why_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_reader(cli, flags, error);
    json_t *answer = engine_ask_id(engine, ASK_WHY, id, error);
    const char *state = json_string_value(json_object_get(answer, "state"));
    if (state && strcmp(state, "ended") != 0)
        executors_none_say(cli, engine);
    engine_close(engine);
    if (cli->json && answer)
        return output_json(answer, error);
    bool fine = answer && print_text(answer, error);
    json_decref(answer);
    return fine;
}

/* ---- instances ---- */

/* A line about the instance, if there is something to say, and one for each place. */
static bool lines_print(const json_t *answer, int64_t id, struct error *error) {
    const json_t *instance = json_object_get(answer, "instance"), *row;
    const char *how = json_string_value(json_object_get(instance, "how"));
    const char *by = json_string_value(json_object_get(instance, "suspended_by"));
    size_t i;
    bool fine = true;
    if (how)
        output_add("instance %lld has ended: %s\n", (long long)id, how);
    if (json_is_true(json_object_get(instance, "suspended")))
        output_add("instance %lld is suspended%s\n", (long long)id,
                   by && strcmp(by, "process") == 0 ? " with its process" : "");
    json_array_foreach(json_object_get(answer, "why"), i, row) {
        fine = fine && print_text(row, error);
    }
    return fine;
}

static bool instance_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    json_t *question = json_pack("{sI}", "id", (json_int_t)id);
    json_t *answer = setup_ask(cli, flags, ASK_WHY_INSTANCE, question, error);
    if (cli->json && answer)
        return output_json(answer, error);
    bool fine = answer && lines_print(answer, id, error);
    json_decref(answer);
    return fine;
}

const struct cli_command why_commands[] = {
    {"job why", "ID", "say why a job has not run yet",
     "One sentence: what holds it up, who, until when, how many stand before it.", NULL, 1, 1,
     false, false, why_run},
    {"instance why", "ID", "say what an instance of a process waits for",
     "One sentence for each place where it stands.", NULL, 1, 1, false, false, instance_run},
    {0},
};
