/* clone.c - a new job like one that is there, or that has ended. */
#include "base/json.h"
#include "cli/receipt.h"
#include "cli/setup.h"
#include <string.h>

/* The row of the job, or the newest entry that the log has of it. NULL: error. */
static json_t *original_find(struct engine *engine, int64_t id, struct error *error) {
    json_t *found = engine_ask_id(engine, ASK_JOB, id, error);
    struct error none = {0};
    if (found || error->code != ERROR_NOT_FOUND)
        return found;
    json_t *past = json_pack("{s{sI},si}", "filters", "job", (json_int_t)id, "limit", 1);
    json_t *entries = engine_ask_of(engine, ASK_LOG, past, &none);
    found = json_incref(json_array_get(entries, 0));
    json_decref(entries);
    return found;
}

/* spec[key] = what the original has under it; what it lacks is left out. */
static bool member_copy(json_t *spec, const json_t *original, const char *key) {
    json_t *value = json_object_get(original, key);
    return !value || json_is_null(value) || json_object_set(spec, key, value) == 0;
}

/* What is copied: not when it runs, nor its unique key, nor how often it may still fail. */
static bool members_copy(json_t *spec, const json_t *original) {
    static const char *const keys[] = {"handler", "payload",  "priority", "lane",    "instance",
                                       "root",    "activity", "tenant",   "category"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!member_copy(spec, original, keys[i]))
            return false;
    return true;
}

/* The new job as a creator describes it; a log keeps no payloads. NULL: error. */
static json_t *spec_make(const json_t *original, int64_t id, const char *payload,
                         struct error *error) {
    json_t *spec = json_object(), *value = NULL;
    bool fine = (spec && members_copy(spec, original)) || error_no_memory(error);
    if (fine && payload)
        fine = (value = json_read(payload, strlen(payload), "payload", error)) &&
               (json_put(spec, "payload", value) || error_no_memory(error));
    else if (fine && !json_object_get(spec, "payload"))
        fine = error_set(error, ERROR_USAGE,
                         "job %lld has ended, and its payload is not kept (expected moonshift job"
                         " clone %lld PAYLOAD)",
                         (long long)id, (long long)id);
    return json_kept(spec, fine);
}

static bool job_clone(struct engine *engine, int64_t id, const char *payload,
                      struct created *created, struct error *error) {
    json_t *original = original_find(engine, id, error);
    json_t *spec = original ? spec_make(original, id, payload, error) : NULL;
    struct engine_spec one = {.object = spec};
    bool fine = spec && engine_enqueue(engine, &one, 1, created, NULL, error);
    json_decref(spec);
    json_decref(original);
    return fine;
}

static bool clone_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct receipt receipt;
    struct created created;
    int64_t id;
    receipt_start(&receipt, cli, flags);
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    const char *payload = flags->word_count > 1 ? flags->words[1] : NULL;
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, true, error);
    bool fine = engine && job_clone(engine, id, payload, &created, error);
    engine_close(engine);
    fine = fine && receipt_add(&receipt, &created, 1, error) && receipt_print(&receipt, error);
    receipt_clear(&receipt);
    return fine;
}

const struct cli_command clone_commands[] = {
    {"job clone", "ID [PAYLOAD]", "create a job like this one, due at once",
     "Also of a job that has ended. Then PAYLOAD is needed, for payloads are not kept. Copies\n"
     "handler, payload, priority, lane, instance, root, activity, tenant and category.",
     NULL, 1, 2, false, false, clone_run},
    {0},
};
