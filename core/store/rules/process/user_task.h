/* user_task.h - tasks that wait for people. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"
#include "store/rules/process/turn.h"

#define TASK_COLUMNS                                                                               \
    "instance, token, id, activity, name, assignee, candidates, due, priority, created, form, "    \
    "listens"

/* SQL: what listeners see of a task `t` that is open; a condition comes behind it. */
#define TASK_SEEN                                                                                  \
    "t.id, t.instance, t.token, t.activity, t.name, t.assignee, t.priority, t.due, t.listens"      \
    " FROM user_task t WHERE " OPEN_TOKEN("t.token") " AND t."

/* A new task, or one that changes. */
bool user_task_write(struct store *store, const struct unit_task *one, time_ms now,
                     struct error *error);
/* YES: the token still waits for the task that is to be completed. */
enum answer user_task_waits(struct store *store, const struct unit_wait *left, struct error *error);
/* Removes those of a token; token 0: of the whole instance. */
bool user_tasks_remove(struct store *store, int64_t instance, int64_t token, struct error *error);
/* The token moves, and its task with it. */
bool user_tasks_move(struct store *store, const struct unit_move *move, struct error *error);
bool user_tasks_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                             struct error *error);

/* Gives the task to somebody, or to nobody (NULL). `claims`: refused (ERROR_CONFLICT) if it is
 * another one's. `before` (JOB_NAME_MAX + 1 bytes): who had it, or "". */
bool user_task_assign(struct store *store, int64_t id, const char *assignee, bool claims,
                      char *before, struct error *error);
/* What listeners see of the task with this id, or else of this token: its id, instance, token,
 * activity, name, assignee, due, priority and whether it `listens`; { gone } if it is not there. */
json_t *user_task_ask(struct store *store, int64_t id, int64_t instance, int64_t token,
                      struct error *error);
/* The same of many ids: questions { id }. Only for an engine with `sets`. */
json_t *user_tasks_ask(struct store *store, const json_t *questions, struct error *error);
/* Only looks. ERROR_NOT_FOUND: it has ended, or never was. */
bool user_task_may(struct store *store, int64_t id, const char *assignee, bool claims,
                   struct error *error);
