#include "store/rules/record/metric.h"

bool metric_write(struct store *store, int64_t executor, int64_t definition, enum metric metric,
                  int64_t value, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO metric(executor, definition, name, value)"
                  " VALUES(?1, ?2, ?3, ?4) ON CONFLICT(executor, definition, name)"
                  " DO UPDATE SET value=metric.value+?4",
                  "iini", executor, definition, (int)metric, value);
}

bool store_metric_add(struct store *store, int64_t definition, enum metric metric, int64_t value,
                      struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done = metric_write(store, store->self.id, definition, metric, value, error);
    return unit_end(store, own, done, error);
}
