#include "cli/executor.h"
#include "cli/output.h"
#include "cli/setup.h"
#include <stdlib.h>
#include <string.h>

static bool why_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_reader(cli, flags, error);
    json_t *question = json_pack("{sI}", "id", (json_int_t)id);
    json_t *answer = engine ? engine_ask(engine, ASK_WHY, question, error) : NULL;
    json_decref(question);
    const char *state = json_string_value(json_object_get(answer, "state"));
    if (state && strcmp(state, "ended") != 0)
        executors_none_say(cli, engine);
    engine_close(engine);
    if (cli->json && answer)
        return output_json(answer, error);
    char *text = answer ? output_value(json_object_get(answer, "text"), false) : NULL;
    if (text)
        output_add("%s\n", text);
    else if (answer)
        error_no_memory(error);
    bool fine = text != NULL;
    free(text);
    json_decref(answer);
    return fine;
}

/* ---- instances ---- */

static bool lines_print(const json_t *answer, int64_t id) {
    const json_t *instance = json_object_get(answer, "instance"), *row;
    const char *how = json_string_value(json_object_get(instance, "how"));
    size_t i;
    bool fine = true;
    if (how)
        output_add("instance %lld has ended: %s\n", (long long)id, how);
    if (json_is_true(json_object_get(instance, "suspended")))
        output_add("instance %lld is suspended\n", (long long)id);
    json_array_foreach(json_object_get(answer, "why"), i, row) {
        char *text = output_value(json_object_get(row, "text"), false);
        fine = fine && text;
        output_add("%s\n", text ? text : "");
        free(text);
    }
    return fine;
}

static bool instance_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_reader(cli, flags, error);
    json_t *question = json_pack("{sI}", "id", (json_int_t)id);
    json_t *answer = engine ? engine_ask(engine, ASK_WHY_INSTANCE, question, error) : NULL;
    json_decref(question);
    engine_close(engine);
    if (!answer)
        return false;
    if (cli->json)
        return output_json(answer, error);
    bool fine = lines_print(answer, id) || error_no_memory(error);
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
