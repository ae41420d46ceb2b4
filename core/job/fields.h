/* fields.h - the list of a job's fields (rules §1).
 *
 * The list makes:
 *   - the members of struct job, its copy and its JSON;
 *   - the column lists of the statements that read and write a row;
 *   - the codec of the mailbox;
 *   - the fields of `job` in a handler, and the names that a creator may give;
 *   - the filters and the sort keys.
 * A new column of the table `job` is one line here, one in schema.sql and one in an upgrade.
 *
 *   member   the name in struct job
 *   type     TEXT, NUMBER, ID (0: none), COUNT (32 bits), TIME (TIME_NONE: none), FLAG, BLOB (a
 *            text with a size), KIND (enum job_type), STATE (enum job_state) or MASK (enum
 *            suspension, shown as true or false)
 *   key      the name in JSON, in a handler, in filters and sorts; NULL: not shown
 *   source   ROW: a column that a creation writes and that is read back; KEPT: a column that only
 *            later changes write; GIVEN: a column that a creation writes and no reader needs;
 *            STREAM: kept by the job's stream; LOCK: of its lock; MADE: computed
 *   column   its name in the table `job`; for other sources the member's name again
 *   said     NAME: a creator may give it, as a text of at most JOB_NAME_MAX bytes; OTHER
 *   asked    FIND: filters and sorts know it; SORT: sorts alone; NEVER, or what the store adds
 *
 * The order is that of the members of the JSON object. */
#pragma once

/* clang-format off */
#define JOB_FIELDS(FIELD)                                                                      \
    /*    member           type    key                source  column           said   asked */ \
    FIELD(id,              ID,     "id",              ROW,    id,              OTHER, FIND)    \
    FIELD(type,            KIND,   "type",            STREAM, type,            OTHER, NEVER)   \
    FIELD(handler,         TEXT,   "handler",         STREAM, handler,         NAME,  NEVER)   \
    FIELD(payload,         BLOB,   "payload",         ROW,    payload,         OTHER, NEVER)   \
    FIELD(priority,        NUMBER, "priority",        ROW,    priority,        OTHER, SORT)    \
    FIELD(due,             TIME,   "due",             ROW,    due,             OTHER, SORT)    \
    FIELD(repeat,          TEXT,   "repeat",          ROW,    repeat,          OTHER, SORT)    \
    FIELD(retries,         COUNT,  "retries",         ROW,    retries,         OTHER, SORT)    \
    FIELD(attempt,         COUNT,  "attempt",         KEPT,   attempt,         OTHER, SORT)    \
    FIELD(crashes,         COUNT,  "crashes",         KEPT,   crashes,         OTHER, SORT)    \
    FIELD(suspect,         FLAG,   "suspect",         MADE,   suspect,         OTHER, NEVER)    \
    FIELD(conflicts,       COUNT,  "conflicts",       MADE,   conflicts,       OTHER, NEVER)    \
    FIELD(lock_owner,      TEXT,   "lock_owner",      LOCK,   lock_owner,      OTHER, NEVER)   \
    FIELD(lock_expiration, TIME,   "lock_expiration", LOCK,   lock_expiration, OTHER, NEVER)   \
    FIELD(token,           ID,     "token",           LOCK,   token,           OTHER, NEVER)   \
    FIELD(exclusive,       FLAG,   "exclusive",       MADE,   exclusive,       OTHER, NEVER)   \
    FIELD(lane,            TEXT,   "lane",            ROW,    lane_key,        NAME,  FIND)    \
    FIELD(instance,        TEXT,   "instance",        ROW,    instance,        NAME,  FIND)    \
    FIELD(root,            TEXT,   "root",            ROW,    root,            NAME,  FIND)    \
    FIELD(activity,        TEXT,   "activity",        ROW,    activity,        NAME,  FIND)    \
    FIELD(definition,      ID,     "definition",      STREAM, definition,      OTHER, NEVER)   \
    FIELD(deployment,      ID,     "deployment",      STREAM, deployment,      OTHER, NEVER)   \
    FIELD(category,        TEXT,   "category",        STREAM, category,        NAME,  NEVER)   \
    FIELD(topic,           TEXT,   "topic",           STREAM, topic,           OTHER, NEVER)   \
    FIELD(tenant,          TEXT,   "tenant",          ROW,    tenant,          NAME,  FIND)    \
    FIELD(unique_key,      TEXT,   "unique",          ROW,    unique_key,      OTHER, FIND)    \
    FIELD(batch,           ID,     "batch",           ROW,    batch,           OTHER, FIND)    \
    FIELD(schedule,        TEXT,   "schedule",        ROW,    schedule,        OTHER, FIND)    \
    FIELD(trace,           TEXT,   "trace",           ROW,    trace,           NAME,  FIND)    \
    FIELD(suspended,       MASK,   "suspended",       ROW,    suspended,       OTHER, SORT)    \
    FIELD(state,           STATE,  "state",           MADE,   state,           OTHER, NEVER)   \
    FIELD(created,         TIME,   "created",         ROW,    created,         OTHER, SORT)    \
    FIELD(message,         TEXT,   "message",         KEPT,   message,         OTHER, SORT)    \
    FIELD(failed_activity, TEXT,   "failed_activity", MADE,   failed_activity, OTHER, NEVER)   \
    FIELD(rev,             NUMBER, "rev",             KEPT,   rev,             OTHER, SORT)    \
    FIELD(stream,          ID,     NULL,              ROW,    stream,          OTHER, NEVER)   \
    FIELD(lane_id,         ID,     NULL,              MADE,   lane_id,         OTHER, NEVER)   \
    FIELD(owner,           ID,     NULL,              LOCK,   owner,           OTHER, NEVER)   \
    FIELD(until,           ID,     NULL,              LOCK,   until,           OTHER, NEVER)   \
    FIELD(term,            TEXT,   NULL,              GIVEN,  term,            OTHER, NEVER)   \
    FIELD(config,          TEXT,   NULL,              MADE,   config,          OTHER, NEVER)   \
    FIELD(instance_id,     ID,     NULL,              ROW,    instance_id,     OTHER, NEVER)   \
    FIELD(execution,       ID,     NULL,              ROW,    execution,       OTHER, NEVER)   \
    FIELD(version,         ID,     NULL,              MADE,   version,         OTHER, NEVER)   \
    FIELD(frame_rev,       ID,     NULL,              MADE,   frame_rev,       OTHER, NEVER)   \
    FIELD(frame,           TEXT,   NULL,              MADE,   frame,           OTHER, NEVER)   \
    FIELD(around_rev,      ID,     NULL,              MADE,   around_rev,      OTHER, NEVER)   \
    FIELD(around,          TEXT,   NULL,              MADE,   around,          OTHER, NEVER)   \
    FIELD(body,            ID,     NULL,              MADE,   body,            OTHER, NEVER)   \
    FIELD(body_token,      ID,     NULL,              MADE,   body_token,      OTHER, NEVER)   \
    FIELD(body_seen,       ID,     NULL,              MADE,   body_seen,       OTHER, NEVER)   \
    FIELD(parent,          ID,     NULL,              MADE,   parent,          OTHER, NEVER)   \
    FIELD(business_key,    TEXT,   NULL,              MADE,   business_key,    OTHER, NEVER)   \
    FIELD(kept,            TEXT,   NULL,              MADE,   kept,            OTHER, NEVER)   \
    FIELD(printed,         TEXT,   NULL,              MADE,   printed,         OTHER, NEVER)   \
    FIELD(followed,        FLAG,   NULL,              MADE,   followed,        OTHER, NEVER)

