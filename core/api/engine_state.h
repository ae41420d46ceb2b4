/* engine_state.h - what an engine is made of; private to core/api/. */
#ifndef MOONSHIFT_API_ENGINE_STATE_H
#define MOONSHIFT_API_ENGINE_STATE_H

#include "api/engine.h"
#include "base/draft.h"

/* One loaded script folder. The engine's own, or one that an earlier deployment left in the store.
 */
struct generation {
    struct generation *next;
    int64_t deployment; /* 0: not in the store (a connection that only reads) */
    int64_t taken_back; /* the newer one that counted before it was loaded; 0: none */
    struct folder *folder;
    struct script *script;
    bool replaced; /* it was the engine's own: what no newer one has is still served */
};

struct draft_room {
    struct draft *drafts; /* all clear */
    size_t count;
};

struct engine {
    struct engine_options options;
    struct store *store;
    struct generation *current; /* NULL: no folder */
    struct generation *older; /* newest first: replaced by a reload, or loaded from the store when a
                                 handler asked for them */
    struct definitions served; /* what the executor runs; the texts are the generations' */
    struct executor *executor; /* NULL until the first turn */
    const struct settings *joined_as;
    int64_t next_id, ids_left; /* handed out ahead for jobs that handlers create */
    bool running;              /* a handler runs: no second turn, no close */
    struct draft_room room;    /* of the jobs that are created next; none while some are */
};

/* Loads `folder` (retained). NULL: error. generation_free closes it; NULL is fine. */
struct generation *generation_new(struct engine *engine, struct folder *folder, bool borrow,
                                  struct error *error);
void generation_free(struct generation *generation);
/* A fresh Lua state for the same folder, if the present one is worn; else nothing. */
void generation_freshen(struct engine *engine, struct generation *generation);

/* The generation that serves `handler`, and its definition (NULL for one that was created
 * unchecked): the folder first, else the store. *generation NULL: nobody knows it; no error. False:
 * error. */
bool engine_find(struct engine *engine, const char *handler, struct generation **generation,
                 const struct definition **definition, struct error *error);
/* Fills ERROR_NOT_FOUND with the names that are known; returns false. */
bool engine_unknown(struct engine *engine, const char *handler, struct error *error);

/* The generation that runs jobs of the handler: the newest loaded one that has it, else the
 * current.
 */
struct generation *engine_serving(struct engine *engine, const char *handler);
/* Brings what the executor serves up to date; generations that are not needed any more go. False:
 * no memory, nothing was changed. */
bool engine_serve(struct engine *engine, struct error *error);
/* Makes a generation the current one, in place of the one before. */
bool engine_replace(struct engine *engine, struct generation *generation, struct error *error);

/* Runs a job in this thread; takes it over. NULL: no memory. */
struct outcome *engine_run_job(struct engine *engine, struct generation *generation,
                               struct job *job);

/* Joins the store under `settings` if it has not, or under others. */
bool engine_join(struct engine *engine, const struct settings *settings, struct error *error);
/* Registers the engine's deployment for the executor that `settings` name, if it asks for that. */
bool engine_register(struct engine *engine, const struct settings *settings, struct error *error);
/* True if nothing runs in this engine; else ERROR_CONFLICT. */
bool engine_idle(const struct engine *engine, struct error *error);

/* Ends a transaction: commits if `ok`, else rolls back and returns false. */
bool engine_end(struct engine *engine, bool ok, struct error *error);
/* What engine_enqueue does, but for the transaction: `write` writes the jobs, a list. */
typedef bool engine_writer(struct engine *engine, struct job *jobs, void *arg, struct error *error);
bool engine_create(struct engine *engine, const struct engine_draft *drafts, size_t count,
                   struct engine_created *created, size_t *refused, engine_writer *write, void *arg,
                   struct error *error);
struct engine_created engine_created_of(const struct job *job);

/* Between transactions: keeps the write-ahead log short. */
void engine_tidy(struct engine *engine);
/* Nothing runs any more: on a file, the engine is no executor until it is one again. */
void engine_rest(struct engine *engine);

/* What running handlers may ask of the engine. */
struct script_host engine_host(struct engine *engine);

time_ms engine_now(const struct engine *engine);

#endif
