/* fuzz.h - readers of foreign text against any bytes: what a target is, and how it complains.
 *
 * A target reads one input and checks what its reader promises, not only that it does not crash. A
 * new one is a file in targets/, a line below, a row of the table in fuzz.c and a folder of saved
 * inputs in corpus/. */
#ifndef MOONSHIFT_SPEC_FUZZ_H
#define MOONSHIFT_SPEC_FUZZ_H

#include "base/error.h"
#include "time/zone.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */

typedef void fuzz_target(const uint8_t *data, size_t size);

fuzz_target fuzz_alias, fuzz_head, fuzz_spec_fast, fuzz_cron, fuzz_cycle, fuzz_job_spec,
    fuzz_filter, fuzz_json, fuzz_lines, fuzz_lua, fuzz_command, fuzz_rate, fuzz_retry, fuzz_setting,
    fuzz_settings, fuzz_span, fuzz_text, fuzz_time, fuzz_tzif, fuzz_window, fuzz_xml, fuzz_zone;

struct fuzz_row {
    const char *name;
    fuzz_target *run;
};
extern const struct fuzz_row fuzz_targets[]; /* the last has no name */
fuzz_target *fuzz_find(const char *name);    /* NULL: there is none */

/* Ends the run: a promise was broken. */
#define PROMISE(what)                                                                              \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #what);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as a text of its own, in memory of just its size: it ends with the first NUL. */
char *fuzz_copy(const uint8_t *data, size_t size);

/* The next line of a text, without its newline; NULL: there is none. Moves *rest behind it. */
char *fuzz_line(char **rest);

/* A refusal is a sentence: valid UTF-8 that neither is empty nor ends with a stop, and any position
 * it names lies within `text` (NULL: not looked at) or right behind it. */
void fuzz_refusal(const struct error *error, const char *text);

/* The zone of a name that some targets use, else UTC. Unlike zone_find it looks for no suggestion.
 */
const struct zone *fuzz_zone_named(const char *name);

/* Some instants of interest: the first and last, around 1970, leap days, changes of the clocks. */
extern const time_ms fuzz_instants[];
extern const size_t fuzz_instant_count;

#endif
