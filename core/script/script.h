/* script.h - one Lua state with one script folder loaded: runs jobs, priorities, strategies.
 *
 * A struct script belongs to one thread at a time. Nothing a script does ends the process or
 * escapes as a Lua error: a failure is an outcome or an error. */
#pragma once

#include "base/error.h"
#include "job/definition.h"
#include "job/job_spec.h"
#include "job/outcome.h"
#include "job/settings.h"
#include "script/folder.h"

struct script;
struct lua_State;

/* How a deadline reaches a running handler. */
enum script_hook {
    HOOK_ALWAYS,    /* a count hook looks at the clock: the module, sanitizer builds */
    HOOK_ON_SIGNAL, /* script_interrupt arms it: the program */
    HOOK_OFF        /* a borrowed state */
};

/* What a folder is loaded for. */
enum script_reading {
    READING_RUN,     /* its jobs are run */
    READING_EARLIER, /* they are, and it was checked when it was deployed: what its processes
                        lacked then is missed where it is called */
    READING_FOLDER,  /* it is checked and never run */
    READING_FILE,    /* it is one file by itself, whose handlers lie elsewhere */
    READING_PLAIN,   /* jobs of its handlers are created: no process is read */
};

/* What a running handler may ask of the outside. Called on the script's thread; NULL members: the
 * verb raises "not available here". Only bytes cross. */
struct script_host {
    void *arg;
    /* an id for a job that the handler creates; 0: error */
    int64_t (*next_id)(void *arg, struct error *error);
    /* a line of print or job:log, at once; it is kept with the outcome all the same */
    void (*line)(void *arg, const struct job *job, const char *text);
    /* YES: the store knows this handler although the folder does not */
    enum answer (*knows)(void *arg, const char *handler, struct error *error);
    /* YES: the store has a priority that goes before the definition's own */
    enum answer (*overridden)(void *arg, const char *handler, struct error *error);
    bool (*extend)(void *arg, const struct job *job, time_ms until, struct error *error);
    bool (*progress)(void *arg, const struct job *job, double fraction, const char *text,
                     struct error *error);
    bool (*cancelled)(void *arg, const struct job *job);
    /* a read-only question: "jobs" with { filters, sort, descending, after, offset, limit },
     * "count" with filters, "job" with { id }; a new reference or NULL */
    json_t *(*query)(void *arg, const char *kind, const json_t *asked, struct error *error);
};

/* The Lua state of a program that runs handlers in it (specs). */
struct script_borrowed {
    struct lua_State *thread; /* of that state */
    int modules, handlers;    /* registry refs of tables, or LUA_NOREF */
    int missing; /* of the function that stands for what a process lacks, or LUA_NOREF */
    int http;    /* of the function that answers requests, or LUA_NOREF */
};

struct script_options {
    struct folder *folder;           /* retained */
    const struct settings *settings; /* must outlive the script */
    struct clock *clock;
    enum script_hook hook;
    struct script_host host;
    const struct script_borrowed *borrowed; /* run in this state; NULL: in one of its own */
    enum script_reading reading;
    const json_t *models; /* of a script_report, of models with the same text: they are read when an
                             instance needs them; NULL: all are read at once */
    bool written;         /* the rows of processes have their text in Lua, and their picture */
};

/* Loads the whole folder. NULL: `error` is the first problem; script_check has them all. */
struct script *script_open(const struct script_options *options, struct error *error);
/* Has it serve with the settings, clock, hook and host of these options from now on, where it was
 * loaded ahead with others. On the thread that uses it next. */
void script_join(struct script *script, const struct script_options *options);
void script_close(struct script *script); /* NULL is fine */
/* Closes it without waiting for finalizers that do not end. False: it is left behind. */
bool script_drop(struct script *script);

/* What loading a folder finds, as JSON arrays. */
struct script_report {
    json_t *definitions; /* in definitions_read's shape */
    json_t
        *schedules; /* { name, file, spec (for job_spec_read); priority, retries: of functions } */
    json_t *routes; /* { name, file, method, scope, secret, max, description } */
    json_t *problems;  /* { file, line, message }, of processes with column and id */
    json_t *processes; /* { key, name, file, tag, activities, hash, lua, picture } */
    json_t *versions;  /* of processes, as struct store_deployment has them */
    json_t *models;    /* what there is in each BPMN file, by its path; an object */
    json_t *warnings;  /* of processes, as problems */
};

