/* watch.h - a limit for the loading of scripts that does not depend on Lua. The hook of a state
 * comes between two instructions, and a function of Lua's library in C is one of them: a pattern
 * that backtracks may take days. Private to script/. */
#pragma once

#include "base/clock.h"
#include <stdbool.h>

#define WATCH_GRACE 1000 /* ms beyond its own limit, in which a hook ends what it can */

/* Calls `work(arg)` on a thread of its own and waits for its end, at most `span` ms and the grace.
 * False: it has not ended. The thread is left behind with all that `arg` reaches, and has the
 * lowest priority from now on. Too many such threads: false at once. */
bool watch_run(void (*work)(void *arg), void *arg, time_ms span);
