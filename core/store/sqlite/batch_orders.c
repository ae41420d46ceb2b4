/* batch_orders.c - what an operator does to a batch (rules §17). */
#include "store/sqlite/verbs.h"

bool batch_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                   struct error *error) {
    (void)store, (void)step, (void)now;
    return error_set(error, ERROR_NOT_FOUND, "no batch %lld", (long long)order->batch);
}
