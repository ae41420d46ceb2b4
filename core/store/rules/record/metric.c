#include "store/rules/record/metric.h"

bool metric_write(struct store *store, int64_t executor, int64_t definition, enum metric metric,
                  int64_t value, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO metric(executor, definition, name, value)"
                  " VALUES(?1, ?2, ?3, ?4) ON CONFLICT(executor, definition, name)"
                  " DO UPDATE SET value=metric.value+?4",
                  "iini", executor, definition, (int)metric, value);
}
