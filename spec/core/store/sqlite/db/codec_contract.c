/* codec_contract.c - a job that one process hands to another arrives with every field. */
#include "../../contract.h"
#include "store/sqlite/db/codec.h"

enum { ROOM = 4096 };

/* Each member has a value of its own, if its type has room for one. */
#define SET_TEXT(member) spec->member = #member;
#define SET_BLOB(member) spec->member = "{\"a\":1}", spec->member##_size = 7;
#define SET_NUMBER(member) spec->member = ++number;
#define SET_ID SET_NUMBER
#define SET_COUNT SET_NUMBER
#define SET_MASK SET_NUMBER
#define SET_TIME SET_NUMBER
#define SET_FLAG(member) spec->member = true;
#define SET_KIND(member) spec->member = 1;
#define SET_STATE SET_KIND
#define SET_MISFIRE SET_KIND
#define SET_CONFLICT SET_KIND
#define SET_OF_JOB(member, type, ...) SET_##type(job.member)
#define SET_SAID(member, type) SET_##type(member)

static void set_all(struct job_spec *spec) {
    int number = 0;
    *spec = (struct job_spec){0};
    JOB_FIELDS(SET_OF_JOB)
    JOB_SAID_FIELDS(SET_SAID)
}

static bool same_text(const char *a, const char *b) {
    return !a == !b && (!a || strcmp(a, b) == 0);
}

#define SAME_NUMBER(member) same = same && a->member == b->member;
#define SAME_ID SAME_NUMBER
#define SAME_COUNT SAME_NUMBER
#define SAME_MASK SAME_NUMBER
#define SAME_TIME SAME_NUMBER
#define SAME_FLAG SAME_NUMBER
#define SAME_KIND SAME_NUMBER
#define SAME_STATE SAME_NUMBER
#define SAME_MISFIRE SAME_NUMBER
#define SAME_CONFLICT SAME_NUMBER
#define SAME_TEXT(member) same = same && same_text(a->member, b->member);
#define SAME_BLOB(member)                                                                          \
    SAME_NUMBER(member##_size)                                                                     \
    SAME_TEXT(member)
#define SAME_OF_JOB(member, type, ...) SAME_##type(job.member)
#define SAME_SAID(member, type) SAME_##type(member)

static bool same_specs(const struct job_spec *a, const struct job_spec *b) {
    bool same = true;
    JOB_FIELDS(SAME_OF_JOB)
    JOB_SAID_FIELDS(SAME_SAID)
    return same;
}

static char room[ROOM];

/* The bytes of the job in `room`; 0: there are too many. */
static size_t packed(const struct job_spec *spec, size_t most) {
    struct packer to = {room, most, false};
    codec_pack(&to, spec);
    return to.full ? 0 : most - to.left;
}

static void every_field(struct contract *c) {
    struct job_spec spec, read;
    set_all(&spec);
    struct opener from = {room, packed(&spec, ROOM)};
    EXPECT(from.left > 0 && codec_open(&from, &read) && from.left == 0);
    EXPECT(same_specs(&spec, &read));
    spec = completed((struct job_spec){.job.payload = "", .job.tenant = ""});
    from = (struct opener){room, packed(&spec, ROOM)};
    EXPECT(codec_open(&from, &read) && same_specs(&spec, &read));
    EXPECT(!read.job.lane && !*read.job.tenant && !*read.job.payload);
}

static void cut_short(struct contract *c) {
    struct job_spec spec, read;
    set_all(&spec);
    size_t size = packed(&spec, ROOM);
    for (size_t left = 0; left < size; left++) {
        struct opener from = {room, left};
        EXPECT(!codec_open(&from, &read));
    }
    EXPECT(!packed(&spec, size - 1) && packed(&spec, size) == size);
}

static void no_handler(struct contract *c) {
    struct job_spec spec = {.job.due = TIME_NONE}, read;
    struct opener from = {room, packed(&spec, ROOM)};
    EXPECT(!codec_open(&from, &read));
}

static const struct check checks[] = {
    {"every field arrives", every_field},
    {"a letter that is cut short is no job", cut_short},
    {"a job without a handler is none", no_handler},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
