#include "store/sqlite/codec.h"
#include <string.h>

/* How a field is written: its bytes, or the length of a text and then the text. */
enum coded {
    CODED_NUMBER,
    CODED_ID = CODED_NUMBER,
    CODED_COUNT = CODED_NUMBER,
    CODED_TIME = CODED_NUMBER,
    CODED_FLAG = CODED_NUMBER,
    CODED_KIND = CODED_NUMBER,
    CODED_STATE = CODED_NUMBER,
    CODED_MASK = CODED_NUMBER,
    CODED_MISFIRE = CODED_NUMBER,
    CODED_CONFLICT = CODED_NUMBER,
    CODED_TEXT,
    CODED_BLOB
};

static const struct field {
    size_t at, size;
    enum coded kind;
} fields[] = {
#define FIELD(member, type)                                                                        \
    {offsetof(struct job_spec, member), sizeof((struct job_spec *)NULL)->member, CODED_##type},
#define OF_JOB(member, type, ...) FIELD(job.member, type)
    JOB_FIELDS(OF_JOB) JOB_SAID_FIELDS(FIELD)};
#define FIELDS (sizeof fields / sizeof *fields)
#define NAME(member, ...) #member " "
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
    uint32_t length = size < NO_TEXT ? (uint32_t)size : NO_TEXT - 1;
    put(to, text ? &length : &(uint32_t){NO_TEXT}, sizeof length);
    if (!text)
        return;
    put(to, text, size);
    put(to, "", 1);
}

static void put_field(struct packer *to, const struct job_spec *spec, const struct field *field) {
    const char *text, *at = (const char *)spec + field->at;
    if (field->kind == CODED_NUMBER) {
        put(to, at, field->size);
        return;
    }
    memcpy(&text, at, sizeof text);
    size_t size = spec->job.payload_size;
    if (field->kind == CODED_TEXT)
        size = text ? strlen(text) : 0;
    put_text(to, text, size);
}

uint32_t codec_layout(void) {
    static const char names[] = JOB_FIELDS(NAME) JOB_SAID_FIELDS(NAME);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < sizeof names; i++)
        hash = (hash ^ (unsigned char)names[i]) * 16777619u;
    return hash;
}

size_t codec_encode(const struct job_spec *spec, void *room, size_t size) {
    struct packer to = {room, size, false};
    for (const struct field *field = fields; field < fields + FIELDS; field++)
        put_field(&to, spec, field);
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

static bool get_field(struct opener *from, struct job_spec *spec, const struct field *field) {
    const char *text;
    size_t size;
    char *at = (char *)spec + field->at;
    if (field->kind == CODED_NUMBER)
        return get(from, at, field->size);
    if (!get_text(from, &text, &size))
        return false;
    memcpy(at, &text, sizeof text);
    if (field->kind == CODED_BLOB)
        spec->job.payload_size = size;
    return field->kind == CODED_BLOB || !text || strlen(text) == size;
}

bool codec_decode(const void *bytes, size_t size, struct job_spec *spec) {
    struct opener from = {bytes, size};
    *spec = (struct job_spec){.job.lock_expiration = TIME_NONE};
    for (const struct field *field = fields; field < fields + FIELDS; field++)
        if (!get_field(&from, spec, field))
            return false;
    return from.left == 0 && spec->job.handler;
}
