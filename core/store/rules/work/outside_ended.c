#include "store/rules/work/outside_ended.h"
#include "store/rules/record/metric.h"

static bool write(struct store *store, int64_t definition, int64_t successful, int64_t failed,
                  struct error *error) {
    const int64_t worker = store->outside_ended.worker;
    return (!successful ||
            metric_write(store, worker, definition, METRIC_SUCCESSFUL, successful, error)) &&
           (!failed || metric_write(store, worker, definition, METRIC_FAILED, failed, error));
}

static bool flush(struct store *store, struct error *error) {
    struct outside_ended *ended = &store->outside_ended;
    int64_t successful = 0, failed = 0;
    for (int i = 0; i < ended->count; i++) {
        if (!write(store, ended->list[i].definition, ended->list[i].successful,
                   ended->list[i].failed, error))
            return false;
        successful += ended->list[i].successful;
        failed += ended->list[i].failed;
    }
    ended->count = 0;
    return write(store, 0, successful, failed, error); /* the total */
}

static void drop(struct store *store) {
    store->outside_ended.count = 0;
}

const struct txn_hook outside_ended_hook = {.flush = flush,
                                            .drop = drop,
                                            .unruled = true,
                                            .size = sizeof(struct outside_ended),
                                            .at = offsetof(struct store, outside_ended)};

bool outside_ended_add(struct store *store, int64_t worker, int64_t definition, bool successful,
                       struct error *error) {
    struct outside_ended *ended = &store->outside_ended;
    int at = 0;
    while (at < ended->count && ended->list[at].definition != definition)
        at++;
    if (at == OUTSIDE_DEFINITIONS) {
        if (!flush(store, error))
            return false;
        at = 0;
    }
    if (at == ended->count) {
        ended->list[at] = (struct outside_definition){.definition = definition};
        ended->count++;
    }
    ended->worker = worker; /* all sums are over all of them */
    ended->list[at].successful += successful;
    ended->list[at].failed += !successful;
    return true;
}
