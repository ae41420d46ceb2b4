/* running.c - processes and what runs of them: versions that are current, instances, user tasks
 * (rules §23). */
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "cli/shown/trail.h"

/* ---- processes ---- */

static const struct flag process_flags[] = {
    LIST_FLAGS("key or version; the default is key"),
    FILTERS_OF(ASK_PROCESSES),
    {0},
};

static const struct listing processes = {ASK_PROCESSES, "processes"};

static const struct flag suspend_flags[] = {
    {"--version", "N", "this version alone", FLAG_MEMBER},
    {"--include-instances", NULL, "its instances, too: their jobs, tasks and commands",
     FLAG_MEMBER},
    {"--at", "TIME", "then, not now", FLAG_MEMBER},
    COMMAND_FLAGS,
    {0},
};

/* ---- instances ---- */

static const struct flag instance_flags[] = {
    LIST_FLAGS("order by a field; the default is id"),
    {"--ended", NULL, "those that have ended"},
    {"--text", NULL, "those of plain jobs, which are texts: the suspended ones"},
    FILTERS_OF(ASK_INSTANCES),
    FILTERS_OF(ASK_PROCESS_INSTANCES),
    {0},
};

static bool instances_run(struct cli *cli, const struct flags *flags, struct error *error) {
    static const struct listing running = {ASK_PROCESS_INSTANCES, "instances"};
    static const struct listing past = {ASK_PAST, "instances"};
    static const struct listing text = {ASK_INSTANCES, "suspended instances"};
    const struct listing *listing = flags_has(flags, "--ended") ? &past : &running;
    if (flags_has(flags, "--text"))
        listing = &text;
    else if (flags_has(flags, "--instance"))
        return error_set(error, ERROR_USAGE, "--instance: expected --text beside it");
    return list_show(cli, flags, listing, error);
}

/* What the instance waits for, a line for each place; "" if no token stands in it. */
static bool places_say(struct engine *engine, int64_t id, struct text *lines, struct error *error) {
    json_t *answer = engine_ask_id(engine, ASK_WHY_INSTANCE, id, error), *row;
    size_t i;
    text_append(lines, "", 0);
    json_array_foreach(json_object_get(answer, "why"), i, row) {
        text_add(lines, "%s%s", i ? "\n" : "", json_text(row, "text"));
    }
    bool fine = answer && (!lines->failed || error_no_memory(error));
    json_decref(answer);
    return fine;
}

/* For people: in the place of tokens with their numbers. */
static bool places_put(struct engine *engine, int64_t id, json_t *instance, struct error *error) {
    struct text lines = {0};
    if (json_array_size(json_object_get(instance, "at")) == 0)
        return true;
    bool fine =
        places_say(engine, id, &lines, error) &&
        (json_put_text(instance, "at", lines.size ? lines.data : NULL) || error_no_memory(error));
    text_clear(&lines);
    return fine;
}

static bool instance_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_reader(cli, flags, error);
    json_t *instance = engine_ask_id(engine, ASK_INSTANCE, id, error);
    bool fine = instance && (cli->json || places_put(engine, id, instance, error));
    engine_close(engine);
    return output_object(cli->json, json_kept(instance, fine), error);
}

static const struct flag trail_flags[] = {LIST_PAGE_FLAGS, {0}};

static const struct column trail_columns[] = {
    {"at", "AT", COLUMN_TIME},
    {"job", "JOB", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"what", "WHAT", COLUMN_CUT},
    {0},
};

static bool trail_run(struct cli *cli, const struct flags *flags, struct error *error) {
    static const struct listing listing = {ASK_TRAIL, "entries", trail_columns};
    int64_t id;
    struct list list;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    bool fine = list_read(&list, flags, &listing, error) &&
                (json_object_set_new(list.filters, "instance", json_integer(id)) == 0 ||
                 error_no_memory(error));
    struct engine *engine = fine ? setup_reader(cli, flags, error) : NULL;
    json_t *rows = engine ? list_ask(&list, engine, error) : NULL;
    if (rows && !cli->json && !trail_describe(rows, error)) {
        json_decref(rows);
        rows = NULL;
    }
    fine = engine && list_print(cli, &list, rows, 0, error);
    engine_close(engine);
    list_clear(&list);
    return fine;
}

