/* phases.h - what a bench measures, one function a kind; each puts its figures into the report. */
#pragma once

#include "bench/rig.h"

/* Jobs created one a call, each acknowledged after its sync: by one client and by sixteen
 * processes. */
bool phase_clients(struct bench *bench, struct error *error);

/* Jobs created a thousand a call, and run: the two rates, and what running takes. */
bool phase_drain(struct bench *bench, struct error *error);
/* The same by `enqueue --from`, as a user starts it. */
bool phase_from(struct bench *bench, struct error *error);
/* Jobs that create the next one. */
bool phase_chains(struct bench *bench, struct error *error);
/* Jobs created and run at the same time. */
bool phase_life(struct bench *bench, struct error *error);
/* The same work by one worker and by two. */
bool phase_workers(struct bench *bench, struct error *error);

/* From the acknowledgement of a job to the start of its handler, at low load: created in this
 * process, and in another. */
bool phase_latency(struct bench *bench, struct error *error);

/* What an executor takes that has nothing to do, as a user starts it. */
bool phase_idle(struct bench *bench, struct error *error);

/* The network face: jobs created one by one over many connections, and jobs that workers outside
 * fetch and settle; with phase_clients and phase_drain, to which they are compared. */
bool phase_http(struct bench *bench, struct error *error);

/* ---- lists of kinds (kinds.lua, processes.lua) ---- */

/* Puts what was asked for into the report. */
bool kinds_put_asked(struct bench *bench);
/* Writes the script folder with the files of a kind. */
bool kinds_folder(const struct bench *bench, const json_t *row, struct error *error);
/* The report of a bench that measures the kinds which an embedded program lists. */
json_t *kinds_bench(const struct bench_options *options, const char *program,
                    bool (*each)(struct bench *bench, const json_t *kinds, struct error *error),
                    struct error *error);
