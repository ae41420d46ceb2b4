/* process_external.h - what a worker outside hands back of an activity, walked here (rules §23,
 * §24). */
#pragma once

#include "engine/engine.h"
#include "job/outcome.h"

/* What is handed back of one activity. The outcome is of the job that has waited, with what the
 * worker says else: its result and lines, and the jobs that it creates, which get their replies. */
struct external {
    struct outcome *outcome;
    const json_t *said;         /* it may have variables, and code and message of a BPMN error */
    struct error *refused;      /* out, code 0 before: why it changed nothing */
    struct external_walk *walk; /* private; NULL before */
};

/* Goes on behind each activity, in the lane of its instance, and settles the job with the unit.
 * Those of several instances are written in one transaction; of one that something else has, or
 * where another change comes first, by itself. A walk that fails leaves everything as it was:
 * ERROR_FAILED with its message. outcome->settled of another one is stale if the lock is lost. */
void process_externals(struct engine *engine, struct external *list, size_t count);