/* ---- user tasks ---- */

static const struct flag task_flags[] = {
    LIST_FLAGS("order by a field; the default is id"),
    FILTERS_OF(ASK_TASKS),
    {0},
};

/* "users ada, bob; groups clerks" of { users, groups }, for people. */
static bool candidates_say(json_t *row, struct error *error) {
    static const char *const kinds[] = {"users", "groups"};
    struct text text = {0};
    size_t i;
    json_t *name;
    for (int kind = 0; kind < 2; kind++)
        json_array_foreach(json_object_get(json_object_get(row, "candidates"), kinds[kind]), i,
                           name) {
            const char *joint = text.size ? "; " : "";
            text_add(&text, "%s%s %s", i ? "," : joint, i ? "" : kinds[kind],
                     json_string_value(name));
        }
    bool fine = !text.failed && json_put_text(row, "candidates", text.data);
    text_clear(&text);
    return fine || error_no_memory(error);
}

static bool tasks_write(const struct cli *cli, const struct list *list, json_t *rows,
                        struct error *error) {
    bool fine = true;
    json_t *row;
    size_t i;
    (void)list;
    if (cli->json)
        return true;
    json_array_foreach(rows, i, row) {
        fine = fine && candidates_say(row, error);
    }
    return fine;
}

static const struct listing tasks = {ASK_TASKS, "tasks", .write = tasks_write};

static const struct flag claim_flags[] = {
    DRY_RUN_FLAG,
    {"--as", "NAME", "for this person (the setting who)"},
    {0},
};
static const struct flag release_flags[] = {DRY_RUN_FLAG, {0}};

static bool claim_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    return flags_number("id", flags->words[0], 1, INT64_MAX, &id, error) &&
           give_command(cli, flags,
                        json_pack("{ss,sI,ss*,sb}", "verb", "set_assignee", "task", (json_int_t)id,
                                  "assignee", flags_text(flags, "--as"), "claim", 1),
                        "claimed", error);
}

/* ---- kept messages ---- */

static const struct flag message_flags[] = {
    LIST_FLAGS("order by a field; the default is id"),
    FILTERS_OF(ASK_KEPT_MESSAGES),
    {0},
};

static const struct listing messages = {ASK_KEPT_MESSAGES, "kept messages"};

const struct cli_command running_commands[] = {
    {"process list", "[--key NAME,…] [--suspended BOOL]", "list the processes that are deployed",
     "Each with its current version, and how many instances of all versions run.", process_flags, 0,
     0, false, false, list_run, &processes},
    {"process suspend", "KEY [--version N] [--include-instances] [--at TIME]",
     "let nothing of it start, and later jobs wait",
     "Its start timers wait, too. --include-instances: so do the jobs that are there.",
     suspend_flags, 1, 1, false, false, operate_run},
    {"process activate", "KEY [--version N] [--include-instances] [--at TIME]",
     "end its suspension", "", suspend_flags, 1, 1, false, false, operate_run},
    {"instance list", "[--process NAME,…] [--key NAME,…] … [--ended] | --text",
     "list the instances of processes",
     "Of an instance of plain jobs, which is a text, only its suspension is kept; job list\n"
     "--instance KEY has its jobs.",
     instance_flags, 0, 0, false, false, instances_run},
    {"instance show", "ID", "show one instance of a process", "It runs, or has ended.", NULL, 1, 1,
     false, false, instance_show_run},
    {"instance trail", "ID", "list what an instance of a process has done", "", trail_flags, 1, 1,
     false, false, trail_run},
    {"task list", "[--assignee NAME,…] [--candidate NAME] …", "list the tasks that wait for people",
     "", task_flags, 0, 0, false, false, list_run, &tasks},
    {"task claim", "ID [--as NAME]", "give a task to yourself", "Refused if it is another one's.",
     claim_flags, 1, 1, false, false, claim_run},
    {"task release", "ID", "let others claim a task", "", release_flags, 1, 1, false, false,
     operate_run},
    {"message list", "[--name NAME,…] [--key NAME,…]",
     "list the messages that nothing waits for yet", "", message_flags, 0, 0, false, false,
     list_run, &messages},
    {0},
};
