#include "store/rules/process/signal_ahead.h"
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

static void forget_all(struct store *store) {
    free(store->signals.list);
    store->signals = (struct signals_ahead){0};
}

/* What names its receiver asks for none, and of messages more than the name counts. */
static bool asks_for_all(const struct unit_signal *one) {
    return !one->token && !one->message;
}

bool signal_unheard(const struct store *store, const struct unit_signal *one) {
    const struct signal_ahead *known = asks_for_all(one) ? find(store, one->name) : NULL;
    return known && known->unheard;
}

void signals_ahead_forget(struct store *store, const char *name) {
    struct signal_ahead *known = find(store, name);
    if (known)
        known->unheard = false;
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

const struct txn_hook signals_ahead_hook = {.committed = forget_all, .drop = forget_all};
