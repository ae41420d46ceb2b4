/* lua_program.h - a Lua program inside this one that has `require "moonshift"`, with the standard
 * libraries and no limits. */
#pragma once

#include "base/error.h"
#include <jansson.h>
#include <stdint.h>

struct lua_program {
    const char *path;    /* of an embedded file: "core/bench/bulk.lua" */
    const json_t *asked; /* its first argument */
    /* Its second: tell(number); false: it is to end. */
    bool (*tell)(void *arg, int64_t number);
    void *arg;
};

/* Runs it to its end. The third argument is a function: microseconds, monotonic. Its result as a
 * new reference; NULL: what it raised. */
json_t *lua_program_run(const struct lua_program *program, struct error *error);
