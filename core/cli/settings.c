#include "cli/output.h"
#include "cli/setup.h"
#include "cli/table.h"

static const struct column columns[] = {
    {"name", "NAME", COLUMN_LEFT},
    {"text", "VALUE", COLUMN_CUT},
    {"origin", "FROM", COLUMN_LEFT},
    {0},
};

static bool show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!setup_settings(cli, flags, error))
        return false;
    json_t *list = settings_to_json(&cli->settings);
    if (cli->json || !list)
        return output_json(list, error);
    bool fine = table_print(columns, list, output_width(), error);
    json_decref(list);
    return fine;
}

const struct cli_command settings_commands[] = {
    {"settings", "[--NAME VALUE] …", "show every setting and where it came from",
     "Flags win over MOONSHIFT_… variables, they over moonshift.lua, and that over the defaults.",
     NULL, 0, 0, true, false, show_run},
    {0},
};
