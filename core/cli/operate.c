#include "cli/operate.h"
#include "base/json.h"
#include "cli/batch.h"
#include "cli/confirm.h"
#include "cli/list.h"
#include "cli/moment.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include <stdio.h>
#include <string.h>

struct teller {
    struct progress progress;
    const char *done;
    size_t of;
};

static void tell(void *arg, size_t touched) {
    struct teller *teller = arg;
    progress_show(&teller->progress, teller->done, (int64_t)touched, (int64_t)teller->of);
}

/* What the verb could not do, on standard error. */
static void stuck_say(const struct store_stuck *stuck) {
    if (stuck->count == 1)
        fprintf(stderr,
                "moonshift: %s: could not be ended; it goes on until it ends by itself or its"
                " executor does\n",
                stuck->at);
    else if (stuck->count > 1)
        fprintf(stderr,
                "moonshift: %s, and %d more: could not be ended; they go on until they end by"
                " themselves or their executors do\n",
                stuck->at, stuck->count - 1);
}

static bool counted(const struct cli *cli, const struct engine_operated *operated, const char *done,
                    struct error *error) {
    const struct held *held = &operated->held;
    size_t count = operated->touched;
    int stuck = operated->stuck.count;
    char stay[HELD_TEXT];
    stuck_say(&operated->stuck);
    if (cli->json)
        return output_json(json_pack("{sI,so*,so*}", "count", (json_int_t)count, "held",
                                     held->jobs ? held_to_json(held) : NULL, "stuck",
                                     stuck ? json_integer(stuck) : NULL),
                           error);
    held_text(held, stay);
    output_add("%zu %s %s%s%s\n", count, count == 1 ? "job" : "jobs", done, held->jobs ? "; " : "",
               stay);
    return true;
}

/* What the order counts. */
static const char *thing_of(const json_t *order) {
    if (json_object_get(order, "incident"))
        return "incident";
    return json_object_get(order, "schedule") ? "schedule" : "job";
}

bool operate_dry_run(struct cli *cli, const struct flags *flags, const json_t *order,
                     const char *done, struct error *error) {
    size_t count = 0;
    struct store *store = setup_store(cli, flags, STORE_READ, error);
    bool fine = store && store_preview(store, order, &count, clock_now(clock_system()), error);
    if (fine)
        list_warn(store);
    store_close(store);
    if (!fine)
        return false;
    if (cli->json)
        return output_json(json_pack("{sI,sb}", "count", (json_int_t)count, "dry_run", 1), error);
    output_add("%zu %s%s would be %s\n", count, thing_of(order), count == 1 ? "" : "s", done);
    return true;
}

/* The verb has a date: what will do it. */
static bool dated(const struct cli *cli, const json_t *order, int64_t job, struct error *error) {
    if (cli->json)
        return output_json(json_pack("{si,sI}", "count", 0, "job", (json_int_t)job), error);
    output_add("job %lld will do it at %s\n", (long long)job,
               json_string_value(json_object_get(order, "at")));
    return true;
}

/* What is too much for one transaction is done by a batch, or else the order was for one. */
static bool batched(const struct cli *cli, const struct flags *flags, struct store *store,
                    const struct engine_operated *operated, struct error *error) {
    bool fine = true;
    if (flags_has(flags, "--wait"))
        fine = batch_wait(cli, store, operated->batch, error);
    else
        batch_note(store, operated->batch);
    if (!fine && error->code != ERROR_FAILED)
        return false;
    if (cli->json)
        return output_json(json_pack("{sI,sI}", "batch", (json_int_t)operated->batch, "count",
                                     (json_int_t)operated->touched),
                           fine ? error : NULL) &&
               fine;
    output_add("batch %lld: %zu jobs\n", (long long)operated->batch, operated->touched);
    return fine;
}

/* The order was for a batch: that is what can be waited for. */
static bool waited(const struct cli *cli, const struct flags *flags, struct store *store,
                   const json_t *order, struct error *error) {
    int64_t batch = json_integer_value(json_object_get(order, "batch"));
    return !batch || !flags_has(flags, "--wait") || batch_wait(cli, store, batch, error);
}

/* What was done to a definition or an instance itself, where no job was meant. NULL: jobs were. */
static const char *alone_text(const json_t *order) {
    static const struct {
        const char *verb, *with, *text;
    } verbs[] = {
        {"override_priority", "cascade", "has another priority for later jobs"},
        {"clear_override", "cascade", "has its own priority again"},
        {"suspend_definition", "include_jobs", "suspended"},
        {"activate_definition", "include_jobs", "activated"},
    };
    const char *verb = json_string_value(json_object_get(order, "verb"));
    for (size_t i = 0; verb && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].verb, verb) == 0)
            return json_is_true(json_object_get(order, verbs[i].with)) ? NULL : verbs[i].text;
    return NULL;
}

static bool done_say(const struct cli *cli, const struct flags *flags, struct store *store,
                     const json_t *order, const struct engine_operated *operated, const char *done,
                     struct error *error) {
    if (operated->batch)
        return batched(cli, flags, store, operated, error);
    if (operated->job)
        return dated(cli, order, operated->job, error);
    if (!waited(cli, flags, store, order, error))
        return false;
    if (!cli->json && operated->touched == 0 && alone_text(order)) {
        output_add("definition \"%s\" %s\n",
                   json_string_value(json_object_get(order, "definition")), alone_text(order));
        return true;
    }
    if (cli->json || strcmp(json_string_value(json_object_get(order, "verb")), "delete_batch") != 0)
        return counted(cli, operated, done, error);
    output_add("batch %lld deleted\n",
               (long long)json_integer_value(json_object_get(order, "batch")));
    return true;
}

static bool act(struct cli *cli, const struct flags *flags, json_t *order, const char *done,
                struct error *error) {
    struct teller teller = {.progress = {.on = cli->interactive}, .done = done};
    struct engine_operated operated = {.tell = tell, .arg = &teller};
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    if (engine && cli->interactive)
        store_preview(engine_store(engine), order, &teller.of, clock_now(clock_system()), NULL);
    bool fine = engine && confirm(cli, flags, engine, order, error) &&
                engine_operate(engine, order, &operated, error);
    if (fine)
        list_warn(engine_store(engine));
    progress_end(&teller.progress);
    fine = fine && done_say(cli, flags, engine_store(engine), order, &operated, done, error);
    engine_close(engine);
    return fine;
}

bool operate_run(struct cli *cli, const struct flags *flags, json_t *order, const char *done,
                 struct error *error) {
    bool tries = flags_has(flags, "--dry-run"), fine = false;
    if (!order)
        return error_set(error, ERROR_FAILED, "out of memory");
    fine = tries ? operate_dry_run(cli, flags, order, done, error)
                 : act(cli, flags, order, done, error);
    json_decref(order);
    return fine;
}

bool operate_date(json_t *order, const char *key, const char *text, struct error *error) {
    time_ms at;
    bool none = !text || strcmp(text, "none") == 0;
    if (!none && !moment_read(key, text, &at, error))
        return false;
    return (none ? json_put(order, key, json_null()) : json_put_time(order, key, at)) ||
           error_set(error, ERROR_FAILED, "out of memory");
}
