#include "store/rules/process/message.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "store/rules/ground/lasting.h"
#include "store/rules/process/order.h"
#include "store/rules/process/subscription.h"
#include <stdlib.h>
#include <string.h>

/* "instance 7 at "wait", instance 9 at "wait"": the first of them. */
static void candidates_add(struct text *words, const json_t *list) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
        if (i < 3 && json_int(one, "instance"))
            text_add(words, "%sinstance %lld at \"%s\"", i ? ", " : "",
                     (long long)json_int(one, "instance"), json_text(one, "activity"));
        else if (i < 3)
            text_add(words, "%sthe start of \"%s\"", i ? ", " : "", json_text(one, "process"));
}

static bool message_refuse(const struct unit_message *one, const json_t *list,
                           struct error *error) {
    size_t count = json_array_size(list);
    struct text words = {0};
    const char *key = one->key && *one->key ? one->key : NULL;
    text_add(&words, "message \"%s\"%s%s%s: ", one->name, key ? " with key \"" : "", key ? key : "",
             key ? "\"" : "");
    if (count)
        text_add(&words, "%zu wait for it: ", count);
    else
        text_add(&words, "nothing waits for it");
    candidates_add(&words, list);
    error_set(error, count ? ERROR_CONFLICT : ERROR_NOT_FOUND, "%s",
              words.data ? words.data : one->name);
    text_clear(&words);
    return false;
}

static struct message_to to_of(const struct unit_message *one) {
    return (struct message_to){.name = one->name,
                               .key = one->key,
                               .instance = one->instance,
                               .business_key = one->business_key};
}

/* YES: *receiver is the only one, a new reference. NO: nothing waits for it, and it is to be kept.
 * FAILED: error, or it is refused. */
static enum answer receiver_of(struct store *store, const struct unit_message *one,
                               json_t **receiver, struct error *error) {
    const struct message_to to = to_of(one);
    json_t *list = subscription_receivers(store, &to, error);
    size_t count = json_array_size(list);
    enum answer found = count ? YES : NO;
    if (!list)
        found = FAILED;
    if (list && (count > 1 || (!count && one->until == TIME_NONE))) {
        message_refuse(one, list, error);
        found = FAILED;
    }
    *receiver = found == YES ? json_incref(json_array_get(list, 0)) : NULL;
    json_decref(list);
    return found;
}

bool message_check(struct store *store, const struct unit_message *one, struct error *error) {
    json_t *receiver;
    if (one->taken)
        return true;
    enum answer found = receiver_of(store, one, &receiver, error);
    json_decref(receiver);
    return found != FAILED;
}

/* ---- rows of kept messages ---- */

enum { PURGED = 100 }; /* of those whose time is over, whenever one is kept */

/* Rows that are kept to be written together are so behind one purge. */
static bool purge(struct store *store, time_ms now, struct error *error) {
    int64_t room = PURGED;
    return store->unit_rows.of[ROWS_KEPT].count || messages_clean(store, &room, now, error);
}

/* `job` 0: nothing brings it yet. */
static bool row_write(struct store *store, const struct unit_message *one, int64_t id, int64_t job,
                      time_ms now, struct error *error) {
    if (one->id)
        return db_run(&store->db, error, "UPDATE kept_message SET job=?2 WHERE id=?1", "iz", id,
                      job);
    store->kept = 1;
    return purge(store, now, error) &&
           unit_row(store, error, ROWS_KEPT,
                    "INSERT INTO kept_message(" KEPT_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    "ittzttiiz", id, one->name, one->key ? one->key : "", one->instance,
                    one->business_key, one->variables, now, one->until, job);
}

static bool row_remove(struct store *store, int64_t id, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM kept_message WHERE id=?1", "i", id) &&
           CRASH_POINT("message_taken");
}

/* After its time it is kept no longer. */
static bool message_keep(struct store *store, const struct unit_message *one, time_ms now,
                         struct error *error) {
    if (one->id && one->until <= now)
        return row_remove(store, one->id, error);
    return row_write(store, one, one->id ? one->id : meta_id(store), 0, now, error) &&
           CRASH_POINT("message_kept");
}

/* The row that the message has or gets while a job brings it; 0: none. */
static int64_t row_of(struct store *store, const struct unit_message *one) {
    if (one->id || one->until == TIME_NONE)
        return one->id;
    return meta_id(store);
}

/* ---- the job that brings a message ---- */

/* What the job has of the message, so that it can be sent anew if its receiver waits no longer. */
static json_t *letter_of(const struct unit_message *one, int64_t id) {
    json_t *letter = json_pack("{ss ss* ss*}", "name", one->name, "key", one->key, "business_key",
                               one->business_key);
    bool fine = letter && (!one->instance ||
                           json_put(letter, "instance", json_integer((json_int_t)one->instance)));
    fine = fine && (one->until == TIME_NONE ||
                    json_put(letter, "until", json_integer((json_int_t)one->until)));
    fine = fine && (!id || json_put(letter, "id", json_integer((json_int_t)id)));
    return json_kept(letter, fine);
}