/* What only a creator says: members of struct job_spec. It decides about the creation, and is no
 * column of the row.
 *   priority_given, retries_given  the creator named them; no definition and no override decides
 *   zone, misfire, origin, starts  of `repeat`: see struct repeat
 *   delay                          ms by which the job is due later than its cycle's date
 *   unique_until                   its key outlives the job until then; TIME_NONE: it does not */
#define JOB_SAID_FIELDS(FIELD)                                                                 \
    FIELD(priority_given,  FLAG)                                                               \
    FIELD(retries_given,   FLAG)                                                               \
    FIELD(zone,            TEXT)                                                               \
    FIELD(misfire,         MISFIRE)                                                            \
    FIELD(origin,          TIME)                                                               \
    FIELD(starts,          FLAG)                                                               \
    FIELD(delay,           TIME)                                                               \
    FIELD(on_conflict,     CONFLICT)                                                           \
    FIELD(unique_until,    TIME)
/* clang-format on */

/* What a line contributes only for some sources, types or kinds of `said`: JOB_READ_ROW(x) is x,
 * JOB_READ_LOCK(x) is nothing. READ: columns that are read back; WRITTEN: that a creation writes.
 */
#define JOB_READ_ROW(...) __VA_ARGS__
#define JOB_READ_KEPT(...) __VA_ARGS__
#define JOB_READ_GIVEN(...)
#define JOB_READ_STREAM(...)
#define JOB_READ_LOCK(...)
#define JOB_READ_MADE(...)
#define JOB_WRITTEN_ROW(...) __VA_ARGS__
#define JOB_WRITTEN_KEPT(...)
#define JOB_WRITTEN_GIVEN(...) __VA_ARGS__
#define JOB_WRITTEN_STREAM(...)
#define JOB_WRITTEN_LOCK(...)
#define JOB_WRITTEN_MADE(...)
#define JOB_SAID_NAME(...) __VA_ARGS__
#define JOB_SAID_OTHER(...)
#define JOB_TEXTS_TEXT(...) __VA_ARGS__
#define JOB_TEXTS_NUMBER(...)
#define JOB_TEXTS_ID(...)
#define JOB_TEXTS_COUNT(...)
#define JOB_TEXTS_TIME(...)
#define JOB_TEXTS_FLAG(...)
#define JOB_TEXTS_KIND(...)
#define JOB_TEXTS_STATE(...)
#define JOB_TEXTS_MASK(...)
#define JOB_TEXTS_BLOB(...)
#define JOB_TEXTS_MISFIRE(...)
#define JOB_TEXTS_CONFLICT(...)
#define JOB_SORTED_FIND(...) __VA_ARGS__
#define JOB_SORTED_SORT(...) __VA_ARGS__
#define JOB_SORTED_NEVER(...)

/* The member's declaration, by its type. */
#define JOB_MEMBER(member, ...) JOB_MEMBER_OF(member, __VA_ARGS__, )
#define JOB_MEMBER_OF(member, type, ...) JOB_MEMBER_##type(member)
#define JOB_MEMBER_TEXT(member) const char *member;
#define JOB_MEMBER_NUMBER(member) int64_t member;
#define JOB_MEMBER_ID(member) int64_t member;
#define JOB_MEMBER_COUNT(member) int32_t member;
#define JOB_MEMBER_TIME(member) time_ms member;
#define JOB_MEMBER_FLAG(member) bool member;
#define JOB_MEMBER_KIND(member) enum job_type member;
#define JOB_MEMBER_STATE(member) enum job_state member;
#define JOB_MEMBER_MISFIRE(member) enum misfire member;
#define JOB_MEMBER_CONFLICT(member) enum on_conflict member;
#define JOB_MEMBER_MASK(member) int32_t member;
#define JOB_MEMBER_BLOB(member)                                                                    \
    const char *member;                                                                            \
    size_t member##_size;
