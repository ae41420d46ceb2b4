#include "cli/receipt.h"
#include "base/json.h"
#include "base/list.h"
#include "cli/shown/output.h"
#include <stdlib.h>

enum { RUNS_KEPT = 1000 }; /* ids in a row, of an answer that is kept */

void receipt_start(struct receipt *receipt, const struct cli *cli, const struct flags *flags) {
    *receipt = (struct receipt){
        .json = cli->json,
        .all = flags_has(flags, "--ids"),
        .single = !flags_has(flags, "--count") && !flags_has(flags, "--from"),
        .skips = flags_has(flags, "--skip-bad"),
    };
}

static bool run_add(struct receipt *receipt, int64_t id, bool joins) {
    struct receipt_run *last = receipt->run_count ? &receipt->runs[receipt->run_count - 1] : NULL;
    if (joins && receipt->joins && last->first + last->count == id) {
        last->count++;
        return true;
    }
    receipt->joins = joins;
    struct receipt_run *runs = list_room(receipt->runs, receipt->run_count, sizeof *runs);
    if (!runs)
        return false;
    receipt->runs = runs;
    runs[receipt->run_count++] = (struct receipt_run){id, 1};
    return true;
}

static void count_add(struct receipt *receipt, enum creation creation, int by) {
    receipt->kept += creation == CREATION_KEPT ? by : 0;
    receipt->replaced += creation == CREATION_REPLACED ? by : 0;
}

bool receipt_add(struct receipt *receipt, const struct created *created, size_t count,
                 struct error *error) {
    for (size_t i = 0; i < count; i++) {
        count_add(receipt, created[i].creation, 1);
        if (!run_add(receipt, created[i].id, created[i].creation == CREATION_CREATED))
            return error_no_memory(error);
    }
    receipt->count += (int64_t)count;
    return true;
}

/* What was to be replaced is alone in its run. */
void receipt_change(struct receipt *receipt, size_t *run, size_t *at, size_t place,
                    const struct created *created) {
    while (*at + (size_t)receipt->runs[*run].count <= place)
        *at += (size_t)receipt->runs[(*run)++].count;
    receipt->runs[*run].first = created->id;
    count_add(receipt, CREATION_REPLACED, -1);
    count_add(receipt, created->creation, 1);
}

static int64_t first_id(const struct receipt *receipt) {
    return receipt->runs[0].first;
}

static int64_t last_id(const struct receipt *receipt) {
    const struct receipt_run *last = &receipt->runs[receipt->run_count - 1];
    return last->first + last->count - 1;
}

/* ---- requests ---- */

json_t *receipt_answer(const struct receipt *receipt) {
    json_t *runs = json_array();
    for (size_t i = 0; runs && i < receipt->run_count && receipt->run_count <= RUNS_KEPT; i++)
        json_array_append_new(runs, json_pack("[II]", (json_int_t)receipt->runs[i].first,
                                              (json_int_t)receipt->runs[i].count));
    bool any = receipt->run_count > 0;
    return json_pack("{sI sI sI sI sI sI so}", "count", (json_int_t)receipt->count, "kept",
                     (json_int_t)receipt->kept, "replaced", (json_int_t)receipt->replaced,
                     "skipped", (json_int_t)receipt->skipped, "first",
                     any ? (json_int_t)first_id(receipt) : 0, "last",
                     any ? (json_int_t)last_id(receipt) : 0, "runs", runs);
}

static int64_t whole(const json_t *answer, const char *key) {
    return json_integer_value(json_object_get(answer, key));
}

/* Of too many runs only the ends are known. */
static bool take_runs(struct receipt *receipt, const json_t *answer, struct error *error) {
    json_t *runs = json_object_get(answer, "runs"), *run;
    size_t i;
    if (json_array_size(runs) == 0 && receipt->count > 0 && receipt->all)
        return error_set(error, ERROR_CONFLICT,
                         "the ids of this request are not kept: they are in more than %d pieces"
                         " (ask without --ids)",
                         (int)RUNS_KEPT);
    bool fine = true;
    json_array_foreach(runs, i, run) {
        fine = fine && run_add(receipt, json_integer_value(json_array_get(run, 0)), false);
        if (fine)
            receipt->runs[receipt->run_count - 1].count =
                json_integer_value(json_array_get(run, 1));
    }
    if (json_array_size(runs) == 0 && receipt->count > 0)
        fine = run_add(receipt, whole(answer, "first"), false) &&
               run_add(receipt, whole(answer, "last"), false);
    return fine || error_no_memory(error);
}

