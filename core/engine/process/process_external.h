/* process_external.h - what a worker outside hands back of an activity, walked here (rules §23,
 * §24). */
#ifndef MOONSHIFT_ENGINE_PROCESS_PROCESS_EXTERNAL_H
#define MOONSHIFT_ENGINE_PROCESS_PROCESS_EXTERNAL_H

#include "engine/engine.h"
#include "job/outcome.h"

/* Goes on behind the activity that has waited for the job, in the lane of its instance, and settles
 * the job with the unit. `said` may have variables, and code and message of a BPMN error. The
 * outcome has what the worker says else: its result and lines, and the jobs that it creates, which
 * get their replies. Its `settled` is stale if the lock is lost. A walk that fails leaves
 * everything as it was: ERROR_FAILED with its message. */
bool process_external(struct engine *engine, struct outcome *outcome, const json_t *said,
                      struct error *error);

#endif
