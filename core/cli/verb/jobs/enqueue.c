#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "cli/verb/jobs/bulk.h"
#include "cli/verb/jobs/lost.h"
#include "cli/wait/job_wait.h"
#include "cli/words/moment.h"
#include "engine/intake.h"
#include "job/store_url.h"
#include "time/span.h"
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_CHUNK = 1000 };        /* jobs a transaction */
#define TEXT_MAX ((int64_t)1 << 30) /* bytes of one JSON text on the way in */

static const struct flag enqueue_flags[] = {
    {"--at", "TIME",
     "due then: \"2026-12-24 18:00\", \"tomorrow 08:00\", +1h, in this shell's zone", FLAG_ONE},
    {"--in", "SPAN", "due after this span (5m, 1h30m, PT5M, or seconds)", FLAG_ONE},
    {"--cycle", "CYCLE", "again and again: R/PT5M, R3/2026-01-01T08:00:00Z/P1D, or cron",
     FLAG_MEMBER | FLAG_ONE},
    {"--zone", "NAME", "of the cycle's local times, such as Europe/Berlin (UTC)",
     FLAG_MEMBER | FLAG_ONE},
    {"--misfire", "POLICY", "once, all or skip; of missed dates: one late run, or as many",
     FLAG_MEMBER | FLAG_ONE},
    {"--priority", "N", "instead of the handler's own", FLAG_MEMBER | FLAG_ONE},
    {"--lane", "KEY", "one job of a lane runs at a time", FLAG_MEMBER | FLAG_ONE},
    {"--exclusive", "BOOL", "false: beside the others of its lane", FLAG_MEMBER | FLAG_ONE},
    {"--instance", "KEY", "what the job belongs to; the lane too, unless --lane is given",
     FLAG_MEMBER | FLAG_ONE},
    {"--root", "KEY", "the top of its instance's hierarchy", FLAG_MEMBER | FLAG_ONE},
    {"--activity", "NAME", "the step it stands for", FLAG_MEMBER | FLAG_ONE},
    {"--tenant", "NAME", "on whose behalf", FLAG_MEMBER | FLAG_ONE},
    {"--trace", "PARENT", "the request that it comes from, a traceparent", FLAG_MEMBER | FLAG_ONE},
    {"--category", "NAME", "instead of the handler's own", FLAG_MEMBER | FLAG_ONE},
    {"--retries", "N", "runs, instead of the configured number", FLAG_MEMBER | FLAG_ONE},
    {"--unique", "KEY", "no second job of this handler while one that has the key is not done",
     FLAG_MEMBER | FLAG_ONE},
    {"--on-conflict", "POLICY", "keep, replace or refuse; where another job has the key (keep)",
     FLAG_MEMBER | FLAG_ONE},
    {"--unique-for", "SPAN", "the key is kept so long from now, even if the job is done before",
     FLAG_ONE},
    {"--unchecked", NULL, "the handler need not be known yet", FLAG_MEMBER},
    {"--count", "N", "so many equal jobs; prints count, first and last id", FLAG_ONE},
    {"--from", "FILE", "one JSON object a line ({handler, payload, due, …}); -: standard input"},
    {"--skip-bad", NULL, "with --from: list bad lines and write the rest", FLAG_MANY},
    {"--ids", NULL, "print every id"},
    {"--request", "KEY", "asking again with the same key and content is harmless: the same answer"},
    {"--wait", NULL, "wait for the end of the job, and print its result", FLAG_ONE},
    TIMEOUT_FLAG,
    {0},
};

/* Room for a text whose payload may be written with escapes throughout. */
static size_t text_room(const struct settings *settings) {
    int64_t room = settings->payload_max > TEXT_MAX / 6 ? TEXT_MAX : settings->payload_max * 6;
    return (size_t)room + 65536;
}

/* Standard input to its end. */
static json_t *payload_read(size_t room, struct error *error) {
    struct text text = {0};
    char part[65536];
    size_t got;
    json_t *payload = NULL;
    text_append(&text, "", 0);
    while (text.size <= room && (got = fread(part, 1, sizeof part, stdin)) > 0)
        text_append(&text, part, got);
    if (ferror(stdin))
        error_set(error, ERROR_IO, "standard input: %s", strerror(errno));
    else if (text.failed)
        error_no_memory(error);
    else if (text.size > room)
        error_set(error, ERROR_INVALID, "payload: longer than %zu bytes", room);
    else {
        size_t mark = utf8_mark(text.data, text.size);
        payload = json_read(text.data + mark, text.size - mark, "payload", error);
    }
    text_clear(&text);
    return payload;
}

