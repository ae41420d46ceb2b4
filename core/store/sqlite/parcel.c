#include "store/sqlite/parcel.h"
#include <string.h>

struct field {
    size_t at, size;
};

#define FIELD(name)                                                                                \
    { offsetof(struct job, name), sizeof((struct job *)NULL)->name }
static const struct field numbers[] = {
    FIELD(batch),          FIELD(priority),  FIELD(due),          FIELD(retries),
    FIELD(type),           FIELD(exclusive), FIELD(suspended),    FIELD(starts),
    FIELD(priority_given), FIELD(misfire),   FIELD(origin),       FIELD(retries_given),
    FIELD(on_conflict),    FIELD(delay),     FIELD(unique_until),
};
static const size_t texts[] = {
    offsetof(struct job, handler),  offsetof(struct job, lane),
    offsetof(struct job, instance), offsetof(struct job, root),
    offsetof(struct job, activity), offsetof(struct job, category),
    offsetof(struct job, tenant),   offsetof(struct job, repeat),
    offsetof(struct job, zone),     offsetof(struct job, schedule),
    offsetof(struct job, term),     offsetof(struct job, unique_key),
};
#define NUMBERS (sizeof numbers / sizeof *numbers)
#define TEXTS (sizeof texts / sizeof *texts)
#define NO_TEXT UINT32_MAX

/* ---- packing ---- */

struct packer {
    char *next;
    size_t left;
    bool full;
};

static void put(struct packer *to, const void *bytes, size_t size) {
    to->full = to->full || size > to->left;
    if (to->full)
        return;
    memcpy(to->next, bytes, size);
    to->next += size;
    to->left -= size;
}

static void put_text(struct packer *to, const char *text, size_t size) {
    uint32_t length = !text ? NO_TEXT : size < NO_TEXT ? (uint32_t)size : NO_TEXT - 1;
    put(to, &length, sizeof length);
    if (!text)
        return;
    put(to, text, size);
    put(to, "", 1);
}

size_t parcel_pack(const struct job *job, void *room, size_t size) {
    struct packer to = {room, size, false};
    for (size_t i = 0; i < NUMBERS; i++)
        put(&to, (const char *)job + numbers[i].at, numbers[i].size);
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text;
        memcpy(&text, (const char *)job + texts[i], sizeof text);
        put_text(&to, text, text ? strlen(text) : 0);
    }
    put_text(&to, job->payload, job->payload_size);
    return to.full ? 0 : size - to.left;
}

/* ---- opening ---- */

struct opener {
    const char *next;
    size_t left;
};

static bool get(struct opener *from, void *bytes, size_t size) {
    if (size > from->left)
        return false;
    memcpy(bytes, from->next, size);
    from->next += size;
    from->left -= size;
    return true;
}

static bool get_text(struct opener *from, const char **text, size_t *size) {
    uint32_t length;
    *text = NULL;
    *size = 0;
    if (!get(from, &length, sizeof length))
        return false;
    if (length == NO_TEXT)
        return true;
    if (length >= from->left || from->next[length] != 0)
        return false;
    *text = from->next;
    *size = length;
    from->next += length + 1;
    from->left -= length + 1;
    return true;
}

bool parcel_open(const void *bytes, size_t size, struct job *job) {
    struct opener from = {bytes, size};
    *job = (struct job){.lock_expiration = TIME_NONE};
    for (size_t i = 0; i < NUMBERS; i++)
        if (!get(&from, (char *)job + numbers[i].at, numbers[i].size))
            return false;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text;
        size_t length;
        if (!get_text(&from, &text, &length) || (text && strlen(text) != length))
            return false;
        memcpy((char *)job + texts[i], &text, sizeof text);
    }
    return get_text(&from, &job->payload, &job->payload_size) && from.left == 0 && job->handler;
}
