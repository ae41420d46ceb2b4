/* generation.h - one loaded script folder: its bytes, what it declares, and its deployment in the
 * store. */
#pragma once

#include "script/script.h"
#include "store/store.h"

struct generation {
    struct generation *next; /* private: of those that an engine has loaded from its store */
    struct folder *folder;
    const char *name; /* of its deployment; borrowed of the engine's settings or the folder */
    struct definitions definitions; /* its own; their ids are the store's once it is deployed */
    json_t *schedules, *versions;   /* see struct script_report */
    char *found;                    /* in its models, for the store; NULL: it has that */
    json_t *known;                  /* private: models that its script has not read */
    struct script **ready;          /* Lua states loaded ahead for its threads */
    int ready_count;
    struct script *script;         /* NULL: its jobs run in other threads, each with a Lua state */
    struct script_options options; /* private: of that script */
    int64_t deployment;            /* in the store; 0 until it is deployed */
    int64_t taken_back;            /* the newer deployment that counted until then; 0: none */
    int64_t left_to;               /* the newer one that a live executor has; 0: none */
    json_t *renamed;               /* deployments that have its name now; NULL: none */
    bool plain;                    /* no process is read; the store has it already */
    int number;                    /* grows with each reload */
};

/* Loads the whole folder once, to see that it can be loaded, and keeps no Lua state. Retains the
 * folder. Models that `before` (NULL: none), checked under the same settings, has with the same
 * text are not read again. Logs every problem if `log`. NULL: error is the first,
 * `handlers/a.lua:3: …`. Runs the folder's top-level code. */
struct generation *generation_check(struct folder *folder, const struct folder *before,
                                    const struct settings *settings, struct clock *clock, bool log,
                                    struct error *error);
/* Loads one more Lua state ahead, for a thread to come. False: it cannot be had. The settings and
 * the clock must outlive it, or generation_join gives it others. */
bool generation_warm(struct generation *generation, const struct settings *settings,
                     struct clock *clock);
/* Has the states that are ready use these settings and this clock from now on. */
void generation_join(struct generation *generation, const struct settings *settings,
                     struct clock *clock);
/* Hands over one that is ready, for script_join; NULL: there is none. */
struct script *generation_take(struct generation *generation);
/* Loads the folder of the options (retained) and keeps its Lua state. The options point to things
 * that must outlive it. `before` as for generation_check. NULL: error. */
struct generation *generation_open(const struct script_options *options,
                                   const struct folder *before, struct error *error);
/* Closes its Lua state too. NULL is fine. */
void generation_free(struct generation *generation);

/* Opens a fresh Lua state if the present one is worn and its own. If that fails, the worn one stays
 * and the next call tries again. */
void generation_freshen(struct generation *generation);

/* Writes the user's files under the name that the settings say, or the folder has, the definitions
 * and the schedules, and registers the deployment for executors of this name. Of a folder that
 * comes from the store only the registration is written. `claim`: what becomes of a newer one. */
bool generation_deploy(struct generation *generation, struct store *store,
                       const struct settings *settings, const char *executor_name,
                       enum deployment_claim claim, time_ms now, struct error *error);
/* Keeps in the store what was found in the models of a folder that is deployed, for the next
 * program that loads it. Done once. */
void generation_keep(struct generation *generation, struct store *store,
                     const struct settings *settings);
/* YES: the store has the folder as the deployment of its name that counts, with the definitions and
 * schedules of this generation. Its processes are then the store's, too. */
enum answer generation_deployed(struct generation *generation, struct store *store,
                                const struct settings *settings, struct error *error);
/* Says in the log if a newer deployment counts beside it, or counted until now, and which ones have
 * its name from now on. */
void generation_tell(const struct generation *generation);
