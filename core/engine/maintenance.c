#include "engine/maintenance.h"
#include "job/store_url.h"
#include "store/store.h"

bool engine_backup(const struct settings *settings, const char *file, struct store_backup *backup,
                   struct error *error) {
    struct store *store = store_open(settings->store, STORE_READ, settings, error);
    bool fine = store && store_backup(store, file, backup, error);
    store_close(store);
    return fine;
}

bool engine_restore(const struct settings *settings, const char *file,
                    struct store_restored *restored, struct error *error) {
    char shown[STORE_SHOWN];
    if (store_url_server(settings->store))
        return error_set(
            error, ERROR_CONFIG,
            "store \"%s\": a server is restored by its own tools (expected pg_restore)",
            store_url_show(settings->store, shown));
    return store_restore(file, settings, restored, clock_now(clock_system()), error);
}

json_t *engine_verify(const struct settings *settings, const struct store_heard *heard,
                      struct error *error) {
    struct store *store = store_open(settings->store, STORE_READ, settings, error);
    json_t *findings = store ? store_verify(store, heard, error) : NULL;
    store_close(store);
    return findings;
}

bool engine_provision(const struct settings *settings, bool creates, struct store_schema *schema,
                      struct error *error) {
    return store_provision(settings, creates, schema, error);
}

bool engine_grants(const struct settings *settings, const struct store_roles *roles,
                   struct text *text, struct error *error) {
    return store_grants(settings, roles, text, error);
}

bool engine_functions(const struct settings *settings, const struct store_roles *roles,
                      struct text *text, struct error *error) {
    return store_functions(settings, roles, text, error);
}
