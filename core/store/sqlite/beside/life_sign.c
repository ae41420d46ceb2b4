#include "store/sqlite/beside/life_sign.h"
#include "store/sqlite/turn/gate.h"
#include <stdlib.h>

bool sign_own(const struct store *store, int64_t byte) {
    for (size_t i = 0; i < sqlite_of(store)->signs.count; i++)
        if (sqlite_of(store)->signs.list[i] == byte)
            return true;
    return false;
}

bool sign_take(struct store *store, int64_t byte, struct error *error) {
    struct signs *signs = &sqlite_of(store)->signs;
    if (sign_own(store, byte))
        return true;
    int64_t *list = realloc(signs->list, (signs->count + 1) * sizeof *list);
    if (!list)
        return db_no_memory(&store->db, error);
    signs->list = list;
    if (!gate_take(&sqlite_of(store)->gate, byte, true))
        return error_set(error, ERROR_IO, "store \"%s\": cannot lock \"%s-gate\"", store->db.name,
                         store->db.name);
    list[signs->count++] = byte;
    return true;
}

void sign_drop(struct store *store, int64_t byte) {
    struct signs *signs = &sqlite_of(store)->signs;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->list[i] == byte) {
            signs->list[i] = signs->list[--signs->count];
            gate_drop(&sqlite_of(store)->gate, byte);
            return;
        }
}

void sign_drop_after(struct store *store, int64_t byte) {
    sqlite_of(store)->signs.ending = byte;
}

static void sign_committed(struct store *store) {
    sign_drop(store, sqlite_of(store)->signs.ending);
    sqlite_of(store)->signs.ending = 0;
}

static void sign_rolled_back(struct store *store) {
    sqlite_of(store)->signs.ending = 0;
}

const struct txn_hook sign_hook = {.committed = sign_committed, .drop = sign_rolled_back};

void sign_clear(struct store *store) {
    free(sqlite_of(store)->signs.list);
    sqlite_of(store)->signs = (struct signs){0};
}

bool sign_alive(const struct store *store, int64_t byte) {
    return sign_own(store, byte) || !gate_free(&sqlite_of(store)->gate, byte);
}
