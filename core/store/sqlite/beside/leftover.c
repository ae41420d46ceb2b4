/* leftover.c - slots and bells of executors that are gone: who dies without a reaping, or whose
 * reaping dies behind its commit, leaves them behind. */
#include "store/sqlite/beside/bell.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/turn/gate.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The executor whose slots or bell the file is; 0: it is neither. */
static int64_t leftover_owner(const char *name, const char *store) {
    static const char *const kinds[] = {"-slots-", "-bell-"};
    size_t length = strlen(store);
    if (strncmp(name, store, length) != 0)
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *number = name + length + strlen(kinds[i]);
        if (strncmp(name + length, kinds[i], strlen(kinds[i])) == 0 && *number >= '1' &&
            *number <= '9' && strspn(number, "0123456789") == strlen(number) && strlen(number) < 19)
            return strtoll(number, NULL, 10);
    }
    return 0;
}

/* Neither alive nor to be reaped, for which its slots are needed. */
static bool leftover_gone(const struct store *store, int64_t id) {
    for (size_t i = 0; i < store->peers.count; i++)
        if (store->peers.list[i].id == id)
            return false;
    return gate_free(&sqlite_of(store)->gate, GATE_EXECUTORS + id);
}

void leftover_clear(struct store *store, int64_t self) {
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(sqlite_of(store)->path, '/');
    if (slash)
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - sqlite_of(store)->path) + 1,
                 sqlite_of(store)->path);
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        int64_t id = leftover_owner(entry->d_name, slash ? slash + 1 : sqlite_of(store)->path);
        if (id == 0 || id == self || !leftover_gone(store, id))
            continue;
        bell_remove(sqlite_of(store)->path, id);
        struct slots_name slots = slots_beside(sqlite_of(store)->path, id);
        slots_remove(&slots);
    }
    if (list)
        closedir(list);
}
