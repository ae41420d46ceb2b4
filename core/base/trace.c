#include "base/trace.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 3, TRACE = 32, PARENT = 16, FLAGS = 2 }; /* bytes */

/* So many lower-case digits, and not all of them 0 unless that is fine. */
static bool is_hex(const char *text, size_t size, bool zero) {
    return strspn(text, "0123456789abcdef") == size && (zero || strspn(text, "0") < size);
}

bool trace_check(const char *name, const char *text, struct error *error) {
    const char *trace = text + VERSION, *parent = trace + TRACE + 1, *flags = parent + PARENT + 1;
    bool fine = strlen(text) == TRACE_SIZE - 1 && memcmp(text, "00-", VERSION) == 0 &&
                is_hex(trace, TRACE, false) && trace[TRACE] == '-' &&
                is_hex(parent, PARENT, false) && parent[PARENT] == '-' &&
                is_hex(flags, FLAGS, true);
    return fine || error_set(error, ERROR_INVALID,
                             "%s \"%.100s\": expected a traceparent of version 00, such as "
                             "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                             name, text);
}

/* The same numbers give the same span, and others another one (splitmix64). */
static uint64_t span_of(int64_t job, int64_t attempt) {
    uint64_t span = (uint64_t)job * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)attempt;
    span = (span ^ (span >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    span = (span ^ (span >> 27)) * UINT64_C(0x94d049bb133111eb);
    span ^= span >> 31;
    return span ? span : 1;
}

void trace_child(const char *trace, int64_t job, int64_t attempt, char child[TRACE_SIZE]) {
    snprintf(child, TRACE_SIZE, "%.*s%016" PRIx64 "%s", VERSION + TRACE + 1, trace,
             span_of(job, attempt), trace + VERSION + TRACE + 1 + PARENT);
}
