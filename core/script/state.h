/* state.h - one Lua state under limits: memory by its allocator, time by a count hook that no pcall
 * can swallow. Private to script/.
 *
 * All user code runs inside state_call. A state belongs to one thread; the atomic members may be
 * looked at from others. */
#pragma once

#include "base/clock.h"
#include "script/blocks.h"
#include "script/script.h"
#include "script/seen.h"
#include <lauxlib.h>
#include <lua.h>
#include <signal.h>
#include <stdatomic.h>

/* Why user code was stopped from outside. */
enum stop { STOP_NONE, STOP_TIME, STOP_MEMORY, STOP_CUT };

struct program;
struct transfers;

struct state {
    lua_State *main;             /* where C calls in */
    lua_State *volatile current; /* the coroutine that runs; read by a signal handler */
    bool borrowed;
    enum script_hook hook;
    int depth; /* of state_call; 0: no user code runs, no limits */
    /* memory */
    size_t used, limit;          /* bytes */
    struct blocks blocks;        /* small ones; opened once the script is loaded */
    const void *refused;         /* the block that could not grow, until something else could */
    size_t refused_size;         /* 0: none */
    int refusals;                /* in the outermost call */
    enum stop fired;             /* the running call has been stopped, for good */
    enum stop stopped;           /* the last call was */
    char *traceback;             /* of the last call that raised; malloc'ed or NULL */
    bool holds;                  /* the traceback is of the value in `held` */
    int on_error, box, names;    /* registry refs */
    int held;                    /* the same: what state_protect has caught last */
    struct program *processes;   /* started by io.popen, not yet closed */
    struct transfers *transfers; /* its connections, see transfer.h; NULL: none yet */
    bool wakes;                  /* state_interrupt writes to `wake` */
    int wake;                    /* an eventfd */
    volatile sig_atomic_t interrupted; /* by state_interrupt, in the outermost call */
    _Atomic time_ms deadline;          /* monotonic; TIME_NEVER: none */
    _Atomic int64_t running;           /* the job that runs; 0: none */
    _Atomic int64_t cut_job;           /* the job that is to be cut off */
    _Atomic int cut;                   /* how: enum script_cut */
    _Atomic bool sought;               /* the next interrupt notes where the script is */
    struct seen seen;                  /* where its handler was last */
};

/* A state of our own with the standard libraries; hook and limit are on from the first
 * instruction. False: no memory. */
bool state_open(struct state *state, size_t limit);
/* Works in another program's state: no hook, no limit. False: no memory. */
bool state_borrow(struct state *state, lua_State *thread);
/* How deadlines reach code from now on; user code is loaded under HOOK_ALWAYS. */
void state_hook_mode(struct state *state, enum script_hook hook);
void state_close(struct state *state);

/* Calls `body` protected, with the `args` values on top of the current stack and `arg` as a light
 * userdata after them, for at most `span` ms (TIME_NEVER: no limit of its own). Returns a Lua
 * status; if it is not LUA_OK the raised value is on top of the stack. state->stopped says whether
 * a limit ended it. May be nested. */
int state_call(struct state *state, lua_CFunction body, void *arg, int args, time_ms span);
/* The same with the monotonic instant at which the time is over. */
int state_call_until(struct state *state, lua_CFunction body, void *arg, int args,
                     time_ms deadline);

/* Lets the call around the last one go on, which needed too much memory: what it held is freed. For
 * code that is left out where it fails. */
void state_forgive(struct state *state);

/* A native: pcall, except that what it has caught and is raised again keeps its traceback. */
int state_protect(lua_State *L);

/* A native: hold(value) is raised instead of what state_protect has caught last, whose traceback it
 * keeps. */
int state_hold(lua_State *L);

/* Whether the running code must stop now, and why. */
enum stop state_due(struct state *state);
/* For natives that wait: raises if the running code must stop now. */
void state_check(struct state *state, lua_State *L);
/* The rest of the time in ms, at most `most`, at least 0: how long to wait before looking again. */
int state_rest(struct state *state, int most);

/* Raises as soon as Lua runs again, if a limit has passed, and wakes a native that waits.
 * Async-signal-safe. */
void state_interrupt(struct state *state);
/* From now on `wake` is ready when an interrupt comes; without it (no descriptor) a native looks at
 * the deadline again and again. */
void state_wakes(struct state *state);
/* Takes the interrupts that have come: `wake` is not ready until the next one. */
void state_woken(struct state *state);

/* Pushes a C function that finds its state with state_of. May raise for memory. */
void state_push_native(struct state *state, lua_State *L, lua_CFunction function);
/* The state of the running native; raises once the state is closed. */
struct state *state_of(lua_State *L);

/* The coroutine `thread` runs from now on, inside a native: returns the one before, for
 * state_leave. */
lua_State *state_enter(struct state *state, lua_State *thread);
void state_leave(struct state *state, lua_State *before);
