/* script_state.h - what a script is made of. Private to script/. */
#pragma once

#include "script/state.h"
#include "time/retry.h"

#define LOAD_SPAN 10000    /* ms for a whole folder */
#define CLOSE_SPAN 2000    /* ms for the finalizers of a folder that is checked */
#define FUNCTION_SPAN 1000 /* ms for a priority, a strategy, a __tostring */

/* How a definition retries; beside it in the same order. */
struct plan {
    int handler;         /* registry ref of its function */
    struct retry *retry; /* a textual configuration, or NULL */
    bool strategy;       /* a function decides */
};

struct script {
    struct state state; /* first: natives find their script by it */
    struct folder *folder;
    const struct settings *settings;
    struct clock *clock;
    struct script_host host;
    struct definitions definitions;
    struct plan *plans;
    json_t *hook_paths;   /* its hooks, in their order */
    unsigned hook_events; /* what they want to be told of, see job/hook.h */
    /* what loading found; see script_check */
    json_t *rows, *schedules, *routes, *problems, *processes, *versions, *models, *warnings;
    int worker;        /* ref of the loaded Lua half: { decide, priority, … } */
    int walk;          /* ref of the function that runs jobs of instances */
    int raised;        /* borrowed: ref of what the last failing handler raised */
    int handle;        /* ref of the job objects' metatable */
    struct run *run;   /* NULL: no handler runs */
    const char *mute;  /* why no request can be made now: "in a priority function"; NULL: it can */
    const char *call;  /* which call of its walk runs; NULL: the handler of a plain job */
    char loading[256]; /* the file that is being loaded, for messages */
    int64_t runs;
    bool worn;
};

/* What a handler has done so far. */
struct run {
    struct script *script;
    struct outcome *outcome;
    struct handle *handle;
    struct job_spec **last_created;
    struct outcome_line **last_line;
    size_t line_count, line_bytes;
    time_ms snooze; /* TIME_NONE: not snoozed */
    int64_t again;  /* the id of the next job that is created; 0: a new one */
    int handler;    /* ref */
    bool walks;     /* the handler is the walk, and gives a unit */
    bool lost;      /* what it asked of the store could not be had: a failure is not its own */
};

/* Makes the Lua half loadable in this state and pushes lua/moonshift/worker.lua's table. May raise.
 */
void script_boot(struct script *script, lua_State *L);

/* Takes the raised value of a failed state_call off the stack: { file, line, message }, or NULL
 * when memory is out. `what` is what was going on: "loading". */
json_t *script_problem(struct script *script, const char *what, time_ms span);

/* The same where a limit has struck and what went on has not ended for all that: a C function of
 * Lua's library runs. The script stays with the thread that it runs on. NULL: no file is named. */
json_t *script_endless(const struct script *script, const char *what, time_ms span);

/* Set by natives/: pushes { paths, load, text, loading, is_store, print, rep, move, resume, wrap,
 * close, execute, popen, request, check_spec, now, job = { … } }; may raise for memory. */
extern void (*const script_natives)(struct script *script, lua_State *L);
/* Adds functions to the table on top. */
void script_add(struct script *script, lua_State *L, const luaL_Reg *functions);

/* The script of the running native. */
struct script *script_of(lua_State *L);

/* A line of print or job:log, kept with the outcome; bounded. No effect while no handler runs. */
void run_line(struct run *run, const char *text, size_t size);

/* The store has refused something with `error`: notes whether that is the store's own trouble. */
void run_lost(struct run *run, const struct error *error);

/* Collects a job that the handler creates, of an object or (`spec` is NULL) in short; its id, or 0.
 * `L` is the coroutine that asks. */
int64_t run_create(struct run *run, lua_State *L, json_t *spec, const struct spec_fast *fast,
                   struct error *error);

/* Collects a job that is complete; its id, or 0. */
int64_t run_collect(struct run *run, struct job_spec *spec, struct error *error);

/* Collects an operator's verb that the handler asks for; see command.h. */
bool run_operate(struct run *run, const json_t *command, struct error *error);

/* The index of a definition by name, or -1. */
ptrdiff_t script_find(const struct script *script, const char *name);
