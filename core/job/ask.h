/* ask.h - what a store can be asked: kinds of questions, and the columns of their answers (rules
 * §11).
 *
 * One table of them (store/rules/ask/ask.c) serves every face: the lists of the command line, the
 * queries of Lua, `job.engine`, and the page docs/json.md, which a spec compares with it. The
 * tables stand beside the code that reads the rows: a column or a filter is one line there. */
#pragma once

#include "base/error.h"
#include <jansson.h>

enum ask_kind {
    /* rows by filters, sort and page */
    ASK_JOBS,
    ASK_DEFINITIONS,
    ASK_INCIDENTS,
    ASK_CAUSES,
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
    ASK_TOKENS,
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
    ASK_BODY,
    ASK_TURNS,
    ASK_LARGE_VALUE,
    ASK_TASK,
    ASK_VERSION,
    ASK_RECEIVERS,
    ASK_WHY_INSTANCE,
    ASK_FILES,
    ASK_STANDING,
    ASK_EVENTS,
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
    const char *title; /* in lists for people; NULL: the name in capitals */
};

struct query;
struct filter;

/* Adds a condition for `value`; false: error (the filter's name is known to the caller). */
typedef bool filter_add(struct query *query, const struct filter *filter, const json_t *value,
                        struct error *error);

/* What narrows a list beside the columns that it is found by, and the flags of both, in the order
 * of the help. */
struct filter {
    const char *name;  /* NULL ends a list of filters */
    const char *value; /* what the flag takes, see cli/list.h; NULL: there is no such flag */
    const char *help;  /* of the flag */
    filter_add *add;   /* NULL: it is the column of this name */
    const char *sql;   /* the store's; what `add` makes of it is its own affair */
    const char *after; /* closes what `sql` opens; NULL: nothing */
};

/* `shown` names the columns that a list for people has unless told, between commas. Marks behind a
 * name say how:
 *   ?  left out while every row has nothing there
 *   =  never shortened, and an instant in full
 *   !  a word that has a colour
 *   +  gets the room that the other columns leave */
struct ask_table {
    const char *name;                 /* "jobs" */
    const struct ask_column *columns; /* NULL: no rows */
    const struct filter *filters;     /* NULL: all rows are answered, and no page of them */
    const char *shown;                /* NULL: no list for people */
    const char *from;                 /* the store's: where the rows are; NULL: they are made */
    const char *asked;                /* what is being answered, should it take too long */
    const char *group;                /* the store's: a row is made of those alike in this */
    const char *order;                /* the store's: unless sorted; NULL: the first column */
};

/* True if a row of ASK_EXECUTORS is an executor in this state, NULL: in any. A worker outside
 * stands there as well, with its topics, and never is one: it is no process that anybody looks at.
 */
bool ask_is_executor(const json_t *row, const char *state);

/* "integer", "time" and so on. */
const char *ask_type_name(enum ask_type type);
