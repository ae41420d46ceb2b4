#include "store/sqlite/db/codec.h"

/* A number is written as its bytes, a text as its length and then the text. */
#define PUT_NUMBER(member) pack_bytes(to, &spec->member, sizeof spec->member);
#define PUT_TEXT(member) pack_text(to, spec->member, spec->member ? strlen(spec->member) : 0);
#define PUT_BLOB(member) pack_text(to, spec->member, spec->member##_size);
#define GET_NUMBER(member) read = read && open_bytes(from, &spec->member, sizeof spec->member);
#define GET_TEXT(member) read = read && open_string(from, &spec->member);
#define GET_BLOB(member) read = read && open_text(from, &spec->member, &spec->member##_size);

#define WAY_NUMBER(way, member) way##_NUMBER(member)
#define WAY_ID WAY_NUMBER
#define WAY_COUNT WAY_NUMBER
#define WAY_TIME WAY_NUMBER
#define WAY_FLAG WAY_NUMBER
#define WAY_KIND WAY_NUMBER
#define WAY_STATE WAY_NUMBER
#define WAY_MASK WAY_NUMBER
#define WAY_MISFIRE WAY_NUMBER
#define WAY_CONFLICT WAY_NUMBER
#define WAY_TEXT(way, member) way##_TEXT(member)
#define WAY_BLOB(way, member) way##_BLOB(member)

#define PUT_OF_JOB(member, type, ...) WAY_##type(PUT, job.member)
#define PUT_SAID(member, type) WAY_##type(PUT, member)
#define GET_OF_JOB(member, type, ...) WAY_##type(GET, job.member)
#define GET_SAID(member, type) WAY_##type(GET, member)
#define NAME(member, ...) #member " "

uint32_t codec_layout(void) {
    static const char names[] = JOB_FIELDS(NAME) JOB_SAID_FIELDS(NAME);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < sizeof names; i++)
        hash = (hash ^ (unsigned char)names[i]) * 16777619u;
    return hash;
}

void codec_pack(struct packer *to, const struct job_spec *spec) {
    JOB_FIELDS(PUT_OF_JOB)
    JOB_SAID_FIELDS(PUT_SAID)
}

bool codec_open(struct opener *from, struct job_spec *spec) {
    bool read = true;
    *spec = (struct job_spec){.job.lock_expiration = TIME_NONE};
    JOB_FIELDS(GET_OF_JOB)
    JOB_SAID_FIELDS(GET_SAID)
    return read && spec->job.handler;
}
