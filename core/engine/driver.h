/* driver.h - the functions that a driver, which runs an engine's jobs, needs of the engine: loaded
 * generations, a job taken by hand, a run on this thread. Used by core/run/ and core/bench/ alone.
 */
#pragma once

#include "engine/engine.h"
#include "engine/generations.h"
#include "job/outcome.h"

/* The engine's store, which the driver's turns use too. */
struct store *engine_store(struct engine *engine);

/* A driver begins a piece of work. ERROR_CONFLICT: a job of this engine runs already. */
bool engine_enter(struct engine *engine, struct error *error);

/* Registers what is loaded, now and at each reload, for the executor that `settings` name. They are
 * borrowed until engine_leave. */
bool engine_join(struct engine *engine, const struct settings *settings, struct error *error);
void engine_leave(struct engine *engine);

/* Returns the loaded generations; NULL: no folder. Valid until the next engine_reload or
 * engine_adopt. */
const struct generations *engine_generations(const struct engine *engine);
/* Deploys a generation, which is taken over, and makes it the newest one. *before: those there
 * were, for generations_free once nothing uses them. False: nothing has changed, and `generation`
 * is the caller's. */
bool engine_adopt(struct engine *engine, struct generation *generation, struct generations **before,
                  struct error *error);
/* Keeps in the store what was found in the models of the newest folder, for the next program that
 * loads it. Not done yet by engine_adopt, and at most once. */
void engine_keep(struct engine *engine);

/* Deploys the newest generation once more if it was left to a newer one that no live executor has
 * any more. It counts from then on, and generation_tell says so. */
bool engine_take_back(struct engine *engine, struct error *error);

/* Runs a job on this thread; takes it over. `generation`: as engine_take has said; NULL: the newest
 * that has the handler. NULL: no memory. */
struct outcome *engine_run_job(struct engine *engine, struct generation *generation,
                               struct job *job);

/* Asks the definition of a failed job when it runs again; the store has refused what its run did.
 * `generation`: as above. */
void engine_decide(struct engine *engine, struct generation *generation, struct outcome *outcome);

/* Takes a job by hand, whatever its state. NULL: error, ERROR_NOT_FOUND if there is no such job or
 * no handler for it. */
struct job *engine_take(struct engine *engine, int64_t id, bool force,
                        struct generation **generation, struct error *error);

/* Between transactions: keeps the write-ahead log short. */
void engine_tidy(struct engine *engine);
