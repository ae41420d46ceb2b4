#include "script/seen.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define OWN_PREFIX "lua/moonshift/"

enum { LEVELS = 8 }; /* of the stack, looked at for a line */

/* Reading a stack that is just being changed may touch what is not there. */
static _Thread_local sigjmp_buf way_out;
static _Thread_local volatile sig_atomic_t reading;

void seen_forget(struct seen *seen) {
    atomic_store_explicit(&seen->line, 0, memory_order_relaxed);
}

static void put(_Atomic uint64_t words[SEEN_WORDS], const char *text) {
    char bytes[SEEN_WORDS * sizeof(uint64_t)] = "";
    uint64_t word;
    for (size_t i = 0; text && text[i] && i < sizeof bytes - 1; i++)
        bytes[i] = text[i];
    for (size_t i = 0; i < SEEN_WORDS; i++) {
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        atomic_store_explicit(&words[i], word, memory_order_relaxed);
    }
}

static void get(const _Atomic uint64_t words[SEEN_WORDS],
                char text[SEEN_WORDS * sizeof(uint64_t)]) {
    for (size_t i = 0; i < SEEN_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&words[i], memory_order_relaxed);
        memcpy(text + i * sizeof word, &word, sizeof word);
    }
    text[SEEN_WORDS * sizeof(uint64_t) - 1] = 0;
}

/* A line of the folder's own files: what they call of the Lua half is named as a function. */
static bool is_own(const lua_Debug *at) {
    return at->currentline > 0 && strncmp(at->short_src, OWN_PREFIX, sizeof OWN_PREFIX - 1) != 0;
}

void seen_note(struct seen *seen, lua_State *L) {
    lua_Debug at;
    const char *called = NULL;
    for (int level = 0; level < LEVELS && lua_getstack(L, level, &at); level++) {
        lua_getinfo(L, "nSl", &at);
        if (is_own(&at)) {
            put(seen->file, at.short_src);
            put(seen->function, called);
            atomic_store_explicit(&seen->line, at.currentline, memory_order_release);
            return;
        }
        called = at.name ? at.name : "a function without a name";
    }
}

void seen_note_guarded(struct seen *seen, lua_State *L) {
    if (sigsetjmp(way_out, 1) == 0) {
        reading = 1;
        seen_note(seen, L);
    }
    reading = 0;
}

/* The handlers that were there before, by signal. */
static struct sigaction segv_before, bus_before;

/* Leaves any other fault to the handler that would have met it, at the same instruction. */
static void on_fault(int number) {
    if (reading)
        siglongjmp(way_out, 1);
    sigaction(number, number == SIGBUS ? &bus_before : &segv_before, NULL);
}

static void guard(int number, struct sigaction *before) {
    struct sigaction action, present;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    if (sigaction(number, &action, &present) == 0 && present.sa_handler != on_fault)
        *before = present;
}

void script_guard(void) {
    guard(SIGSEGV, &segv_before);
    guard(SIGBUS, &bus_before);
}

void seen_text(const struct seen *seen, char text[SCRIPT_SEEN]) {
    char file[SEEN_WORDS * sizeof(uint64_t)], function[SEEN_WORDS * sizeof(uint64_t)];
    int line = atomic_load_explicit(&seen->line, memory_order_acquire);
    if (line == 0) {
        snprintf(text, SCRIPT_SEEN, "before its first line");
        return;
    }
    get(seen->file, file);
    get(seen->function, function);
    if (function[0])
        snprintf(text, SCRIPT_SEEN, "%s:%d (in %s)", file, line, function);
    else
        snprintf(text, SCRIPT_SEEN, "%s:%d", file, line);
}