static bool payload_put(const struct cli *cli, const struct flags *flags, json_t *spec,
                        struct error *error) {
    if (flags->word_count < 2)
        return true;
    const char *text = flags->words[1];
    json_t *payload = strcmp(text, "-") == 0 ? payload_read(text_room(&cli->settings), error)
                                             : json_read(text, strlen(text), "payload", error);
    if (payload)
        return json_put(spec, "payload", payload) || error_no_memory(error);
    struct error cause = *error;
    if (cause.code == ERROR_INVALID)
        error_set(error, cause.code,
                  "%.600s (expected JSON, in quotes for the shell: '{\"to\":\"a@b.example\"}', "
                  "'\"text\"', 42)",
                  cause.text);
    return false;
}

static bool text_put(json_t *spec, const char *key, const char *text, struct error *error) {
    return json_put_text(spec, key, text) || error_no_memory(error);
}

/* A span is a text or a number of seconds. */
static bool span_put(const struct flags *flags, const char *flag, const char *key, json_t *spec,
                     struct error *error) {
    const char *text = flags_text(flags, flag);
    if (!text)
        return true;
    json_t *seconds = json_read(text, strlen(text), "", NULL);
    if (json_is_number(seconds))
        return json_put(spec, key, seconds) || error_no_memory(error);
    json_decref(seconds);
    struct span span;
    struct error why = {0};
    if (!span_parse(text, &span, &why))
        return error_set(error, ERROR_USAGE, "%s: %s", flag, why.text);
    return text_put(spec, key, text, error);
}

static bool time_put(const struct flags *flags, json_t *spec, struct error *error) {
    const char *text = flags_text(flags, "--at");
    time_ms at;
    return !text || (moment_read("--at", text, &at, error) &&
                     (json_put_time(spec, "at", at) || error_no_memory(error)));
}

/* What is not a member of its name. */
static bool others_put(const struct cli *cli, const struct flags *flags, json_t *spec,
                       struct error *error) {
    if (!time_put(flags, spec, error) || !span_put(flags, "--in", "after", spec, error) ||
        !span_put(flags, "--unique-for", "unique_for", spec, error))
        return false;
    return text_put(spec, "handler", flags->words[0], error) &&
           payload_put(cli, flags, spec, error);
}

/* What the command line says as job_spec_read takes it; NULL: error. */
static json_t *spec_make(const struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t retries = 0;
    json_t *spec = json_object();
    if (!spec)
        error_no_memory(error);
    else if (flags_integer(flags, "--retries", 1, INT32_MAX, &retries, error) &&
             command_members(spec, flags, error) && others_put(cli, flags, spec, error))
        return spec;
    json_decref(spec);
    return NULL;
}

/* ---- so many equal jobs ---- */

struct counted {
    struct engine *engine;
    struct receipt *receipt;
    struct engine_spec specs[COUNT_CHUNK];
    struct created created[COUNT_CHUNK];
    struct engine_request request;
    char hash[65];
    struct store_intake intake;
    int64_t first;            /* of the intake's ids */
    size_t late[COUNT_CHUNK]; /* places of those that replace a job which others see */
    size_t late_count;
};

/* The same word for the same jobs. */
static bool counted_hash(struct counted *counted, const json_t *spec, int64_t count,
                         struct error *error) {
    size_t size = 0;
    SHA2_CTX hash;
    char *text = json_write(spec, &size);
    if (!text)
        return error_no_memory(error);
    SHA256Init(&hash);
    SHA256Update(&hash, (const uint8_t *)&count, sizeof count);
    SHA256Update(&hash, (const uint8_t *)text, size);
    SHA256End(&hash, counted->hash);
    free(text);
    return true;
}

static void late_note(struct counted *counted, const struct created *created) {
    size_t run = 0, at = 0;
    for (size_t i = 0; i < counted->late_count; i++)
        receipt_change(counted->receipt, &run, &at, counted->late[i], &created[i]);
}

static json_t *counted_answer(void *arg, const struct created *created, size_t count) {
    struct counted *counted = arg;
    struct error ignored = {0};
    if (counted->intake.id)
        late_note(counted, created);
    else if (!receipt_add(counted->receipt, created, count, &ignored))
        return NULL;
    return receipt_answer(counted->receipt);
}

static bool chunk_enqueue(struct counted *counted, size_t count, struct error *error) {
    struct receipt *receipt = counted->receipt;
    if (!counted->request.asked.key)
        return engine_enqueue(counted->engine, counted->specs, count, counted->created, NULL,
                              error) &&
               receipt_add(receipt, counted->created, count, error);
    return engine_enqueue_once(counted->engine, counted->specs, count, counted->created, NULL,
                               &counted->request, error);
}

