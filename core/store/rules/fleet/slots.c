#include "store/rules/fleet/slots.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "store/rules/fleet/beside.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MAGIC "moonshift slots 3"

struct slots_head {
    char magic[24];
    char boot[CLOCK_BOOT]; /* the kernel's boot id */
    _Atomic int64_t alive; /* the executor's last sign of life */
    _Atomic int64_t held;  /* see slots_note_held */
    int64_t unused[6];
};

struct slots_name slots_beside(const char *path, int64_t id) {
    struct slots_name name = {.path = path};
    snprintf(name.suffix, sizeof name.suffix, "-slots-%lld", (long long)id);
    return name;
}

/* The room is taken now: a page that finds the disk full later would be a SIGBUS. */
static bool slots_map(struct slots *slots, int file) {
    errno = posix_fallocate(file, 0, (off_t)slots->size);
    if (errno || flock(file, LOCK_EX) != 0)
        return false;
    slots->map = mmap(NULL, slots->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return slots->map != MAP_FAILED;
}

bool slots_make(struct slots *slots, const struct slots_name *name, int count,
                struct error *error) {
    *slots = (struct slots){.count = count};
    slots->size = sizeof(struct slots_head) + (size_t)count * sizeof(struct slot);
    int file = beside_open(name->path, name->suffix, O_RDWR | O_CREAT | O_EXCL, error);
    if (file < 0)
        return *slots = (struct slots){0}, false;
    if (!slots_map(slots, file)) {
        int reason = errno;
        close(file);
        *slots = (struct slots){0};
        return beside_fail(name->path, name->suffix, reason, error);
    }
    slots->file = file;
    CRASH_POINT("slots_mapped");
    struct slots_head *head = slots->map;
    memcpy(head->magic, SLOTS_MAGIC, sizeof SLOTS_MAGIC);
    clock_boot(head->boot);
    slots->list = (struct slot *)(head + 1);
    return true;
}

void slots_close(struct slots *slots) {
    if (slots->list) {
        munmap(slots->map, slots->size);
        close(slots->file);
    }
    *slots = (struct slots){0};
}

void slots_remove(const struct slots_name *name) {
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s%s", name->path, name->suffix) < sizeof path)
        unlink(path);
}

enum slots_life slots_life(const struct slots_name *name) {
    int file = beside_open(name->path, name->suffix, O_RDONLY, NULL);
    if (file < 0)
        return SLOTS_NONE;
    bool held = flock(file, LOCK_SH | LOCK_NB) != 0;
    close(file);
    return held ? SLOTS_HELD : SLOTS_FREE;
}

void slots_alive(const struct slots *slots, time_ms now) {
    struct slots_head *head = slots->map;
    if (head)
        atomic_store_explicit(&head->alive, now, memory_order_release);
}

void slots_note_held(const struct slots *slots, time_ms since) {
    struct slots_head *head = slots->map;
    if (head && (!since || !atomic_load_explicit(&head->held, memory_order_relaxed)))
        atomic_store_explicit(&head->held, since, memory_order_release);
}

/* The job is cleared first and written last, so that a torn slot names nobody. */
void slots_set(const struct slots *slots, int index, int64_t job, int64_t token, time_ms since) {
    if (index < 0 || index >= slots->count)
        return;
    struct slot *slot = &slots->list[index];
    atomic_store_explicit(&slot->job, 0, memory_order_release);
    if (!job)
        return;
    atomic_store_explicit(&slot->since, since, memory_order_release);
    atomic_store_explicit(&slot->token, token, memory_order_release);
    atomic_store_explicit(&slot->job, job, memory_order_release);
}

static bool slots_valid(const char *data, size_t size) {
    struct slots_head head, now = {.magic = SLOTS_MAGIC};
    if (size < sizeof head)
        return false;
    clock_boot(now.boot);
    memcpy(&head, data, sizeof head);
    return memcmp(head.magic, now.magic, sizeof SLOTS_MAGIC) == 0 &&
           memcmp(head.boot, now.boot, sizeof head.boot) == 0;
}

/* NULL: there is none, or what lies there is not ours. */
static char *slots_data(const struct slots_name *name, size_t *size) {
    int file = beside_open(name->path, name->suffix, O_RDONLY, NULL);
    return file < 0 ? NULL : file_read_open(file, size);
}

time_ms slots_held(const struct slots_name *name) {
    size_t size = 0;
    time_ms held = 0;
    char *data = slots_data(name, &size);
    if (data && slots_valid(data, size))
        memcpy(&held, data + offsetof(struct slots_head, held), sizeof held);
    free(data);
    return held;
}

bool slots_read(struct running *found, const struct slots_name *name) {
    *found = (struct running){.alive = TIME_NONE};
    size_t size = 0;
    char *data = slots_data(name, &size);
    if (!data || !slots_valid(data, size)) {
        free(data);
        return true;
    }
    memcpy(&found->alive, data + offsetof(struct slots_head, alive), sizeof found->alive);
    size_t count = (size - sizeof(struct slots_head)) / sizeof(struct slot);
    found->list = calloc(count + 1, sizeof *found->list);
    for (size_t i = 0; found->list && i < count; i++) {
        int64_t slot[3];
        memcpy(slot, data + sizeof(struct slots_head) + i * sizeof(struct slot), sizeof slot);
        if (slot[0]) {
            found->list[found->count].job = slot[0];
            found->list[found->count].token = slot[1];
            found->list[found->count++].since = slot[2];
        }
    }
    free(data);
    return found->list != NULL;
}
