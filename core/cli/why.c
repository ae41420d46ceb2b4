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

const struct cli_command why_commands[] = {
    {"job why", "ID", "say why a job has not run yet",
     "One sentence: what holds it up, who, until when, how many stand before it.", NULL, 1, 1,
     false, false, why_run},
    {0},
};