/* The variables of a message. What cannot be read has another *key, by which the job fails. */
static json_t *variables_of(const struct unit_message *one, const char **key) {
    json_t *variables = json_read(one->variables, strlen(one->variables), "variables", NULL);
    if (json_is_object(variables))
        return variables;
    json_decref(variables);
    *key = "unreadable";
    return json_true();
}

/* What the walk of the job is told; see lua/moonshift/process/commands.lua. */
static json_t *cause_of(const struct unit_message *one, const json_t *receiver) {
    const char *key = "variables";
    json_t *variables = one->variables ? variables_of(one, &key) : NULL;
    int64_t instance = json_int(receiver, "instance");
    if (instance)
        return json_pack("{ss sI sO sO so*}", "kind", "message", "instance", (json_int_t)instance,
                         "token", json_object_get(receiver, "token"), "activity",
                         json_object_get(receiver, "activity"), key, variables);
    return json_pack(
        "{ss sO sO ss* so*}", "kind", "start", "version", json_object_get(receiver, "version"),
        "at", json_object_get(receiver, "activity"), "key", one->business_key, key, variables);
}

bool message_order(struct store *store, struct store_order *order, time_ms now,
                   struct error *error) {
    const struct unit_message *one = order->message;
    int64_t id = row_of(store, one);
    json_t *cause = json_copy(json_unchanged(order->cause));
    struct store_order whole = *order;
    whole.cause = cause;
    bool done = (cause && json_put(cause, "message", letter_of(one, id))) ||
                db_no_memory(&store->db, error);
    done = done && order_create(store, &whole, now, error) &&
           (!id || row_write(store, one, id, whole.job, now, error)) &&
           CRASH_POINT("message_given");
    order->job = whole.job;
    json_decref(cause);
    return done;
}

/* Creates the job that gives it to the receiver, which is given back. */
static bool deliver(struct store *store, const struct unit_message *one, json_t *receiver,
                    time_ms now, struct error *error) {
    json_t *cause = cause_of(one, receiver);
    struct store_order order = {.key = json_text(receiver, "process"),
                                .instance = json_int(receiver, "instance"),
                                .activity = json_text(receiver, "activity"),
                                .message = one,
                                .cause = cause};
    bool done = message_order(store, &order, now, error);
    json_decref(cause);
    json_decref(receiver);
    return done;
}

bool message_deliver(struct store *store, const struct unit_message *one, time_ms now,
                     struct error *error) {
    json_t *receiver;
    if (one->taken)
        return row_remove(store, one->id, error);
    enum answer found = receiver_of(store, one, &receiver, error);
    if (found == YES)
        return deliver(store, one, receiver, now, error);
    return found == NO && message_keep(store, one, now, error);
}

/* YES: any message is kept. */
static enum answer kept_any(struct store *store, struct error *error) {
    int64_t some = 0;
    if (store->kept < 0) {
        if (db_value(&store->db, error, &some, "SELECT 1 FROM kept_message LIMIT 1", "") == FAILED)
            return FAILED;
        store->kept = some != 0;
    }
    return store->kept ? YES : NO;
}

/* YES: nothing waits for the message. */
static enum answer is_unwaited(const struct unit_message *one, const json_t *receivers,
                               struct error *error) {
    if (json_array_size(receivers) < 2)
        return json_array_size(receivers) ? NO : YES;
    return message_refuse(one, receivers, error) ? YES : FAILED;
}

/* What waits for each, as lists. NULL: error. */
static json_t *receivers_of(struct store *store, const struct unit_message *list, size_t count,
                            struct error *error) {
    struct message_to *to = malloc((count + 1) * sizeof *to);
    json_t *lists = NULL;
    for (size_t i = 0; to && i < count; i++)
        to[i] = to_of(&list[i]);
    if (!to)
        db_no_memory(&store->db, error);
    else if (store->engine->sets)
        lists = subscription_receivers_many(store, to, count, error);
    else
        lists = json_pack("[o]", subscription_receivers(store, to, error));
    free(to);
    return lists;
}

static enum answer keep_all(struct store *store, const struct unit_message *list, size_t count,
                            size_t *at, time_ms now, struct error *error) {
    json_t *lists = receivers_of(store, list, count, error);
    enum answer kept = lists ? YES : FAILED;
    for (size_t i = 0; kept == YES && i < count; i++, *at += kept == YES) {
        kept = is_unwaited(&list[i], json_array_get(lists, i), error);
        if (kept == YES && !message_keep(store, &list[i], now, error))
            kept = FAILED;
    }
    json_decref(lists);
    return kept;
}

enum answer store_messages_keep(struct store *store, const struct unit_message *list, size_t count,
                                size_t *at, time_ms now, struct error *error) {
    const size_t step = store->engine->sets ? count : 1;
    enum answer kept = YES;
    for (*at = 0; kept == YES && *at < count;)
        kept = keep_all(store, list + *at, step, at, now, error);
    return kept;
}

/* ---- what is kept finds a receiver ---- */

#define KEPT "m.id, m.name, m.key, m.instance, m.business_key, m.variables, m.until"

