/* question.h - what jobs are asked for: their filters and columns (rules §11), in lists and in
 * verbs.
 */
#pragma once

#include "store/rules/ground/query.h"

/* Where a job is; the order of the cases is the rule. */
#define JOBS_STATE                                                                                 \
    "CASE WHEN l.id IS NOT NULL THEN 'locked' WHEN j.retries=0 THEN 'dead'"                        \
    " WHEN j.suspended<>0 THEN 'suspended' WHEN j.due>n.now THEN 'scheduled'"                      \
    " WHEN j.lane IS NOT NULL AND (EXISTS(SELECT 1 FROM lane WHERE lane.id=j.lane)"                \
    " OR EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane AND p.stream=j.stream"                  \
    " AND p.rank= ~j.priority AND p.place=j.place AND p.id=j.id)) THEN 'waiting' ELSE 'ready' END"

#define LOCKED_UNTIL "CASE WHEN l.until>e.lease OR e.kind=1 THEN l.until ELSE e.lease END"

#define IS_SUSPECT "EXISTS(SELECT 1 FROM suspect x WHERE x.job=j.id)"

/* Asks for these columns of the jobs `j` that are wanted, with their locks `l`, the owners `e` of
 * those, and the instant n.now. */
bool jobs_question(struct query *query, const struct store *store, const char *columns,
                   const json_t *wanted, time_ms now, struct error *error);