static bool chunk_add(struct counted *counted, size_t count, struct error *error) {
    if (!engine_intake_add(counted->engine, &counted->intake, counted->specs, count,
                           counted->created, NULL, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct created *created = &counted->created[i];
        if (created->creation != CREATION_REPLACED ||
            (created->id >= counted->first && created->id <= counted->intake.last))
            continue;
        if (counted->late_count == COUNT_CHUNK)
            return error_set(error, ERROR_CONFLICT,
                             "more than %d of them replace a job that waits (nothing written)",
                             (int)COUNT_CHUNK);
        counted->late[counted->late_count++] = (size_t)counted->receipt->count + i;
    }
    return receipt_add(counted->receipt, counted->created, count, error);
}

/* More than one transaction takes: all or nothing all the same. */
static bool many_enqueue(struct counted *counted, int64_t count, struct progress *progress,
                         struct error *error) {
    bool fine = engine_intake_begin(counted->engine, &counted->intake, count, error);
    counted->first = counted->intake.next;
    while (fine && counted->receipt->count < count) {
        int64_t left = count - counted->receipt->count;
        fine = chunk_add(counted, left < COUNT_CHUNK ? (size_t)left : COUNT_CHUNK, error);
        progress_show(progress, "writing", counted->receipt->count, count);
    }
    if (!fine) {
        engine_intake_abandon(counted->engine, &counted->intake);
        return false;
    }
    if (!engine_intake_end(counted->engine, &counted->intake, counted->specs, counted->late_count,
                           counted->created, &counted->request, error))
        return false;
    if (!counted->request.asked.key)
        late_note(counted, counted->created);
    return true;
}

static bool counted_enqueue(const struct cli *cli, struct counted *counted, int64_t count,
                            struct error *error) {
    struct progress progress = {.on = cli->interactive};
    struct engine_request *request = &counted->request;
    if (!engine_request_find(counted->engine, request, error))
        return false;
    bool fine =
        request->found || (count <= COUNT_CHUNK ? chunk_enqueue(counted, (size_t)count, error)
                                                : many_enqueue(counted, count, &progress, error));
    progress_end(&progress);
    return fine && (!request->found || receipt_take(counted->receipt, request->found, error));
}

/* `count` equal jobs, all or nothing. */
static bool count_enqueue(const struct cli *cli, const struct flags *flags, struct engine *engine,
                          json_t *spec, int64_t count, struct receipt *receipt,
                          struct error *error) {
    struct counted *counted = calloc(1, sizeof *counted);
    if (!counted)
        return error_no_memory(error);
    for (size_t i = 0; i < COUNT_CHUNK; i++)
        counted->specs[i] = (struct engine_spec){.object = spec};
    counted->engine = engine;
    counted->receipt = receipt;
    counted->request = (struct engine_request){
        .asked = {.key = flags_text(flags, "--request"), .hash = counted->hash},
        .answer = counted_answer,
        .arg = counted};
    bool fine =
        counted_hash(counted, spec, count, error) && counted_enqueue(cli, counted, count, error);
    json_decref(counted->request.found);
    free(counted);
    return fine;
}

static bool from_enqueue(const struct cli *cli, const struct flags *flags, struct engine *engine,
                         struct receipt *receipt, struct lost *lost, struct error *error) {
    struct bulk_options options = {
        .path = flags_text(flags, "--from"),
        .line_max = text_room(&cli->settings),
        .skip_bad = flags_has(flags, "--skip-bad"),
        .unchecked = flags_has(flags, "--unchecked"),
        .interactive = cli->interactive,
        .request = flags_text(flags, "--request"),
        .lost = lost,
    };
    return bulk_enqueue(engine, &options, receipt, error);
}

/* --from says everything about its jobs itself. */
static bool usage_check(const struct flags *flags, struct error *error) {
    bool many = flags_has(flags, "--from");
    if (many && flags->word_count > 0)
        return error_set(error, ERROR_USAGE, "unexpected \"%s\" (--from names handlers itself)",
                         flags->words[0]);
    return flags_check_from(flags, error) &&
           (many || flags->word_count > 0 ||
            error_set(error, ERROR_USAGE, "enqueue needs a HANDLER (or --from FILE)"));
}

static bool request_check(const struct flags *flags, struct error *error) {
    const char *key = flags_text(flags, "--request");
    size_t size = key ? strlen(key) : 1;
    return (size > 0 && size <= JOB_NAME_MAX && (!key || utf8_valid(key, size, NULL))) ||
           error_set(error, ERROR_USAGE, "--request: expected a text of 1 to %d bytes",
                     JOB_NAME_MAX);
}

/* Only one job has a result, and only a job that does not repeat has an end. */
static bool wait_check(const struct flags *flags, time_ms *until, struct error *error) {
    static const char *const others[] = {"--count", "--cycle", "--ids"};
    bool waits = flags_has(flags, "--wait");
    for (size_t i = 0; waits && i < sizeof others / sizeof *others; i++)
        if (flags_has(flags, others[i]))
            return error_set(error, ERROR_USAGE, "--wait and %s: expected one of them", others[i]);
    if (!waits && flags_has(flags, "--timeout"))
        return error_set(error, ERROR_USAGE, "--timeout: expected --wait with it");
    return job_wait_until(flags, until, error);
}

static bool jobs_enqueue(struct cli *cli, const struct flags *flags, struct engine *engine,
                         struct receipt *receipt, struct lost *lost, struct error *error) {
    if (flags_has(flags, "--from"))
        return from_enqueue(cli, flags, engine, receipt, lost, error);
    lost_note(lost, flags->words[0]);
    int64_t count = 1;
    json_t *spec = NULL;
    bool fine = flags_integer(flags, "--count", 1, INT64_MAX, &count, error) &&
                (spec = spec_make(cli, flags, error)) &&
                count_enqueue(cli, flags, engine, spec, count, receipt, error);
    json_decref(spec);
    return fine;
}

/* The store has the handler from an earlier deployment, or nobody asks for that. */
static bool is_known_here(struct engine *engine, const struct flags *flags) {
    return flags->word_count == 0 || flags_has(flags, "--unchecked") ||
           engine_has_deployed(engine, flags->words[0]);
}

/* A file of the folder is broken: creation goes on with the handlers that the store knows. NULL,
 * `error` as it was: it does not know this one either. */
static struct engine *engine_without_folder(struct cli *cli, const struct flags *flags,
                                            struct error *error) {
    struct error ignored = {0};
    bool broken = cli->folder && (error->code == ERROR_CONFIG || error->code == ERROR_INVALID ||
                                  error->code == ERROR_FAILED);
    struct engine *engine = broken ? setup_open(cli, STORE_WRITE, false, &ignored) : NULL;
    if (!engine || !is_known_here(engine, flags)) {
        engine_close(engine);
        return NULL;
    }
    char *text = output_clean(error->text, false);
    fprintf(stderr, "moonshift: warning: %s (the handlers are taken as the store knows them)\n",
            text ? text : "");
    free(text);
    error->code = ERROR_NONE;
    return engine;
}

/* Without a folder no handler is known but to a store that is there: none is made by mistake. */
static struct engine *engine_make(struct cli *cli, const struct flags *flags, struct error *error) {
    cli->handler = flags->word_count > 0 ? flags->words[0] : NULL;
    if (!setup_settings(cli, flags, error))
        return NULL;
    char store[STORE_SHOWN];
    cli->plain = true;
    bool creates = cli->folder || flags_has(flags, "--unchecked") || flags_has(flags, "--from");
    struct engine *engine = setup_open(cli, creates ? STORE_CREATE : STORE_WRITE, true, error);
    if (!engine && !creates && error->code == ERROR_NOT_FOUND)
        error_set(error, ERROR_NOT_FOUND,
                  "no script folder here, and no store \"%s\" (expected -C DIR, MOONSHIFT_DIR,"
                  " --store URL, or --unchecked)",
                  store_url_show(cli->settings.store, store));
    return engine ? engine : engine_without_folder(cli, flags, error);
}

/* With --wait, of the job's end. */
static bool answer(const struct cli *cli, const struct flags *flags, struct engine *engine,
                   struct receipt *receipt, time_ms until, struct error *error) {
    struct error late = {0};
    json_t *result = NULL;
    bool waits = flags_has(flags, "--wait");
    if (waits && !job_wait_one(cli, engine, receipt_job(receipt), until, &result, error))
        return false;
    bool fine =
        waits ? receipt_print_result(receipt, result, &late) : receipt_print(receipt, &late);
    return fine || error_set(error, late.code, "%s", late.text);
}

static bool enqueue_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct receipt receipt = {0};
    struct lost lost = {0};
    struct engine *engine = NULL;
    time_ms until;
    receipt_start(&receipt, cli, flags);
    bool fine = usage_check(flags, error) && request_check(flags, error) &&
                wait_check(flags, &until, error);
    fine = fine && (engine = engine_make(cli, flags, error));
    fine = fine && jobs_enqueue(cli, flags, engine, &receipt, &lost, error);
    CRASH_POINT("enqueue_answered");
    if (fine && !flags_has(flags, "--unchecked"))
        lost_say(&lost, engine);
    lost_clear(&lost);
    fine = fine && answer(cli, flags, engine, &receipt, until, error);
    engine_close(engine);
    receipt_clear(&receipt);
    return fine;
}

const struct cli_command enqueue_commands[] = {
    {"enqueue", "HANDLER [PAYLOAD | -] [--at TIME | --in SPAN] [--cycle CYCLE] … | --from FILE",
     "create jobs",
     "PAYLOAD is JSON; - reads it from standard input. Prints the id, once the job is on disk. "
     "With "
     "--wait prints the result, and ends with 1 if the job has not succeeded.",
     enqueue_flags, 0, 2, false, false, enqueue_run},
    {0},
};
