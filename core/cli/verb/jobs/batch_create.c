/* batch_create.c - `batch create`: a type, what it is told, and its ids from wherever they come. */
#include "base/json.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "cli/verb/jobs/batch.h"
#include "cli/words/lines.h"
#include "engine/batch.h"
#include <string.h>

#define ENQUEUE "enqueue"
#define LINE_MAX_BYTES ((size_t)1 << 20)

const struct flag batch_create_flags[] = {
    {"--ids", "ID,…", "these ids"},
    {"--ids-from", "FILE", "one a line; - is standard input"},
    {"--config", "JSON", "what the type is told: an object"},
    {"--retries", "N", "in the config: the retries to set"},
    {"--priority", "N", "in the config: the priority to set"},
    {"--due", "TIME", "in the config: the due date to set, or none"},
    {"--name", "TEXT", "a name to find it by"},
    {"--per-seed", "N", "jobs that one seed makes (batch_jobs_per_seed)"},
    {"--invocations", "N", "ids of one job (invocations_per_batch_job)"},
    {"--job-retries", "N", "runs of its own jobs"},
    {"--job-priority", "N", "priority of its own jobs (batch_job_priority)"},
    {"--on-complete", "HANDLER", "gets a job once it has ended"},
    BATCH_WAIT_FLAG,
    FILTERS_OF(ASK_JOBS), /* with enqueue, --handler is the handler of the jobs it makes */
    FILTERS_OF(ASK_PROCESS_INSTANCES),
    {0},
};

/* One `batch create`. */
struct making {
    struct engine *engine;
    const char *type;
    bool enqueues;
    const char *ids_of; /* what its ids are numbers of, or NULL */
    bool strict;        /* ids are JSON; else also plain text */
    json_t *spec, *query;
    struct lines lines;
    struct progress progress;
    int64_t batch, count;
};

/* ---- what it is told ---- */

static bool number_put(json_t *object, const struct flags *flags, const char *flag, const char *key,
                       struct error *error) {
    int64_t number = 0;
    if (!flags_has(flags, flag))
        return true;
    return flags_integer(flags, flag, INT64_MIN, INT64_MAX, &number, error) &&
           (json_put(object, key, json_integer(number)) || error_no_memory(error));
}

static json_t *config_read(const struct flags *flags, struct error *error) {
    const char *text = flags_text(flags, "--config");
    json_t *config = text ? json_read(text, strlen(text), "--config", error) : json_object();
    if (config && !json_is_object(config)) {
        json_decref(config);
        return error_null(error_set(error, ERROR_USAGE, "--config: expected a JSON object"));
    }
    return config;
}

static bool config_put(const struct making *making, const struct flags *flags, json_t *config,
                       struct error *error) {
    const char *handler = flags_text(flags, "--handler");
    if (!number_put(config, flags, "--retries", "retries", error) ||
        !number_put(config, flags, "--priority", "priority", error))
        return false;
    return (!flags_has(flags, "--due") ||
            command_date(config, "due", flags_text(flags, "--due"), error)) &&
           (!making->enqueues || !handler || json_put_text(config, "handler", handler) ||
            error_no_memory(error));
}

static bool text_put(json_t *spec, const struct flags *flags, const char *flag, const char *key,
                     struct error *error) {
    const char *text = flags_text(flags, flag);
    return !text || json_put_text(spec, key, text) || error_no_memory(error);
}

static bool spec_read(struct making *making, const struct flags *flags, struct error *error) {
    json_t *spec = making->spec = json_object(), *config = config_read(flags, error);
    if (!config || !spec || !json_put(spec, "config", config))
        return spec && config ? error_no_memory(error) : false;
    static const char *const numbers[][2] = {{"--per-seed", "jobs_per_seed"},
                                             {"--invocations", "invocations"},
                                             {"--job-retries", "retries"},
                                             {"--job-priority", "priority"}};
    if (!json_put_text(spec, "type", making->type))
        return error_no_memory(error);
    bool fine = config_put(making, flags, config, error) &&
                text_put(spec, flags, "--name", "name", error) &&
                text_put(spec, flags, "--on-complete", "on_complete", error);
    for (size_t i = 0; fine && i < sizeof numbers / sizeof *numbers; i++)
        fine = number_put(spec, flags, numbers[i][0], numbers[i][1], error);
    return fine;
}

/* ---- its ids ---- */

static bool is_filter(const struct making *making, const struct flag *flag) {
    return (flag->form & FLAG_FILTER) &&
           !(making->enqueues && strcmp(flag->name, "--handler") == 0);
}

static bool query_read(struct making *making, const struct flags *flags, struct error *error) {
    size_t filters = 0;
    for (size_t i = 0; i < flags->count; i++)
        filters += is_filter(making, &flags->given[i].flag);
    size_t ways =
        (size_t)flags_has(flags, "--ids") + (size_t)flags_has(flags, "--ids-from") + (filters > 0);
    if (ways != 1)
        return error_set(error, ERROR_USAGE,
                         "batch create: expected either --ids, --ids-from or filters (such as "
                         "--state dead)");
    if (filters == 0)
        return true;
    if (making->enqueues)
        return error_set(error, ERROR_USAGE,
                         "batch create enqueue: expected payloads (--ids-from FILE)");
    making->query = list_filters(flags, error);
    return making->query != NULL;
}

