/* commands.h - what the program's own verbs reach, as a user starts them. */
#pragma once

#include "base/error.h"
#include <sys/types.h>

/* Starts this program with these words (without its name, ended by NULL); it hears nothing and
 * nobody hears what it prints, unless it is an error. None of the user's settings reach it. -1:
 * error. */
pid_t command_start(const char *const *words, struct error *error);
/* Ends it as TERM does, and waits. */
void command_end(pid_t pid);
