#include "store/rules/process/signal_ahead.h"
#include "base/json.h"
#include "store/rules/ground/bulk_rows.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/state.h"
#include <stdlib.h>
#include <string.h>

static int name_order(const void *left, const void *right) {
    return strcmp(((const struct signal_ahead *)left)->name,
                  ((const struct signal_ahead *)right)->name);
}

static struct signal_ahead *find(const struct store *store, const char *name) {
    const struct signals_ahead *ahead = &store->signals;
    const struct signal_ahead key = {.name = name};
    return ahead->count ? bsearch(&key, ahead->list, ahead->count, sizeof key, name_order) : NULL;
}

/* What names its receiver asks for none, and of messages more than the name counts. */
static bool asks_for_all(const struct unit_signal *one) {
    return !one->token && !one->message;
}

/* ---- receivers ---- */

/* It owns its texts: the unit of a letter is gone before the transaction that it shares. */
struct signal_heard {
    struct signal_heard *next;
    struct unit_signal signal;
    char *name, *tenant;
    json_t *receivers;
    int64_t catalog; /* a suspension changes it */
};

static bool same_text(const char *one, const char *other) {
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* True if both ask for the same. */
static bool same_signal(const struct unit_signal *one, const struct unit_signal *other) {
    return strcmp(one->name, other->name) == 0 && same_text(one->tenant, other->tenant) &&
           one->until == other->until && one->only == other->only && one->after == other->after &&
           one->after_token == other->after_token;
}

const json_t *signal_heard_find(const struct store *store, const struct unit_signal *one) {
    const struct signal_heard *heard = asks_for_all(one) ? store->signals.heard : NULL;
    while (heard && !(heard->catalog == store->meta.catalog && same_signal(&heard->signal, one)))
        heard = heard->next;
    return heard ? heard->receivers : NULL;
}

static void heard_free(struct signal_heard *heard) {
    json_decref(heard->receivers);
    free(heard->name);
    free(heard->tenant);
    free(heard);
}

/* NULL: no memory. */
static struct signal_heard *heard_new(const struct unit_signal *one) {
    struct signal_heard *heard = calloc(1, sizeof *heard);
    if (!heard)
        return NULL;
    heard->name = strdup(one->name);
    heard->tenant = one->tenant ? strdup(one->tenant) : NULL;
    heard->signal = (struct unit_signal){.name = heard->name,
                                         .tenant = heard->tenant,
                                         .until = one->until,
                                         .only = one->only,
                                         .after = one->after,
                                         .after_token = one->after_token};
    if (heard->name && (heard->tenant || !one->tenant))
        return heard;
    heard_free(heard);
    return NULL;
}

bool signal_heard_note(struct store *store, const struct unit_signal *one, json_t *receivers,
                       struct error *error) {
    struct signal_heard *heard = asks_for_all(one) ? heard_new(one) : NULL;
    if (!heard)
        return !asks_for_all(one) || db_no_memory(&store->db, error);
    heard->next = store->signals.heard;
    heard->receivers = json_incref(receivers);
    heard->catalog = store->meta.catalog;
    store->signals.heard = heard;
    return true;
}

/* Takes out the one that is pointed to. */
static void take_out(struct signal_heard **at) {
    struct signal_heard *heard = *at;
    *at = heard->next;
    heard_free(heard);
}

static bool is_receiver(const json_t *receivers, int64_t instance) {
    size_t i;
    json_t *one;
    json_array_foreach(receivers, i, one)
        if (json_int(one, "instance") == instance)
            return true;
    return false;
}

static void forget_name(struct store *store, const char *name) {
    for (struct signal_heard **at = &store->signals.heard; *at;)
        if (strcmp((*at)->name, name) == 0)
            take_out(at);
        else
            at = &(*at)->next;
}

void signals_ahead_left(struct store *store, int64_t instance) {
    for (struct signal_heard **at = &store->signals.heard; *at;)
        if (is_receiver((*at)->receivers, instance))
            take_out(at);
        else
            at = &(*at)->next;
}

void signals_ahead_forget_heard(struct store *store) {
    while (store->signals.heard)
        take_out(&store->signals.heard);
}

static void forget_all(struct store *store) {
    signals_ahead_forget_heard(store);
    free(store->signals.list);
    store->signals = (struct signals_ahead){0};
}

bool signal_unheard(const struct store *store, const struct unit_signal *one) {
    const struct signal_ahead *known = asks_for_all(one) ? find(store, one->name) : NULL;
    return known && known->unheard;
}

void signals_ahead_forget(struct store *store, const char *name) {
    struct signal_ahead *known = find(store, name);
    if (known)
        known->unheard = false;
    forget_name(store, name);
}

/* ---- asking ---- */

static size_t count_signals(struct outcome *const *outcomes, size_t count) {
    size_t signals = 0;
    for (size_t i = 0; i < count; i++)
        signals += outcomes[i]->unit ? outcomes[i]->unit->signal_count : 0;
    return signals;
}

/* Each name once, in order. */
static void collect(struct signals_ahead *ahead, struct outcome *const *outcomes, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; outcomes[i]->unit && j < outcomes[i]->unit->signal_count; j++)
            if (asks_for_all(&outcomes[i]->unit->signals[j]))
                ahead->list[ahead->count++].name = outcomes[i]->unit->signals[j].name;
    qsort(ahead->list, ahead->count, sizeof *ahead->list, name_order);
    for (size_t i = 0; i < ahead->count; i++)
        if (!kept || name_order(&ahead->list[kept - 1], &ahead->list[i]) != 0)
            ahead->list[kept++] = ahead->list[i];
    ahead->count = kept;
}

/* Rows are the numbers of those that something waits for. */
static bool ask(struct store *store, struct error *error) {
    struct signals_ahead *ahead = &store->signals;
    struct kept_rows rows = {.letters = "it", .count = ahead->count};
    enum answer step = FAILED;
    rows.cells = calloc(2 * ahead->count, sizeof *rows.cells);
    if (!rows.cells)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < ahead->count; i++) {
        rows.cells[2 * i].number = (int64_t)i;
        rows.cells[2 * i + 1].text = ahead->list[i].name;
        ahead->list[i].unheard = true;
    }
    struct row *row = store->engine->asked_rows(store, ASKED_SIGNALS, &rows, error);
    while ((step = db_step(&store->db, row, error)) == YES)
        ahead->list[row_int(row, 0)].unheard = false;
    free(rows.cells);
    return step == NO;
}

enum { LEAST = 2 }; /* one is asked for by itself */

/* Units last until their transaction has ended, and so do their texts. */
bool signals_ahead_ask(struct store *store, struct outcome *const *outcomes, size_t count,
                       struct error *error) {
    const size_t signals = count_signals(outcomes, count);
    forget_all(store);
    if (!store->engine->sets || signals < LEAST)
        return true;
    store->signals.list = calloc(signals, sizeof *store->signals.list);
    if (!store->signals.list)
        return db_no_memory(&store->db, error);
    collect(&store->signals, outcomes, count);
    bool done = !store->signals.count || ask(store, error);
    if (!done)
        forget_all(store);
    return done;
}

const struct txn_hook signals_ahead_hook = {
    .committed = forget_all, .drop = forget_all, .parts = true};