/* Makes texts lasting; NULL stays NULL. False: no memory. */
static bool texts_keep(struct store *store, const char **const *texts, size_t count,
                       struct error *error) {
    for (size_t i = 0; i < count; i++) {
        const char **text = texts[i];
        if (*text && !(*text = txn_text(store, *text, error).text))
            return false;
    }
    return true;
}

/* Reads a row of KEPT; its texts are the transaction's. */
static enum answer kept_read(struct store *store, struct row *row, struct unit_message *one,
                             struct error *error) {
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    *one = (struct unit_message){.id = row_int(row, 0),
                                 .name = row_text(row, 1),
                                 .key = row_text(row, 2),
                                 .instance = row_int(row, 3),
                                 .business_key = row_text(row, 4),
                                 .variables = row_text(row, 5),
                                 .until = row_int(row, 6)};
    const char **const texts[] = {&one->name, &one->key, &one->business_key, &one->variables};
    bool kept = texts_keep(store, texts, sizeof texts / sizeof *texts, error);
    row_done(row);
    return kept ? YES : FAILED;
}

/* The oldest that is kept for the subscription, and that nothing brings to another one. */
static enum answer kept_find(struct store *store, const struct unit_subscription *to,
                             struct unit_message *one, time_ms now, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT " KEPT " FROM kept_message m WHERE m.name=?1"
                 " AND (m.key=?2 OR ?2='') AND m.until>?3 AND (m.instance=?4 OR"
                 " m.instance IS NULL) AND (m.business_key IS NULL OR ?4=0 OR m.business_key="
                 "(SELECT i.key FROM instance i WHERE i.id=?4))"
                 " AND (m.job IS NULL OR NOT EXISTS(SELECT 1 FROM live j WHERE j.id=m.job))"
                 " ORDER BY m.created, m.id LIMIT 1",
                 "ttii", to->name, to->key ? to->key : "", now, to->instance);
    return kept_read(store, row, one, error);
}

bool messages_unbind(struct store *store, int64_t instance, int64_t running, struct error *error) {
    bool done = db_run(&store->db, error,
                       "UPDATE kept_message SET job=0 WHERE job IN (SELECT id FROM job WHERE"
                       " instance_id=?1 AND id<>?2)",
                       "ii", instance, running);
    store->unbound = store->unbound || (done && db_changes(&store->db) > 0);
    return done;
}

/* If several wait for it, it goes on waiting for the next one, as nobody is there to be told. */
static bool offer(struct store *store, const struct unit_message *one, time_ms now,
                  struct error *error) {
    const struct message_to to = to_of(one);
    json_t *list = subscription_receivers(store, &to, error);
    bool found = json_array_size(list) == 1;
    json_t *receiver = found ? json_incref(json_array_get(list, 0)) : NULL;
    bool done = list != NULL;
    json_decref(list);
    if (receiver)
        return deliver(store, one, receiver, now, error);
    return done && message_keep(store, one, now, error);
}

bool messages_offer(struct store *store, time_ms now, struct error *error) {
    struct unit_message one;
    enum answer step = store->unbound ? YES : NO;
    while (step == YES) {
        struct row *row = db_query(&store->db, error,
                                   "SELECT " KEPT " FROM kept_message m WHERE m.job=0 ORDER BY"
                                   " m.created, m.id LIMIT 1",
                                   "");
        step = kept_read(store, row, &one, error);
        if (step == YES && !offer(store, &one, now, error))
            step = FAILED;
    }
    store->unbound = store->unbound && step == FAILED;
    return step == NO;
}

/* As subscription_receivers has it; NULL: error. */
static json_t *receiver_new(struct store *store, const struct unit_subscription *to,
                            struct error *error) {
    json_t *receiver = NULL;
    struct row *row = db_query(&store->db, error, "SELECT key FROM process_version WHERE id=?1",
                               "i", to->version);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES) {
        receiver = json_pack("{sI sI sI ss ss}", "instance", (json_int_t)to->instance, "token",
                             (json_int_t)to->token, "version", (json_int_t)to->version, "activity",
                             to->activity, "process", row_text(row, 0));
        row_done(row);
    }
    if (step == NO)
        error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: no version %lld of a process",
                  store->db.name, (long long)to->version);
    return receiver;
}

bool message_give(struct store *store, const struct unit_subscription *to, time_ms now,
                  struct error *error) {
    struct unit_message one;
    if (strcmp(to->kind, "message") != 0)
        return true;
    enum answer found = kept_any(store, error);
    if (found == YES)
        found = kept_find(store, to, &one, now, error);
    if (found != YES)
        return found == NO;
    json_t *receiver = receiver_new(store, to, error);
    return receiver && deliver(store, &one, receiver, now, error);
}

bool messages_clean(struct store *store, int64_t *room, time_ms now, struct error *error) {
    if (*room < 1)
        return true;
    bool done = db_run(&store->db, error,
                       "DELETE FROM kept_message WHERE id IN (SELECT id FROM kept_message"
                       " WHERE until<=?1 ORDER BY until LIMIT ?2)",
                       "ii", now, *room);
    *room -= done ? db_changes(&store->db) : 0;
    return done;
}
