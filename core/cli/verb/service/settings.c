/* settings.c - each setting, its value and where that came from (rules §19). */
#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"

static const struct flag show_flags[] = {
    {"--names", NULL, "and what Camunda, Flowable and Activiti call it"},
    {0},
};

static const struct column columns[] = {
    {"name", "NAME", COLUMN_LEFT},
    {"text", "VALUE", COLUMN_CUT},
    {"origin", "FROM", COLUMN_LEFT},
    {"known", "KNOWN AS", COLUMN_CUT | COLUMN_OPTIONAL},
    {0},
};

/* The list of names as one text. */
static bool names_put(json_t *list) {
    size_t i, j;
    json_t *row, *name;
    json_array_foreach(list, i, row) {
        struct text names = {0};
        json_array_foreach(json_object_get(row, "known_as"), j, name) {
            text_add(&names, "%s%s", j ? ", " : "", json_string_value(name));
        }
        bool fine = !names.failed && json_put_text(row, "known", names.data);
        text_clear(&names);
        if (!fine)
            return false;
    }
    return true;
}

static bool settings_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!setup_settings(cli, flags, error))
        return false;
    json_t *list = settings_to_json(&cli->settings);
    if (cli->json || !list)
        return output_json(list, error);
    if (flags_has(flags, "--names") && !names_put(list)) {
        json_decref(list);
        return error_no_memory(error);
    }
    bool fine = table_print(columns, list, output_width(), error);
    json_decref(list);
    return fine;
}

const struct cli_command settings_commands[] = {
    {"settings", "[--names] [--NAME VALUE] …", "show every setting and where it came from",
     "Flags win over MOONSHIFT_… variables, they over moonshift.lua, and that over the defaults.",
     show_flags, 0, 0, true, false, settings_show_run},
    {0},
};
