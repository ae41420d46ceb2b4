/* job.h - one durable job: its row, and what a run of it needs.
 *
 * A job handed out by the store or by job_copy is ONE block of memory: every text lies inside it
 * and job_free releases all of it. A job on the stack borrows its texts from its builder. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/trace.h"
#include "job/fields.h"
#include "job/suspension.h"
#include <jansson.h>
#include <stddef.h>
#include <string.h>

struct text;

enum job_type { JOB_MESSAGE, JOB_TIMER };

/* Where a job is; read from the tables, not stored. */
enum job_state {
    JOB_READY,
    JOB_SCHEDULED, /* its due date is in the future */
    JOB_LOCKED,
    JOB_WAITING, /* parked behind a running job of its lane */
    JOB_SUSPENDED,
    JOB_DEAD /* no retries left */
};

/* What becomes of a job whose unique key another one holds. */
enum on_conflict { ON_CONFLICT_KEEP, ON_CONFLICT_REPLACE, ON_CONFLICT_REFUSE };

#define JOB_NAME_MAX 255    /* bytes of a handler, lane, instance, tenant, category name */
#define JOB_MESSAGE_MAX 666 /* characters of the failure message kept with the job (Camunda 7) */
#define JOB_STACK_MAX 65536 /* bytes of a stored message or stack text */

struct job {
    struct job *next; /* of a page of acquired jobs, or of follow-ups */
    JOB_FIELDS(JOB_MEMBER)
    time_ms begin_by;   /* monotonic: its start counts for a rate; 0: whenever it may be */
    time_ms counted_at; /* that start, by the clock of rates */
    bool unread;        /* it is locked, and its row is still to be read: see store_read_taken */
    int64_t permit;    /* its item's place under a limit; 0: it has one of its own, or needs none */
    int behind;        /* its unit was behind so many times in a row */
    int64_t lane_held; /* the lane that the run insists on therefore; 0: none */
    int64_t held;      /* bytes of payload and frame that it counts with while it is in memory */
};

enum field_type {
    FIELD_TEXT,
    FIELD_NUMBER,
    FIELD_ID,
    FIELD_COUNT,
    FIELD_TIME,
    FIELD_FLAG,
    FIELD_KIND,
    FIELD_STATE,
    FIELD_MASK,
    FIELD_BLOB
};

/* One line of the list, for code that goes through all fields. */
struct job_field {
    const char *key; /* NULL: not shown */
    size_t at;       /* bytes from the beginning of struct job */
    enum field_type type;
};

enum {
#define ENTRY(member, ...) JOB_FIELD_##member,
    JOB_FIELDS(ENTRY)
#undef ENTRY
        JOB_FIELD_COUNT
};
extern const struct job_field job_fields[JOB_FIELD_COUNT];

static inline const char *job_field_text(const struct job *job, const struct job_field *field) {
    const char *text;
    memcpy(&text, (const char *)job + field->at, sizeof text);
    return text;
}

/* A number of any type, as 64 bits; 0 for a text. */
static inline int64_t job_field_number(const struct job *job, const struct job_field *field) {
    int64_t number;
    int32_t count;
    bool flag;
    const char *at = (const char *)job + field->at;
    switch (field->type) {
    case FIELD_NUMBER:
    case FIELD_ID:
    case FIELD_TIME:
        memcpy(&number, at, sizeof number);
        return number;
    case FIELD_FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag;
    case FIELD_COUNT:
    case FIELD_MASK:
    case FIELD_KIND:
    case FIELD_STATE:
        memcpy(&count, at, sizeof count);
        return count;
    case FIELD_TEXT:
    case FIELD_BLOB:
        break;
    }
    return 0;
}

/* A deep copy in one block; free with job_free. NULL: no memory. */
struct job *job_copy(const struct job *job);
void job_free(struct job *job);      /* NULL is fine */
void job_free_list(struct job *job); /* the whole `next` chain */
/* The same of a struct of `size` bytes that begins with a job and has more texts: `texts` says
 * where all of them are. The caller frees it. */
void *job_copy_of(const void *from, size_t size, const size_t *texts, size_t count);

/* The 62-bit id of a lane key, > 0. A collision makes two lanes wait for each other, nothing worse.
 */
int64_t job_lane_id(const char *lane);

/* The lane of an instance of a process is its id with this bit. */
#define JOB_LANE_OF_INSTANCE (INT64_C(1) << 62)
static inline int64_t job_instance_lane(int64_t instance) {
    return instance | JOB_LANE_OF_INSTANCE;
}

/* The topic under which workers outside ask for jobs of this handler, "topic/ocr": "ocr". NULL: it
 * has none by its name. */
const char *job_topic(const char *handler);

/* The prefix of a handler's name under which nobody creates jobs by name and no folder has files:
 * "moonshift/" or "process/". NULL: the name is free. */
const char *job_reserved(const char *handler);
/* False: hooks hear nothing of the handler's jobs, which are the product's own. Those of processes
 * are the user's, though their names are reserved. */
bool job_is_told(const char *handler);
const char *job_state_name(enum job_state state);
const char *job_type_name(enum job_type type);

/* "keep", "replace" or "refuse". ERROR_INVALID says what was expected. */
bool on_conflict_parse(const char *text, enum on_conflict *on_conflict, struct error *error);

/* The trace that the run of a job with one hands on. What has no id, such as a walk for a command,
 * is no run: it hands on its own. */
void job_trace(const struct job *job, char trace[TRACE_SIZE]);

/* The job as users see it: snake_case, times as ISO text, absent = null,
 * payload as JSON. A new reference; NULL: no memory. Used by Lua and by --json alike. */
json_t *job_to_json(const struct job *job);
/* Appends the text of its members, without the braces around them. */
void job_write(const struct job *job, struct text *out);
