#include "script/state.h"
#include "base/clamp.h"
#include "base/text.h"
#include "script/traceback.h"
#include <errno.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HOOK_COUNT 10000 /* instructions between two looks at the clock: well under 1 ms */

static void hook(lua_State *L, lua_Debug *event);

/* Memory that was refused twice in a row stays refused: after a collection of all garbage. The
 * failure is then as final as a timeout, or a script could run on at the edge of its memory. */
static void *refuse(struct state *state, const void *block, size_t size) {
    state->refusals++;
    if (state->refused_size == size && state->refused == block) {
        state->fired = STOP_MEMORY;
        lua_sethook(state->current, hook, LUA_MASKCOUNT, 1);
    }
    state->refused = block;
    state->refused_size = size;
    return NULL;
}

static void *allocate(void *arg, void *block, size_t old_size, size_t size) {
    struct state *state = arg;
    size_t before = block ? old_size : 0;
    if (size == 0) {
        blocks_free(&state->blocks, block, before);
        state->used -= before;
        return NULL;
    }
    if (size > before && state->depth > 0 && state->used - before + size > state->limit)
        return refuse(state, block, size);
    void *fresh = blocks_resize(&state->blocks, block, before, size);
    if (!fresh)
        return NULL;
    state->used = state->used - before + size;
    state->refused_size = 0;
    return fresh;
}

enum stop state_due(struct state *state) {
    if (state->fired != STOP_NONE)
        return state->fired;
    int64_t running = atomic_load_explicit(&state->running, memory_order_relaxed);
    if (running != 0 && atomic_load_explicit(&state->cut_job, memory_order_acquire) == running)
        return STOP_CUT;
    time_ms deadline = atomic_load_explicit(&state->deadline, memory_order_relaxed);
    return deadline != TIME_NEVER && clock_monotonic() >= deadline ? STOP_TIME : STOP_NONE;
}

static void stop_now(struct state *state, lua_State *L, enum stop stop) {
    state->fired = stop;
    if (!state->borrowed)
        lua_sethook(L, hook, LUA_MASKCOUNT, 1);
    static const char *const words[] = {[STOP_NONE] = "",
                                        [STOP_MEMORY] = "not enough memory",
                                        [STOP_CUT] = "the job was cut off",
                                        [STOP_TIME] = "the time limit has passed"};
    lua_pushstring(L, words[stop]);
    lua_error(L);
}

/* Sets the hook of a coroutine to what it is while nothing is wrong. */
static void rest(struct state *state, lua_State *L) {
    bool always = state->hook == HOOK_ALWAYS;
    lua_sethook(L, always ? hook : NULL, always ? LUA_MASKCOUNT : 0, always ? HOOK_COUNT : 0);
}

static void hook(lua_State *L, lua_Debug *event) {
    (void)event;
    void *arg;
    lua_getallocf(L, &arg);
    struct state *state = arg;
    enum stop stop = state->depth > 0 ? state_due(state) : STOP_NONE;
    seen_note(&state->seen, L);
    if (stop == STOP_NONE)
        rest(state, L);
    else
        stop_now(state, L, stop);
}

void state_check(struct state *state, lua_State *L) {
    enum stop stop = state_due(state);
    if (stop != STOP_NONE)
        stop_now(state, L, stop);
}

int state_rest(struct state *state, int most) {
    time_ms deadline = atomic_load_explicit(&state->deadline, memory_order_relaxed);
    if (deadline == TIME_NEVER)
        return most;
    return (int)clamp(deadline - clock_monotonic(), 0, most);
}

void state_wakes(struct state *state) {
    if (state->wakes)
        return;
    state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    state->wakes = state->wake >= 0;
}

void state_woken(struct state *state) {
    eventfd_t count;
    if (state->wakes)
        eventfd_read(state->wake, &count);
}

static void wake(const struct state *state) {
    int before = errno;
    if (state->wakes)
        eventfd_write(state->wake, 1);
    errno = before;
}

void state_interrupt(struct state *state) {
    state->interrupted = 1;
    wake(state);
    lua_State *current = state->current;
    if (!current || state->borrowed)
        return;
    if (atomic_exchange(&state->sought, false))
        seen_note_guarded(&state->seen, current);
    lua_sethook(current, hook, LUA_MASKCOUNT, 1);
}

/* An interrupt that came between two coroutines is passed on to the one that runs now. */
lua_State *state_enter(struct state *state, lua_State *thread) {
    lua_State *before = state->current;
    state->current = thread;
    if (!state->borrowed && (state->interrupted || state->fired != STOP_NONE))
        lua_sethook(thread, hook, LUA_MASKCOUNT, 1);
    return before;
}

void state_leave(struct state *state, lua_State *before) {
    state_enter(state, before);
}

struct state *state_of(lua_State *L) {
    struct state **box = lua_touserdata(L, lua_upvalueindex(1));
    if (!*box)
        luaL_error(L, "the engine of this script is closed");
    return *box;
}

void state_push_native(struct state *state, lua_State *L, lua_CFunction function) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->box);
    lua_pushcclosure(L, function, 1);
}

/* True if the value on top was raised inside of state_protect, and is raised again. */
static bool is_held(lua_State *L, const struct state *state) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->held);
    bool same = state->holds && lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return same;
}

/* Keeps the traceback beside the raised value, which stays as it is. */
static int on_error(lua_State *L) {
    struct state *state = state_of(L);
    lua_settop(L, 1);
    if (is_held(L, state))
        return 1;
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->names);
    traceback_push(L, 2, 1);
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    free(state->traceback);
    state->traceback = utf8_clean(text, size, JOB_STACK_MAX);
    lua_settop(L, 1);
    return 1;
}