/* Loads and reports; script_report_clear in any case. False: the folder could not even be tried.
 * For `check`, and for who runs the scripts elsewhere. */
bool script_check(const struct script_options *options, struct script_report *report,
                  struct error *error);
void script_report_clear(struct script_report *report);

/* Copies what the folder declares: its definitions, and its schedules and versions as in struct
 * script_report. All are the caller's. False: no memory. */
bool script_declares(const struct script *script, struct definitions *definitions,
                     json_t **schedules, json_t **versions, struct error *error);

/* Runs one job to its outcome, the retry decision included (outcome->decided). The run begins at
 * `now` (wall clock) and `at` (monotonic), from which its timeout counts. Takes the job over. Never
 * NULL except when memory is out. */
struct outcome *script_run(struct script *script, struct job *job, time_ms now, time_ms at);

/* What handlers did in the last walk, which has failed: JSON for the next one, as a unit has it.
 * NULL: nothing, or the walk cannot say. The caller frees it. */
char *script_kept(struct script *script);

/* The retry decision for a failure without a run (worker died, cut off): fills retries and due. */
void script_decide(struct script *script, struct outcome *outcome);

/* The priority of a spec whose definition has a function or an expression; the present one stays
 * where it has no opinion. Limited to 1 s. */
bool script_priority(struct script *script, struct job_spec *spec, struct error *error);

/* The unique key of a spec whose definition has a function for it, if it gives one; limited to 1
 * s. The spec owns it. */
bool script_unique(struct script *script, struct job_spec *spec, struct error *error);

/* The runs a spec shows whose definition has an expression for its retry; the present ones stay if
 * it fails, which the first failure tells of. Limited to 1 s. */
void script_retries(struct script *script, struct job_spec *spec);

/* A process as a picture: see `picture` of lua/moonshift/worker.lua. A text or an object, the
 * caller's; NULL: error. Limited to 5 s. */
json_t *script_picture(struct script *script, const json_t *asked, struct error *error);

/* What the folder says of a route, borrowed; NULL: it has none of this name. */
const json_t *script_route(const struct script *script, const char *name);
/* The answer of a route to { name, method, path, query, headers, body }: { status, text, json,
 * jobs }, see lua/moonshift/route.lua. The caller's; NULL: error. Limited to 1 s. */
json_t *script_answer(struct script *script, const json_t *asked, struct error *error);

/* True after a failure by memory, or `recycle_after` jobs: replace this script by a fresh one. */
bool script_worn(const struct script *script);

/* Monotonic instant by which the running handler must end; TIME_NEVER while none runs. Any thread.
 */
time_ms script_deadline(const struct script *script);

enum { SCRIPT_SEEN = 160 }; /* bytes */

/* Any thread: where the running handler was last seen: "handlers/a.lua:3 (in find)", or "before its
 * first line". With `look` it is looked for again at the next interrupt. */
void script_seen(struct script *script, bool look, char text[SCRIPT_SEEN]);

/* Once in the program, before any interrupt: reading a stack in the middle of a change is no fault.
 */
void script_guard(void);

/* Arms the count hook so that the running handler raises its time limit (or its cancellation).
 * Async-signal-safe; only from a signal handler on the script's own thread. */
void script_interrupt(struct script *script);

/* Any thread: the running job, if it is `job`, is to be cut off ("cancelled", "stopping") at the
 * next interrupt; its outcome is then OUTCOME_CANCELLED or OUTCOME_RETURNED. */
enum script_cut { CUT_NONE, CUT_CANCEL, CUT_RETURN };
void script_cut(struct script *script, int64_t job, enum script_cut cut);

/* The value a borrowed script's last failing handler raised, pushed on the borrowed state (nil if
 * none): execute re-raises it as it is. */
void script_push_raised(struct script *script);
