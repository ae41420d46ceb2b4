/* ask.h - what a store can be asked: kinds of questions, and the columns of their answers (rules
 * §11).
 *
 * One table of them (store/rules/ask/ask.c) serves every face: the lists of the command line, the
 * queries of Lua, `job.engine`, and the page docs/json.md, which a spec compares with it. */
#ifndef MOONSHIFT_JOB_ASK_H
#define MOONSHIFT_JOB_ASK_H

enum ask_kind {
    /* rows by filters, sort and page */
    ASK_JOBS,
    ASK_DEFINITIONS,
    ASK_INCIDENTS,
    ASK_LOG,
    ASK_OPERATIONS,
    ASK_BATCHES,
    ASK_INSTANCES,
    ASK_PROCESSES,
    ASK_VERSIONS,
    ASK_PROCESS_INSTANCES,
    ASK_PAST,
    ASK_TRAIL,
    ASK_TASKS,
    ASK_SUBSCRIPTIONS,
    ASK_KEPT_MESSAGES,
    /* rows */
    ASK_SCHEDULES,
    ASK_DATES,
    ASK_DEPLOYMENTS,
    ASK_EXECUTORS,
    ASK_GAPS,
    /* other answers */
    ASK_COUNT,
    ASK_JOB,
    ASK_BATCH,
    ASK_WHY,
    ASK_STATS,
    ASK_HISTORY,
    ASK_RETRIES,
    ASK_WALK,
    ASK_INSTANCE,
    ASK_FRAME,
    ASK_LARGE_VALUE,
    ASK_VERSION,
    ASK_RECEIVERS,
    ASK_WHY_INSTANCE,
    ASK_FILES,
    ASK_STANDING,
    ASK_KINDS
};

enum ask_type {
    ASK_INTEGER,
    ASK_NUMBER,
    ASK_TEXT,
    ASK_TIME, /* an instant in UTC, as a text */
    ASK_FLAG,
    ASK_LIST,
    ASK_OBJECT,
    ASK_VALUE /* any JSON */
};

/* What the store can do with a column besides showing it. */
enum ask_use {
    ASK_SHOW,
    ASK_SORT,
    ASK_FIND, /* a filter of its name takes a number or a text, or a list of them */
    ASK_BOTH  /* of the two before */
};

struct ask_column {
    const char *name; /* NULL ends a list of columns */
    enum ask_type type;
    const char *sql; /* the store's: selected, sorted by, found by; NULL: none of that */
    enum ask_use use;
};

struct ask_table {
    const char *name;                 /* "jobs" */
    const struct ask_column *columns; /* NULL: no rows */
};

/* "integer", "time" and so on. */
const char *ask_type_name(enum ask_type type);

#endif
