/* intake.h - creating many jobs in several transactions, all or nothing (rules §1); and asking for
 * jobs or commands under a key, so that asking again is harmless. */
#pragma once

#include "engine/engine.h"
#include "store/intake.h"
#include "store/request.h"

/* A request under a key. The answer is written with the jobs. */
struct engine_request {
    struct store_request asked; /* key NULL: without one */
    /* Makes the answer, once all is created. A new reference; NULL: no memory. */
    json_t *(*answer)(void *arg, const struct created *created, size_t count);
    void *arg;
    json_t *found; /* out: it was asked for before, and this was the answer; the caller's */
};

/* As engine_enqueue, but under a key. True with request->found: nothing was created now. */
bool engine_enqueue_once(struct engine *engine, const struct engine_spec *specs, size_t count,
                         struct created *created, size_t *refused, struct engine_request *request,
                         struct error *error);

/* Was it asked for before? Then request->found. False: error, such as other content. */
bool engine_request_find(struct engine *engine, struct engine_request *request,
                         struct error *error);

/* In the open transaction that has created them. */
bool engine_request_keep(struct engine *engine, const struct engine_request *request,
                         const struct created *created, size_t count, struct error *error);

/* ---- commands under a key ---- */

/* From now on commands of engine_order and engine_batch_create are done under this key, each once:
 * the answer is kept in the transaction that does it. request->answer is called there without jobs,
 * when the command's out members are filled. A command that fails with request->found was done
 * before, perhaps by another process meanwhile, and nothing is written. Borrowed; NULL: no key. */
void engine_ask_under(struct engine *engine, struct engine_request *request);

/* As store_begin, for the transaction that does the command. False: error, or it was done. */
bool once_begin(struct engine *engine, struct error *error);
/* As engine_end, with the answer. */
bool once_end(struct engine *engine, bool ok, struct error *error);

/* ---- many jobs ---- */

/* See store/intake.h. engine_intake_end or engine_intake_abandon in any case afterwards. */
bool engine_intake_begin(struct engine *engine, struct store_intake *intake, int64_t count,
                         struct error *error);
/* As engine_enqueue. A job that is CREATION_REPLACED must be created with the end. */
bool engine_intake_add(struct engine *engine, struct store_intake *intake,
                       const struct engine_spec *specs, size_t count, struct created *created,
                       size_t *refused, struct error *error);
/* Creates the last jobs and releases all in one transaction. With request->found another
 * process got the same request meanwhile: nothing is created. */
bool engine_intake_end(struct engine *engine, struct store_intake *intake,
                       const struct engine_spec *specs, size_t count, struct created *created,
                       struct engine_request *request, struct error *error);
/* Removes all of it. Rows that cannot be removed now are removed by other processes later. */
void engine_intake_abandon(struct engine *engine, struct store_intake *intake);
