/* engine.h - one store plus the definitions that work on it: every operator verb is one function
 * here, used by the Lua module and by the command line.
 *
 * An engine belongs to one thread at a time. Every verb that writes runs in a transaction of its
 * own and is acknowledged after it is synced. */
#ifndef MOONSHIFT_API_ENGINE_H
#define MOONSHIFT_API_ENGINE_H

#include "run/executor.h"
#include "script/script.h"
#include "store/store.h"

struct engine;

struct engine_options {
    const struct settings *settings; /* copied by reference: must outlive the engine */
    enum store_mode mode;
    struct clock *clock;
    struct folder *folder;      /* NULL: no scripts here; definitions come from the store */
    struct lua_State *borrowed; /* specs: run handlers in this state */
    int modules, handlers;      /* registry refs, see script_options */
    bool takes_back;            /* the folder counts although a live executor has a newer one */
};

/* Opens the store; loads and deploys the folder if there is one. NULL: error. */
struct engine *engine_open(const struct engine_options *options, struct error *error);
void engine_close(struct engine *engine); /* gives locks back; NULL is fine */

struct store *engine_store(struct engine *engine);
struct clock *engine_clock(struct engine *engine);
struct folder *engine_folder(struct engine *engine); /* borrowed; NULL: none */
const struct definitions *engine_definitions(struct engine *engine);
const struct settings *engine_settings(struct engine *engine);
/* The newer deployment of the folder's name that counted until the folder was loaded; 0: none. */
int64_t engine_taken_back(struct engine *engine);

/* True if an executor can run it in threads of its own. */
bool engine_startable(struct engine *engine, struct error *error);

/* Loads the folder's present files as a new generation. False: the old one stays. */
bool engine_reload(struct engine *engine, struct folder *folder, struct error *error);

struct engine_created {
    int64_t id; /* of the new job, or of the one that holds its unique key */
    enum creation creation;
};
/* What a creator says of one job. */
struct engine_draft {
    json_t *spec;       /* a draft's object (draft.h); NULL: */
    struct brief brief; /* the same in short */
};
/* Creates jobs in one transaction, all or nothing; created[i] is filled for each. Unknown handlers
 * are refused with the known names. Returns after the jobs are on disk. *refused, if asked for: the
 * draft that was wrong, or `count` if the error is no draft's fault. */
bool engine_enqueue(struct engine *engine, const struct engine_draft *drafts, size_t count,
                    struct engine_created *created, size_t *refused, struct error *error);
/* Reads and checks one draft without writing (the first pass of --from). */
bool engine_check_draft(struct engine *engine, const struct engine_draft *draft,
                        struct error *error);

/* Runs one job by hand, in this thread. The stored text is raised as `error` on failure; *result:
 * the handler's result as a new reference (NULL: none). */
bool engine_execute(struct engine *engine, int64_t id, bool force, json_t **result,
                    struct error *error);

struct engine_run {
    int64_t done, failed;
    double wait;
    int settled, acquired;
};
/* Runs all that is due now, in this thread, at most `max` runs (error beyond). */
bool engine_drain(struct engine *engine, int64_t max, struct engine_run *run, struct error *error);
/* One turn without threads: settle, acquire, run, settle. */
bool engine_turn(struct engine *engine, struct engine_run *run, struct error *error);

/* The same under other settings (range, categories, name): the engine leaves the store and joins it
 * again when they change. `settings` must outlive the engine or the next call. */
bool engine_turn_as(struct engine *engine, const struct settings *settings, struct engine_run *run,
                    struct error *error);
/* Leaves the store if the engine joined it under these settings; the next turn joins it again. */
void engine_leave(struct engine *engine, const struct settings *settings);
/* { name, id, acquired, done, … } of the engine's own executor; NULL if it has not joined. */
json_t *engine_status(struct engine *engine);

/* ---- operator verbs (rules §11), at the engine's time ---- */

/* Times in an order or in filters become instants, in the engine's zone (base/instant.h). */
bool engine_settle(struct engine *engine, json_t *object, struct error *error);

struct engine_operated {
    /* in; may be NULL: told after each transaction of a verb that needs several */
    void (*tell)(void *arg, size_t touched);
    void *arg;
    /* out */
    size_t touched;
    int64_t job;              /* of a verb with a date: the timer that will do it */
    struct held held;         /* of the jobs it activated, those that stay suspended */
    struct store_stuck stuck; /* runs of deleted or cancelled jobs that nothing can end */
    int64_t batch; /* it touches more jobs than one transaction takes: this batch does it */
};
/* Any order of base/order.h. Up to 1 000 jobs are all or nothing; more are done by a batch (rules
 * §11, §17), each job of which is all or nothing. What is done to a definition or an instance
 * itself, such as its suspension, is done at once all the same. */
bool engine_operate(struct engine *engine, json_t *order, struct engine_operated *operated,
                    struct error *error);

/* For executors of this name; NULL: the engine's own. *changed: 0 or 1. */
bool engine_set_registered(struct engine *engine, int64_t deployment, const char *executor,
                           bool registered, size_t *changed, struct error *error);
/* All or none of them, see store_delete_deployment. `try`: only looks. */
bool engine_delete_deployments(struct engine *engine, const int64_t *ids, size_t count, bool try,
                               struct error *error);
/* `who` is a name or an id as text; see store_drain. */
bool engine_drain_executor(struct engine *engine, const char *who, bool draining, size_t *touched,
                           struct error *error);

/* Begins to clean the history, see store_clean_history. */
bool engine_clean_history(struct engine *engine, int64_t ids[STORE_CLEANERS], int *count,
                          struct error *error);

/* For a borrowed script: pushes what the last failing handler raised. */
void engine_push_raised(struct engine *engine);

#endif
