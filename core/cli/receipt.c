#include "cli/receipt.h"
#include "base/json.h"
#include "cli/output.h"

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

bool receipt_start(struct receipt *receipt, const struct cli *cli, const struct flags *flags,
                   struct error *error) {
    *receipt = (struct receipt){
        .json = cli->json,
        .all = flags_has(flags, "--ids"),
        .single = !flags_has(flags, "--count") && !flags_has(flags, "--from"),
        .skips = flags_has(flags, "--skip-bad"),
    };
    if (receipt->json && receipt->all)
        receipt->ids = json_array();
    return !receipt->json || !receipt->all || receipt->ids || no_memory(error);
}

bool receipt_add(struct receipt *receipt, const struct engine_created *created, size_t count,
                 struct error *error) {
    if (count == 0)
        return true;
    receipt->first = receipt->count == 0 ? created[0].id : receipt->first;
    receipt->last = created[count - 1].id;
    receipt->count += (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        receipt->kept += created[i].creation == CREATION_KEPT;
        receipt->replaced += created[i].creation == CREATION_REPLACED;
    }
    for (size_t i = 0; receipt->all && i < count; i++)
        if (!receipt->json)
            output_add("%lld\n", (long long)created[i].id);
        else if (json_array_append_new(receipt->ids, json_integer(created[i].id)) != 0)
            return no_memory(error);
    return true;
}

/* The one job that was asked for. */
static enum creation single_creation(const struct receipt *receipt) {
    return receipt->kept ? CREATION_KEPT : receipt->replaced ? CREATION_REPLACED : CREATION_CREATED;
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

static bool document_print(const struct receipt *receipt, struct error *error) {
    if (receipt->single)
        return output_json(json_pack("{sI ss}", "id", (json_int_t)receipt->first, "outcome",
                                     creation_name(single_creation(receipt))),
                           error);
    bool any = receipt->count > 0;
    json_t *document =
        json_pack("{sI so so sI sI}", "count", (json_int_t)receipt->count, "first",
                  any ? json_integer(receipt->first) : json_null(), "last",
                  any ? json_integer(receipt->last) : json_null(), "kept",
                  (json_int_t)receipt->kept, "replaced", (json_int_t)receipt->replaced);
    bool fine =
        document &&
        (!receipt->skips || json_put(document, "skipped", json_integer(receipt->skipped))) &&
        (!receipt->all || json_put(document, "ids", json_incref(receipt->ids)));
    if (fine)
        return output_json(document, error);
    json_decref(document);
    return no_memory(error);
}

bool receipt_print(struct receipt *receipt, struct error *error) {
    if (receipt->json)
        return document_print(receipt, error);
    uncreated_say(receipt);
    if (receipt->all)
        return true;
    if (receipt->single)
        output_add("%lld\n", (long long)receipt->first);
    else if (receipt->count == 0)
        output_add("0 - -\n");
    else
        output_add("%lld %lld %lld\n", (long long)receipt->count, (long long)receipt->first,
                   (long long)receipt->last);
    return true;
}

void receipt_clear(struct receipt *receipt) {
    json_decref(receipt->ids);
    receipt->ids = NULL;
}