bool receipt_take(struct receipt *receipt, const json_t *answer, struct error *error) {
    receipt->count = whole(answer, "count");
    receipt->kept = whole(answer, "kept");
    receipt->replaced = whole(answer, "replaced");
    receipt->skipped = whole(answer, "skipped");
    return take_runs(receipt, answer, error);
}

/* ---- printing ---- */

/* The one job that was asked for. */
static enum creation single_creation(const struct receipt *receipt) {
    if (receipt->kept)
        return CREATION_KEPT;
    return receipt->replaced ? CREATION_REPLACED : CREATION_CREATED;
}

/* For people, beside the ids: what was not created. */
static void uncreated_say(const struct receipt *receipt) {
    if (!receipt->kept && !receipt->replaced)
        return;
    if (receipt->single)
        fprintf(stderr, "moonshift: %s\n", creation_name(single_creation(receipt)));
    else
        fprintf(stderr, "moonshift: %lld created, %lld kept, %lld replaced\n",
                (long long)(receipt->count - receipt->kept - receipt->replaced),
                (long long)receipt->kept, (long long)receipt->replaced);
}

int64_t receipt_job(const struct receipt *receipt) {
    return first_id(receipt);
}

bool receipt_print_result(const struct receipt *receipt, json_t *result, struct error *error) {
    if (receipt->json)
        return output_json(json_pack("{sI ss so}", "id", (json_int_t)first_id(receipt), "outcome",
                                     creation_name(single_creation(receipt)), "result",
                                     result ? result : json_null()),
                           error);
    uncreated_say(receipt);
    bool none = !result || json_is_null(result);
    if (none)
        json_decref(result);
    return none || output_json(result, error);
}

static json_t *ids_array(const struct receipt *receipt) {
    json_t *ids = json_array();
    for (size_t i = 0; i < receipt->run_count; i++)
        for (int64_t id = 0; id < receipt->runs[i].count; id++)
            json_array_append_new(ids, json_integer(receipt->runs[i].first + id));
    return ids;
}

static void ids_print(const struct receipt *receipt) {
    for (size_t i = 0; i < receipt->run_count; i++)
        for (int64_t id = 0; id < receipt->runs[i].count; id++)
            output_add("%lld\n", (long long)(receipt->runs[i].first + id));
}

static bool document_print(const struct receipt *receipt, struct error *error) {
    if (receipt->single)
        return output_json(json_pack("{sI ss}", "id", (json_int_t)first_id(receipt), "outcome",
                                     creation_name(single_creation(receipt))),
                           error);
    bool any = receipt->count > 0;
    json_t *document =
        json_pack("{sI so so sI sI}", "count", (json_int_t)receipt->count, "first",
                  any ? json_integer(first_id(receipt)) : json_null(), "last",
                  any ? json_integer(last_id(receipt)) : json_null(), "kept",
                  (json_int_t)receipt->kept, "replaced", (json_int_t)receipt->replaced);
    bool fine =
        document &&
        (!receipt->skips || json_put(document, "skipped", json_integer(receipt->skipped))) &&
        (!receipt->all || json_put(document, "ids", ids_array(receipt)));
    if (fine)
        return output_json(document, error);
    json_decref(document);
    return error_no_memory(error);
}

bool receipt_print(struct receipt *receipt, struct error *error) {
    if (receipt->json)
        return document_print(receipt, error);
    uncreated_say(receipt);
    if (receipt->all)
        ids_print(receipt);
    else if (receipt->single)
        output_add("%lld\n", (long long)first_id(receipt));
    else if (receipt->count == 0)
        output_add("0 - -\n");
    else
        output_add("%lld %lld %lld\n", (long long)receipt->count, (long long)first_id(receipt),
                   (long long)last_id(receipt));
    return true;
}

void receipt_clear(struct receipt *receipt) {
    free(receipt->runs);
    receipt->runs = NULL;
}
