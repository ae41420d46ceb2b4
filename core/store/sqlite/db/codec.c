#include "store/sqlite/db/codec.h"
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

/* ---- packing ---- */

static void put_field(struct packer *to, const struct job_spec *spec, const struct field *field) {
    const char *text, *at = (const char *)spec + field->at;
    if (field->kind == CODED_NUMBER) {
        pack_bytes(to, at, field->size);
        return;
    }
    memcpy(&text, at, sizeof text);
    size_t size = spec->job.payload_size;
    if (field->kind == CODED_TEXT)
        size = text ? strlen(text) : 0;
    pack_text(to, text, size);
}

uint32_t codec_layout(void) {
    static const char names[] = JOB_FIELDS(NAME) JOB_SAID_FIELDS(NAME);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < sizeof names; i++)
        hash = (hash ^ (unsigned char)names[i]) * 16777619u;
    return hash;
}

void codec_pack(struct packer *to, const struct job_spec *spec) {
    for (const struct field *field = fields; field < fields + FIELDS; field++)
        put_field(to, spec, field);
}

/* ---- opening ---- */

static bool get_field(struct opener *from, struct job_spec *spec, const struct field *field) {
    const char *text;
    size_t size;
    char *at = (char *)spec + field->at;
    if (field->kind == CODED_NUMBER)
        return open_bytes(from, at, field->size);
    if (!open_text(from, &text, &size))
        return false;
    memcpy(at, &text, sizeof text);
    if (field->kind == CODED_BLOB)
        spec->job.payload_size = size;
    return field->kind == CODED_BLOB || !text || strlen(text) == size;
}

bool codec_open(struct opener *from, struct job_spec *spec) {
    *spec = (struct job_spec){.job.lock_expiration = TIME_NONE};
    for (const struct field *field = fields; field < fields + FIELDS; field++)
        if (!get_field(from, spec, field))
            return false;
    return spec->job.handler;
}
