#include "store/sqlite/sign.h"
#include <stdlib.h>

static bool no_memory(const struct store *store, struct error *error) {
    return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
}

bool sign_own(const struct store *store, int64_t byte) {
    for (size_t i = 0; i < store->signs.count; i++)
        if (store->signs.list[i] == byte)
            return true;
    return false;
}

bool sign_take(struct store *store, int64_t byte, struct error *error) {
    struct signs *signs = &store->signs;
    if (sign_own(store, byte))
        return true;
    int64_t *list = realloc(signs->list, (signs->count + 1) * sizeof *list);
    if (!list)
        return no_memory(store, error);
    signs->list = list;
    if (!gate_take(&store->gate, byte, true))
        return error_set(error, ERROR_IO, "store \"%s\": cannot lock \"%s-gate\"", store->db.name,
                         store->db.name);
    list[signs->count++] = byte;
    return true;
}

void sign_drop(struct store *store, int64_t byte) {
    struct signs *signs = &store->signs;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->list[i] == byte) {
            signs->list[i] = signs->list[--signs->count];
            gate_drop(&store->gate, byte);
            return;
        }
}

void sign_drop_after(struct store *store, int64_t byte) {
    store->signs.ending = byte;
}

void sign_committed(struct store *store) {
    sign_drop(store, store->signs.ending);
    store->signs.ending = 0;
}

void sign_clear(struct store *store) {
    free(store->signs.list);
    store->signs = (struct signs){0};
}

bool sign_alive(const struct store *store, int64_t byte) {
    return sign_own(store, byte) || !gate_free(&store->gate, byte);
}
