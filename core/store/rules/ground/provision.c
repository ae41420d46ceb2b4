#include "store/provision.h"
#include "store/rules/ground/state.h"

bool store_provision(const struct settings *settings, bool creates, struct store_schema *schema,
                     struct error *error) {
    const enum store_mode mode = creates ? STORE_CREATE : STORE_MIGRATE;
    struct store *store = store_open(settings->store, mode, settings, error);
    if (!store)
        return false;
    *schema = store->schema;
    store_close(store);
    return true;
}
