#include "cli/command.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include <string.h>

static const struct flag list_flags[] = {
    {"--by", "cause", "a row for each type and handler, or schedule; the most frequent first"},
    LIST_PAGE_FLAGS,
    FILTERS_OF(ASK_INCIDENTS),
    {0},
};

static const struct listing listing = {ASK_INCIDENTS, "incidents"};
static const struct listing causes = {ASK_CAUSES, "incidents"};

static bool incident_list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *by = flags_text(flags, "--by");
    if (by && strcmp(by, "cause") != 0)
        return error_set(error, ERROR_USAGE, "--by \"%.40s\": expected cause", by);
    return list_show(cli, flags, by ? &causes : &listing, error);
}

static bool incident_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    json_t *question = json_pack("{s{sI},si}", "filters", "id", (json_int_t)id, "limit", 1);
    json_t *list = setup_ask(cli, flags, ASK_INCIDENTS, question, error);
    json_t *incident = json_incref(json_array_get(list, 0));
    if (list && !incident)
        error_set(error, ERROR_NOT_FOUND, "no incident %lld", (long long)id);
    json_decref(list);
    return output_object(cli->json, incident, error);
}

static const struct flag annotate_flags[] = {DRY_RUN_FLAG, {0}};

static const struct flag resolve_flags[] = {
    DRY_RUN_FLAG,
    {"--note", "TEXT", "keep a note with it", FLAG_MEMBER},
    {0},
};

const struct cli_command incident_commands[] = {
    {"incident list", "[--by cause] [--open] [--type TYPE] [--job ID] …", "list incidents", "",
     list_flags, 0, 0, false, false, incident_list_run, &listing},
    {"incident show", "ID", "show one incident", "", NULL, 1, 1, false, false, incident_show_run},
    {"incident annotate", "ID NOTE", "keep a note with an incident", "", annotate_flags, 2, 2,
     false, false, operate_run},
    {"incident resolve", "ID [--note TEXT]", "close an incident, its job untouched", "",
     resolve_flags, 1, 1, false, false, operate_run},
    {"incident removal-time", "ID TIME|never|computed", "say when an ended incident goes",
     "computed: from its end and its time to live.", annotate_flags, 2, 2, false, false,
     operate_run},
    {0},
};
