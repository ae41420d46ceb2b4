/* trace.h - which request a job comes from: a `traceparent` of W3C Trace Context, such as
 * "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Pure (rules §1). */
#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

#define TRACE_SIZE 56 /* bytes, with the NUL */

/* Refuses a text that is none, as the value of `name`. */
bool trace_check(const char *name, const char *text, struct error *error);

/* Writes what the run of a job hands on: the same trace, with the run for its parent. */
void trace_child(const char *trace, int64_t job, int64_t attempt, char child[TRACE_SIZE]);
