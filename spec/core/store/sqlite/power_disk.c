#include "power_disk.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 16, SECTOR = 512 };

struct disk_change { /* since the last sync */
    int64_t at;      /* of a write; else the new length */
    size_t size;
    unsigned char *data; /* NULL: a change of length */
};

struct disk_file {
    char path[256];
    bool used, removed, named; /* removed: but maybe not on the disk; named: the name is safe */
    unsigned char *safe;
    size_t size, room;
    struct disk_change *changes;
    size_t count, changes_room;
};

/* How a cut treats what was not synced. */
enum fate { FATE_ALL, FATE_NOTHING, FATE_PREFIX, FATE_MIXED, FATE_SHUFFLED, FATES };

volatile int disk_busy; /* the compiler believes that malloc looks at nothing */
static struct disk_file files[FILES];

uint64_t chance(uint64_t *state) {
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

int chance_of(uint64_t *state, int of) {
    return (int)(chance(state) % (uint64_t)of);
}

static void *disk_room(void *block, size_t *room, size_t wanted, size_t each) {
    if (wanted <= *room)
        return block;
    *room = wanted + wanted / 2 + 64;
    disk_busy++;
    block = realloc(block, *room * each);
    disk_busy--;
    if (!block)
        abort();
    return block;
}

static void disk_drop_changes(struct disk_file *file) {
    for (size_t i = 0; i < file->count; i++)
        free(file->changes[i].data);
    file->count = 0;
}

static void disk_clear(struct disk_file *file) {
    disk_drop_changes(file);
    free(file->changes);
    free(file->safe);
    *file = (struct disk_file){0};
}

void disk_forget(void) {
    for (int i = 0; i < FILES; i++)
        disk_clear(&files[i]);
}

static void disk_resize(struct disk_file *file, size_t size) {
    file->safe = disk_room(file->safe, &file->room, size, 1);
    if (size > file->size)
        memset(file->safe + file->size, 0, size - file->size);
    file->size = size;
}

static void disk_put(struct disk_file *file, const void *data, size_t size, size_t at) {
    if (at + size > file->size)
        disk_resize(file, at + size);
    memcpy(file->safe + at, data, size);
}

struct disk_file *disk_find(const char *path) {
    for (int i = 0; i < FILES; i++)
        if (files[i].used && strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}

static bool disk_load(struct disk_file *file) {
    struct stat is;
    int live = open(file->path, O_RDONLY | O_CLOEXEC);
    bool done = live >= 0 && fstat(live, &is) == 0;
    if (done) {
        disk_resize(file, (size_t)is.st_size);
        done = read(live, file->safe, file->size) == (ssize_t)file->size;
    }
    if (live >= 0)
        close(live);
    return done;
}

struct disk_file *disk_open(const char *path, bool created) {
    struct disk_file *file = disk_find(path);
    if (file) {
        if (created && file->removed)
            disk_truncate(file, 0);
        file->removed = false;
        return file;
    }
    for (int i = 0; i < FILES && !file; i++)
        if (!files[i].used)
            file = &files[i];
    if (!file)
        abort();
    file->used = true;
    file->named = !created;
    snprintf(file->path, sizeof file->path, "%s", path);
    if (!created && !disk_load(file))
        abort();
    return file;
}

static struct disk_change *disk_change(struct disk_file *file) {
    file->changes =
        disk_room(file->changes, &file->changes_room, file->count + 1, sizeof *file->changes);
    return &file->changes[file->count++];
}

void disk_write(struct disk_file *file, const void *data, size_t size, int64_t at) {
    disk_busy++;
    unsigned char *copy = malloc(size + !size);
    disk_busy--;
    if (!copy)
        abort();
    memcpy(copy, data, size);
    *disk_change(file) = (struct disk_change){at, size, copy};
}

void disk_truncate(struct disk_file *file, int64_t size) {
    *disk_change(file) = (struct disk_change){size, 0, NULL};
}

static void disk_apply(struct disk_file *file, const struct disk_change *change) {
    if (change->data)
        disk_put(file, change->data, change->size, (size_t)change->at);
    else
        disk_resize(file, (size_t)change->at);
}

void disk_sync(struct disk_file *file) {
    for (size_t i = 0; i < file->count; i++)
        disk_apply(file, &file->changes[i]);
    disk_drop_changes(file);
}

void disk_sync_directory(void) {
    for (int i = 0; i < FILES; i++)
        if (files[i].removed)
            disk_clear(&files[i]);
        else
            files[i].named = true;
}

void disk_remove(struct disk_file *file) {
    if (file->named)
        file->removed = true;
    else
        disk_clear(file);
}

/* ---- the cut ---- */

/* Some of its sectors: the first ones, or any. */
static void survive_torn(struct disk_file *file, const struct disk_change *change, uint64_t *seed) {
    int sectors = (int)((change->size + SECTOR - 1) / SECTOR);
    int first = chance_of(seed, sectors + 1);
    bool any = chance_of(seed, 2);
    for (int i = 0; i < sectors; i++) {
        size_t from = (size_t)i * SECTOR;
        size_t size = change->size - from < SECTOR ? change->size - from : SECTOR;
        if (any ? chance_of(seed, 2) : i < first)
            disk_put(file, change->data + from, size, (size_t)change->at + from);
    }
}

static void survive_noise(struct disk_file *file, const struct disk_change *change,
                          uint64_t *seed) {
    unsigned char *noise = malloc(change->size + 8);
    if (!noise)
        abort();
    for (size_t i = 0; i < change->size; i += 8) {
        uint64_t bits = chance(seed);
        memcpy(noise + i, &bits, 8);
    }
    int from = chance_of(seed, (int)change->size);
    int size = 1 + chance_of(seed, (int)change->size - from);
    disk_put(file, change->data, change->size, (size_t)change->at);
    disk_put(file, noise + from, (size_t)size, (size_t)change->at + (size_t)from);
    free(noise);
}

/* Nothing of it, though the file may have grown already. */
static void survive_not(struct disk_file *file, const struct disk_change *change, uint64_t *seed) {
    size_t end = (size_t)change->at + change->size;
    if (change->data && end > file->size && chance_of(seed, 2))
        disk_resize(file, end);
}

static void survive_by_chance(struct disk_file *file, const struct disk_change *change,
                              uint64_t *seed) {
    int lot = chance_of(seed, 8);
    if (!change->data || !change->size)
        lot = lot & 1 ? 0 : 7;
    if (lot < 3)
        disk_apply(file, change);
    else if (lot == 3)
        survive_torn(file, change, seed);
    else if (lot == 4)
        survive_noise(file, change, seed);
    else
        survive_not(file, change, seed);
}

static void survive_shuffle(struct disk_file *file, uint64_t *seed) {
    for (size_t i = file->count; i > 1; i--) {
        size_t other = (size_t)chance_of(seed, (int)i);
        struct disk_change change = file->changes[other];
        file->changes[other] = file->changes[i - 1];
        file->changes[i - 1] = change;
    }
}

static void survive_changes(struct disk_file *file, enum fate fate, uint64_t *seed) {
    size_t prefix = (size_t)chance_of(seed, (int)file->count + 1);
    if (fate == FATE_SHUFFLED)
        survive_shuffle(file, seed);
    for (size_t i = 0; i < file->count; i++)
        if (fate == FATE_ALL || (fate == FATE_PREFIX && i < prefix))
            disk_apply(file, &file->changes[i]);
        else if (fate == FATE_PREFIX && i == prefix && file->changes[i].data)
            survive_torn(file, &file->changes[i], seed);
        else if (fate >= FATE_MIXED)
            survive_by_chance(file, &file->changes[i], seed);
    disk_drop_changes(file);
}

static bool survive_file(struct disk_file *file, const char *directory) {
    char path[sizeof file->path];
    const char *name = strrchr(file->path, '/');
    if ((size_t)snprintf(path, sizeof path, "%s%s", directory, name ? name : "") >= sizeof path)
        return false;
    memcpy(file->path, path, sizeof path);
    int live = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool done = live >= 0 && write(live, file->safe, file->size) == (ssize_t)file->size;
    if (live >= 0)
        close(live);
    file->named = true;
    return done;
}

bool disk_survive(const char *directory, uint64_t seed) {
    enum fate fate = (enum fate)chance_of(&seed, FATES);
    bool done = true;
    for (int i = 0; i < FILES; i++) {
        struct disk_file *file = &files[i];
        if (!file->used)
            continue;
        bool there = file->removed ? chance_of(&seed, 2) : file->named || chance_of(&seed, 2);
        survive_changes(file, fate, &seed);
        file->removed = false;
        if (there)
            done = survive_file(file, directory) && done;
        else
            disk_clear(file);
    }
    return done;
}
