/* engine.h - one store plus the definitions that work on it: every operator verb is one function
 * here, used by the Lua module and by the command line.
 *
 * An engine belongs to one thread at a time. Every verb that writes runs in a transaction of its
 * own and is acknowledged after it is synced. */
#pragma once

#include "script/script.h"
#include "store/store.h"

struct engine;
struct generation;

struct engine_options {
    const struct settings *settings; /* copied by reference: must outlive the engine */
    enum store_mode mode;
    struct clock *clock;
    struct folder *folder; /* NULL: no scripts here; definitions come from the store */
    const struct script_borrowed *borrowed; /* see script_options; must outlive the engine */
    enum deployment_claim claim;            /* of the folder */
    bool plain; /* jobs of handlers are created, and no more: models are read only if need be */
    bool checks_only; /* jobs run in other threads: the folder is loaded, no Lua state is kept */
    int (*hurries)(void); /* see store_set_impatient; NULL: never */
};

/* Opens the store; loads and deploys the folder if there is one. NULL: error. */
struct engine *engine_open(const struct engine_options *options, struct error *error);
void engine_close(struct engine *engine); /* gives locks back; NULL is fine */

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
/* The same of what generation_check has loaded under the same settings, for an engine that keeps no
 * Lua state (checks_only). Takes it over in any case. */
bool engine_take_checked(struct engine *engine, struct generation *checked, struct error *error);

/* What the functions of a definition said of a job. */
struct engine_answers {
    bool known; /* false: they were not asked */
    int64_t priority;
    int32_t retries;
    char *unique; /* malloc'ed; NULL: no key, or not asked */
};

/* A job as its creator describes it. */
struct engine_spec {
    json_t *object;                       /* as job_spec_read takes it; NULL: */
    struct spec_fast fast;                /* the same in short */
    const struct engine_answers *answers; /* of engine_check_spec; NULL: the functions are asked */
    time_ms at;                /* when it was said, for times that count from then; 0: now */
    struct job_spec *whole;    /* of engine_complete: all else has been read; NULL: not yet */
    const struct job *creator; /* whose run creates it, see job_spec_inherit; NULL: none */
};
static inline void engine_spec_clear(struct engine_spec *spec) {
    json_decref(spec->object);
    job_spec_free_list(spec->whole);
    spec_fast_clear(&spec->fast);
}
/* Creates jobs in one transaction, all or nothing; created[i] is filled for each. Unknown handlers
 * are refused with the known names. Returns after the jobs are on disk. *refused, if asked for: the
 * spec that was wrong, or `count` if the error is no spec's fault. */
bool engine_enqueue(struct engine *engine, const struct engine_spec *specs, size_t count,
                    struct created *created, size_t *refused, struct error *error);
/* Specs that are completed one after the other. Zero-initialise. */
struct engine_check {
    struct engine_answers answers;  /* out, of the last one: what was asked; the caller's */
    char handler[JOB_NAME_MAX + 1]; /* the last one whose override was looked for */
    bool overridden;                /* it has one: then its function is not asked */
};
/* Reads and checks one spec without writing (the first pass of --from). */
bool engine_check_spec(struct engine *engine, const struct engine_spec *spec,
                       struct engine_check *check, struct error *error);
/* Reads, checks and completes one spec that is written later, by store_create; for
 * job_spec_free_list. NULL: error. */
struct job_spec *engine_draft(struct engine *engine, const struct engine_spec *spec,
                              struct error *error);

/* Reads and completes a spec, so that another engine of the store can write it: with YES it is
 * `whole`. NO, with an error: its definition has a function, or is not of the folder, and the
 * engine keeps no Lua state (checks_only). */
enum answer engine_complete(struct engine *engine, struct engine_spec *spec,
                            struct engine_check *check, struct error *error);

/* True if it can call the functions of definitions: it keeps a Lua state. */
bool engine_has_scripts(const struct engine *engine);

/* True if nothing runs in this engine; else ERROR_CONFLICT. */
bool engine_idle(const struct engine *engine, struct error *error);

/* ---- questions, at the engine's time ---- */

/* Any question of job/ask.h, as an object (see store_ask; NULL: an empty one): the one way in for
 * every face. Times in it become instants. A new reference; NULL: error. */
json_t *engine_ask(struct engine *engine, enum ask_kind kind, const json_t *question,
                   struct error *error);
/* The same, takes the question over. NULL, without an error, also where there is no engine. */
json_t *engine_ask_of(struct engine *engine, enum ask_kind kind, json_t *question,
                      struct error *error);
/* The same about the thing with this id. */
json_t *engine_ask_id(struct engine *engine, enum ask_kind kind, int64_t id, struct error *error);
/* Says which rows the questions since the last call have left out; NULL: none. */
const char *engine_ask_warning(struct engine *engine);
/* The kind's name, and the columns of its rows. */
const struct ask_table *engine_ask_table(enum ask_kind kind);

/* What is new in the log, from time to time; see store_tail_new. */
struct store_tail *engine_tail_new(struct engine *engine, const json_t *filters, int count,
                                   json_t **last, struct error *error);