int state_protect(lua_State *L) {
    struct state *state = state_of(L);
    luaL_checkany(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->on_error);
    lua_insert(L, 1);
    state->holds = false;
    bool done = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1) == LUA_OK;
    if (!done) {
        lua_pushvalue(L, -1);
        lua_rawseti(L, LUA_REGISTRYINDEX, state->held);
        state->holds = true;
    }
    lua_pushboolean(L, done);
    lua_replace(L, 1);
    return lua_gettop(L);
}

int state_hold(lua_State *L) {
    lua_settop(L, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, state_of(L)->held);
    return 0;
}

static int set_up(lua_State *L) {
    struct state *state = lua_touserdata(L, 1);
    if (!state->borrowed)
        luaL_openlibs(L);
    struct state **box = lua_newuserdatauv(L, sizeof(struct state *), 0);
    *box = state;
    state->box = luaL_ref(L, LUA_REGISTRYINDEX);
    traceback_push_names(L);
    state->names = luaL_ref(L, LUA_REGISTRYINDEX);
    state_push_native(state, L, on_error);
    state->on_error = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushboolean(L, 0);
    state->held = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static bool start(struct state *state, lua_State *L) {
    state->main = state->current = L;
    state->box = state->on_error = state->names = state->held = LUA_NOREF;
    atomic_init(&state->deadline, TIME_NEVER);
    lua_pushcfunction(L, set_up);
    lua_pushlightuserdata(L, state);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return true;
    lua_pop(L, 1);
    return false;
}

bool state_open(struct state *state, size_t limit) {
    *state = (struct state){.limit = limit};
    lua_State *L = lua_newstate(allocate, state);
    if (!L)
        return false;
    if (start(state, L)) {
        state_hook_mode(state, HOOK_ALWAYS);
        return true;
    }
    state_close(state);
    return false;
}

bool state_borrow(struct state *state, lua_State *thread) {
    *state = (struct state){.borrowed = true, .hook = HOOK_OFF};
    return start(state, thread);
}

void state_hook_mode(struct state *state, enum script_hook mode) {
    state->hook = mode;
    if (state->main && !state->borrowed)
        rest(state, state->main);
}

void state_close(struct state *state) {
    lua_State *L = state->main;
    if (L && !state->borrowed) {
        lua_close(L);
    } else if (L && state->box != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state->box);
        *(struct state **)lua_touserdata(L, -1) = NULL;
        lua_pop(L, 1);
        luaL_unref(L, LUA_REGISTRYINDEX, state->on_error);
        luaL_unref(L, LUA_REGISTRYINDEX, state->held);
        luaL_unref(L, LUA_REGISTRYINDEX, state->names);
        luaL_unref(L, LUA_REGISTRYINDEX, state->box);
    }
    free(state->traceback);
    blocks_close(&state->blocks);
    if (state->wakes)
        close(state->wake);
    *state = (struct state){0};
}

struct frame {
    time_ms deadline;
    enum stop fired;
};

static struct frame begin(struct state *state, time_ms deadline) {
    struct frame outer = {atomic_load_explicit(&state->deadline, memory_order_relaxed),
                          state->fired};
    if (deadline < outer.deadline && !state->borrowed)
        atomic_store_explicit(&state->deadline, deadline, memory_order_relaxed);
    if (state->depth++ == 0) {
        state->refusals = 0;
        state->interrupted = 0;
    }
    state->fired = STOP_NONE;
    state->holds = false;
    free(state->traceback);
    state->traceback = NULL;
    return outer;
}

/* The text by which Lua's libraries say that the allocator refused them. */
static bool says_memory(lua_State *L) {
    return lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "not enough memory") == 0;
}

static void end(struct state *state, struct frame outer, int status) {
    state->stopped = state->fired;
    if (status == LUA_ERRMEM ||
        (status != LUA_OK && state->refusals && says_memory(state->current)))
        state->stopped = STOP_MEMORY;
    /* out of memory is the end of every call around this one, too; its time is not */
    state->fired = state->stopped == STOP_MEMORY && state->depth > 1 ? STOP_MEMORY : outer.fired;
    state->depth--;
    atomic_store_explicit(&state->deadline, outer.deadline, memory_order_relaxed);
}

void state_forgive(struct state *state) {
    if (state->depth == 0 || state->fired != STOP_MEMORY)
        return;
    lua_gc(state->current, LUA_GCCOLLECT);
    state->fired = STOP_NONE;
    state->refused_size = 0;
    state->refusals = 0;
}

int state_call(struct state *state, lua_CFunction body, void *arg, int args, time_ms span) {
    bool endless = span == TIME_NEVER || state->borrowed;
    return state_call_until(state, body, arg, args,
                            endless ? TIME_NEVER : clock_monotonic() + span);
}

int state_call_until(struct state *state, lua_CFunction body, void *arg, int args,
                     time_ms deadline) {
    lua_State *L = state->current;
    if (!lua_checkstack(L, LUA_MINSTACK)) {
        state->stopped = STOP_MEMORY;
        lua_pop(L, args);
        lua_pushnil(L);
        return LUA_ERRMEM;
    }
    int base = lua_gettop(L) - args + 1;
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->on_error);
    lua_insert(L, base);
    lua_pushcfunction(L, body);
    lua_insert(L, base + 1);
    lua_pushlightuserdata(L, arg);
    struct frame outer = begin(state, deadline);
    int status = lua_pcall(L, args + 1, 0, base);
    state->current = L;
    end(state, outer, status);
    lua_remove(L, base);
    if (status != LUA_OK || state->stopped == STOP_NONE)
        return status;
    lua_pushnil(L); /* it swallowed the limit in its last instruction */
    return LUA_ERRRUN;
}
