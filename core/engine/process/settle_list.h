/* settle_list.h - what workers outside hand back, as the faces say it (rules §24). */
#ifndef MOONSHIFT_ENGINE_PROCESS_SETTLE_LIST_H
#define MOONSHIFT_ENGINE_PROCESS_SETTLE_LIST_H

#include "engine/engine.h"

enum { SETTLE_MAX = 1000 }; /* outcomes in one call */

/* Takes back what workers outside have done. The question: { outcomes, worker, fetch }. An outcome
 * is { id, token, outcome }, and by that word:
 *   - complete: result; of an activity also variables, which are set in its instance;
 *   - fail: message, stack, permanent; retries and in (a span) instead of what the definition says;
 *   - error: code, message, variables: a BPMN error of an activity. Another job is dead by it;
 *   - snooze: in;   - extend: lock;   - release.
 * `worker`: only its own locks count. *answer: { outcomes, jobs }, the caller's: an entry { id,
 * outcome } for each, with `code` and `message` where it was refused and changed nothing; and what
 * `fetch` gave, see engine_fetch. What moves an instance is written by itself, all the rest in one
 * transaction, with the fetch. */
bool engine_settle(struct engine *engine, const json_t *question, json_t **answer,
                   struct error *error);

#endif