json_t *engine_tail_next(struct engine *engine, struct store_tail *tail, struct error *error);
void engine_tail_free(struct store_tail *tail);

/* The path of the store's file; NULL: it is in memory. */
const char *engine_path(const struct engine *engine);
/* How many ms its store is behind, if that is a replica; else TIME_NONE. */
time_ms engine_lag(struct engine *engine);

/* True: no commit of its store ends at present, and `why` says what it waits for. */
bool engine_stalled(struct engine *engine, struct error *why);
/* The deployment since which the loaded folder has this handler no more; 0: it has it, never had
 * it, or an executor has a newer folder. */
int64_t engine_lost(struct engine *engine, const char *handler);
/* True if the store has the handler from an earlier deployment. */
bool engine_has_deployed(struct engine *engine, const char *handler);

/* ---- operator verbs (rules §11), at the engine's time ---- */

/* From now on the operation log names this one, who is borrowed; NULL: the setting `who`. */
void engine_act_as(struct engine *engine, const char *who);

/* From now on what begins with a command to a process has this trace (base/trace.h), borrowed;
 * NULL: none. */
void engine_trace(struct engine *engine, const char *trace);

/* A command or filters whose times are instants, by the engine's zone (time/instant.h). A new
 * reference; NULL: error. */
json_t *engine_resolve_times(struct engine *engine, const json_t *object, struct error *error);

/* Any command of job/command.h: the one way in for every face. Up to 1 000 jobs are all or nothing;
 * more are done by a batch (rules §11, §17), each job of which is all or nothing. What is done to a
 * definition or an instance itself, such as its suspension, is done at once all the same. */
bool engine_command(struct engine *engine, const json_t *command, struct command_run *run,
                    struct error *error);

/* Any command to a process instance, walked on this thread and written before this returns. Its
 * `kind` decides what else it needs, and may have:
 *   - start: process; version or tag, variables, key, tenant, operations as of modify, dry_run;
 *   - complete: task; variables;
 *   - throw, escalate: task, code; variables, and message of the first: the task ends with a BPMN
 *     error; it escalates, and stays open unless what catches that interrupts it;
 *   - message: message; key, instance, token, business_key, starts (true: only start events),
 *     variables, keep (a span: if nothing waits for it, it is kept so long for what will; the
 *     answer is 0);
 *   - trigger: instance; activity, variables;
 *   - signal: signal; instance, tenant: *answer is how many have got it, true where jobs give it;
 *   - cancel: instance; reason, skip_listeners, skip_mappings, skip_called;
 *   - set: instance; variables;
 *   - modify: instance; operations (lua/moonshift/process/operations.lua), skip_listeners,
 *     skip_mappings, reason, dry_run (nothing is done; the answer says what each would do);
 *   - restart: instance, which has ended; operations of the new one, the answer; see
 *     process_restart_read.
 * Those of tasks, `start`, `message` and `trigger` may have `transient`, variables that last as
 * long as the walk. *answer is the id of the instance, the caller's. A failing handler leaves
 * everything as it was: ERROR_FAILED with its message. */
bool engine_process(struct engine *engine, const json_t *command, json_t **answer,
                    struct error *error);

/* A picture of { process, version } or of { instance }. Its `form` is "svg" or "text", a text, or
 * "drawing", an object. With `heat` it says how often each activity began, in this instance or in
 * the newest ones of the version. Nothing is written. The caller's; NULL: error. */
json_t *engine_picture(struct engine *engine, const json_t *question, struct error *error);

/* How such a command is given, and what came of it. */
struct engine_order {
    /* in */
    bool now;        /* walked here in any case, if need be with the store's deployment */
    bool later;      /* by a job in any case */
    int32_t retries; /* of the job; 0: as configured */
    /* out */
    int64_t instance;           /* that it is about; 0: the job begins it */
    int64_t job;                /* 0: it is done */
    bool kept;                  /* a message that nothing waits for yet */
    bool by_jobs;               /* for many: each gets it by a job */
    json_t *told;               /* what a trial would do, or the ids of a list; NULL: it was none;
                                   the caller's */
    struct outcome_line *lines; /* that handlers printed here, also before an error; the caller's */
};
/* The same command. It is walked here if the folder has the process and is not older than that of a
 * live executor; else a job of the process does it, in the lane of the instance. */
bool engine_order(struct engine *engine, const json_t *command, struct engine_order *order,
                  struct error *error);

enum { ENGINE_LIST_MAX = 1000 };
/* The same for an array of at most so many commands: all are written in one transaction, or none.
 * Each finds the instances as the commands before it leave them; what it names must be there when
 * the list begins. *answer: the ids of the instances in their order, the caller's; 0 where a job
 * begins one, and for messages that are kept; given->job is then the last such job. An error names
 * the entry, or says its place from 0 in *refused if that is not NULL. */
bool engine_process_list(struct engine *engine, const json_t *commands, struct engine_order *given,
                         json_t **answer, size_t *refused, struct error *error);

/* For a borrowed script: pushes what the last failing handler raised. */
void engine_push_raised(struct engine *engine);
