#include "store/sqlite/operation.h"

bool operation_write(struct store *store, const char *verb, const char *entity, int count,
                     const char *before, const char *after, time_ms now, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO operation(at, who, verb, entity, count, old, new)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                  "itttntt", now, store->settings->who, verb, entity, count, before, after);
}
