/* crash_slots.c - the file in which the workers of an executor note what they run, in its state
 * directory on its own machine (rules §8, store/rules/fleet/slots.h).
 *
 * The executor says in the store where its file is. A file that is there and that no process holds
 * proves that its executor is dead. Any executor that sees the file may count the crash; on other
 * machines there is no such file. Its name has the instant at which the executor joined, as numbers
 * begin anew with the tables. */
#include "store/postgres/beside/crash_slots.h"
#include "base/log.h"
#include "store/postgres/beside/presence.h"
#include "store/postgres/db/connection.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the state directory of this process. */
static void name_put(const struct store *store, struct slots_name *name, int64_t id,
                     time_ms joined) {
    *name = (struct slots_name){.path = postgres_of(store)->state_dir};
    snprintf(name->suffix, sizeof name->suffix, "/moonshift-%08x-%lld-slots-%lld",
             (unsigned)postgres_of(store)->class, (long long)joined, (long long)id);
}

struct place {
    char folder[PATH_MAX];
    struct slots_name name;
};

static bool place_put(struct place *place, const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    size_t size = slash ? (size_t)(slash - path) : 0;
    place->name = (struct slots_name){.path = place->folder};
    if (!slash || size >= sizeof place->folder || strlen(slash) >= sizeof place->name.suffix)
        return false;
    snprintf(place->folder, sizeof place->folder, "%.*s", (int)size, path);
    snprintf(place->name.suffix, sizeof place->name.suffix, "%s", slash);
    return true;
}

/* Where this executor has said that its slots are. False: it has none, or cannot be asked for. */
static bool place_find(struct store *store, int64_t id, struct place *place) {
    struct row *row =
        db_query(&store->db, NULL, "SELECT slots FROM program WHERE executor=?1", "i", id);
    if (db_step(&store->db, row, NULL) != YES)
        return false;
    bool found = place_put(place, row_text(row, 0));
    row_done(row);
    return found;
}

/* ---- those of the dead ---- */

/* Is the file one of this store, whose executor is neither alive nor to be reaped? NO: it stays. */
static enum answer is_left(struct store *store, const char *file, struct slots_name *name,
                           struct error *error) {
    unsigned class = 0;
    long long joined = 0, id = 0;
    int64_t there = 0;
    if (sscanf(file, "moonshift-%8x-%lld-slots-%lld", &class, &joined, &id) != 3)
        return NO;
    name_put(store, name, id, joined);
    if (strcmp(file, name->suffix + 1) != 0 || slots_life(name) != SLOTS_FREE)
        return NO;
    enum answer found = db_value(&store->db, error, &there,
                                 "SELECT 1 FROM executor WHERE id=?1 AND started=?2 AND state<>0",
                                 "ii", (int64_t)id, (int64_t)joined);
    return answer_not(found);
}

/* Executors join one after the other, so no file is being made at this moment. */
static bool remove_left(struct store *store, struct error *error) {
    DIR *list = opendir(postgres_of(store)->state_dir);
    enum answer left = NO;
    struct slots_name name;
    for (struct dirent *entry; list && left != FAILED && (entry = readdir(list));) {
        left = is_left(store, entry->d_name, &name, error);
        if (left == YES)
            slots_remove(&name);
    }
    if (list)
        closedir(list);
    return left != FAILED;
}

/* ---- its own ---- */

static bool state_dir_find(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    free(postgres->state_dir);
    postgres->state_dir = realpath(store->settings->state_dir, NULL);
    return postgres->state_dir || error_set(error, ERROR_IO, "%s", strerror(errno));
}

bool crash_slots_enter(struct store *store, int64_t id, int workers, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    struct error why = {0};
    time_ms joined = 0;
    if (workers < 1 || !store->settings || !store->settings->state_dir)
        return true;
    if (db_value(&store->db, error, &joined, "SELECT started FROM executor WHERE id=?1", "i", id) !=
        YES)
        return false;
    if (state_dir_find(store, &why)) {
        name_put(store, &postgres->slots_name, id, joined);
        if (slots_make(&postgres->slots, &postgres->slots_name, workers + 1, &why))
            return remove_left(store, error);
    }
    log_event(LOG_WARN, "crashes are not counted", "state_dir:s reason:s expected:s",
              store->settings->state_dir, why.text, "a folder that can be written");
    return true;
}

const char *crash_slots_path(const struct store *store, char *path, size_t size) {
    const struct postgres *postgres = postgres_of(store);
    if (!postgres->slots.list)
        return NULL;
    snprintf(path, size, "%s%s", postgres->state_dir, postgres->slots_name.suffix);
    return path;
}

void crash_slots_quit(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    if (!postgres->slots.list)
        return;
    slots_close(&postgres->slots);
    slots_remove(&postgres->slots_name);
}

/* ---- those of any executor ---- */

enum slots_life crash_slots_life(struct store *store, int64_t executor) {
    struct place place;
    return place_find(store, executor, &place) ? slots_life(&place.name) : SLOTS_NONE;
}

bool postgres_running(struct store *store, int64_t executor, struct running *running) {
    struct place place;
    *running = (struct running){.alive = TIME_NONE};
    if (place_find(store, executor, &place) && !slots_read(running, &place.name))
        return false;
    running->vanished = running->alive == TIME_NONE;
    running->missed = clock_monotonic() >= postgres_connected(store) + DEAD_AFTER;
    return true;
}

void postgres_alive(struct store *store, time_ms now) {
    slots_alive(&postgres_of(store)->slots, now);
}

void postgres_slot_set(struct store *store, int index, int64_t job, int64_t token, time_ms now) {
    slots_set(&postgres_of(store)->slots, index, job, token, now);
}

void postgres_slot_clear(struct store *store, int index) {
    slots_set(&postgres_of(store)->slots, index, 0, 0, 0);
}