/* JSON, or if the type may take it a text. */
static json_t *id_read(const struct making *making, const char *text, size_t size,
                       struct error *error) {
    json_t *id = json_read(text, size, "id", error);
    if (!id && !making->strict)
        return json_stringn(text, size);
    if (!making->ids_of || json_is_integer(id))
        return id;
    json_decref(id);
    error_set(error, ERROR_INVALID, "id \"%.*s\": expected the number of %s %s", (int)size, text,
              *making->ids_of == 'i' ? "an" : "a", making->ids_of);
    return NULL;
}

static bool part_write(struct making *making, json_t *part, struct error *error) {
    size_t count = json_array_size(part);
    if (count == 0)
        return true;
    if (!making->batch && !engine_batch_begin(making->engine, making->spec, &making->batch, error))
        return false;
    if (!engine_batch_add(making->engine, making->batch, part, error))
        return false;
    json_array_clear(part);
    making->count += (int64_t)count;
    progress_show(&making->progress, "adding ids", making->count, 0);
    return true;
}

static bool part_add(struct making *making, json_t *part, json_t *id, struct error *error) {
    if (!id || json_array_append_new(part, id) != 0)
        return id ? error_no_memory(error) : false;
    return json_array_size(part) < BATCH_PART || part_write(making, part, error);
}

static bool words_add(struct making *making, const char *words, json_t *part, struct error *error) {
    bool fine = true;
    for (const char *at = words; fine; at++) {
        size_t size = strcspn(at, ",");
        fine = size == 0 || part_add(making, part, id_read(making, at, size, error), error);
        at += size;
        if (!*at)
            break;
    }
    return fine && part_write(making, part, error);
}

static bool line_add(struct making *making, json_t *part, struct error *error) {
    const struct lines *lines = &making->lines;
    struct error why = {0};
    size_t size = lines->size;
    while (size > 0 && strchr(" \t\r", lines->text[size - 1]))
        size--;
    if (size == 0)
        return true;
    json_t *id = lines->too_long ? NULL : id_read(making, lines->text, size, &why);
    if (id)
        return part_add(making, part, id, error);
    return error_set(error, ERROR_INVALID, "%s:%lld: %s", lines->name, (long long)lines->number,
                     lines->too_long ? "too long" : why.text);
}

static bool lines_add(struct making *making, const char *path, json_t *part, struct error *error) {
    error->code = ERROR_NONE;
    bool fine = lines_open(&making->lines, path, LINE_MAX_BYTES, error);
    while (fine && lines_next(&making->lines, error))
        fine = line_add(making, part, error);
    fine = fine && error->code == ERROR_NONE && part_write(making, part, error);
    lines_close(&making->lines);
    return fine;
}

static bool listed_add(struct making *making, const struct flags *flags, struct error *error) {
    json_t *part = json_array();
    const char *words = flags_text(flags, "--ids");
    if (!part)
        return error_no_memory(error);
    bool fine = engine_batch_check(making->engine, making->spec, error) &&
                (words ? words_add(making, words, part, error)
                       : lines_add(making, flags_text(flags, "--ids-from"), part, error));
    json_decref(part);
    if (fine && !making->batch)
        fine = error_set(error, ERROR_INVALID, "no ids (a batch needs at least one)");
    fine = fine && engine_batch_start(making->engine, making->batch, error);
    if (!fine && making->batch)
        engine_batch_abandon(making->engine, making->batch);
    return fine;
}

static void creation_tell(void *arg, size_t touched) {
    progress_show(arg, "adding ids", (int64_t)touched, 0);
}

static bool found_add(struct making *making, struct error *error) {
    struct command_run run = {.tell = creation_tell, .arg = &making->progress};
    bool fine = engine_batch_create(making->engine, making->spec, NULL, batch_list_of(making->type),
                                    making->query, &run, error);
    making->batch = run.batch;
    return fine;
}

/* ---- the whole ---- */

static bool answer(const struct cli *cli, struct engine *engine, int64_t id, struct error *error) {
    if (cli->json) {
        json_t *batch = engine_ask_id(engine, ASK_BATCH, id, error);
        return batch && output_json(batch, error);
    }
    output_add("%lld\n", (long long)id);
    return true;
}

static bool create(struct cli *cli, const struct flags *flags, struct making *making,
                   struct error *error) {
    bool made = engine_batch_plan(making->engine, making->spec, error) &&
                (making->query ? found_add(making, error) : listed_add(making, flags, error));
    progress_end(&making->progress);
    if (!made)
        return false;
    struct engine *engine = making->engine;
    bool waits = flags_has(flags, "--wait");
    bool done = !waits || batch_wait(engine, making->batch, cli->interactive, error);
    if (!waits && cli->interactive)
        batch_note(engine, making->batch);
    struct error late = {0};
    bool said = answer(cli, engine, making->batch, &late);
    return done && (said || error_set(error, late.code, "%s", late.text));
}

/* Types are files of the folder, if there is one; jobs are in a store that is there. */
static struct engine *engine_make(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!setup_settings(cli, flags, error))
        return NULL;
    return setup_open(cli, cli->folder ? STORE_CREATE : STORE_WRITE, true, error);
}

bool batch_create_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct making making = {.type = flags->words[0], .progress = {.on = cli->interactive}};
    making.enqueues = strcmp(making.type, ENQUEUE) == 0;
    making.ids_of = batch_ids_of(making.type);
    making.strict = making.enqueues || making.ids_of;
    bool fine = query_read(&making, flags, error) && spec_read(&making, flags, error) &&
                (making.engine = engine_make(cli, flags, error));
    fine = fine && create(cli, flags, &making, error);
    engine_close(making.engine);
    json_decref(making.spec);
    json_decref(making.query);
    return fine;
}
