/* program.h - programs that handlers start: each in a process group of its own, waited for with the
 * deadline, the whole group killed when the handler is stopped, and by the system when this process
 * dies. Private to script/. */
#pragma once

#include "script/state.h"
#include <stdio.h>
#include <sys/types.h>

struct program {
    struct program *next;
    struct state *state; /* NULL once it is closed */
    pid_t pid;
    int held[2]; /* a pipe: the system kills the group once nobody has its second end */
    int fd;      /* our end of the pipe, -1: none or closed */
    int status;  /* as waitpid gives it, once reaped; -1: errno says */
    bool reaped;
};

/* Starts `/bin/sh -c command`. mode 'r': our end reads what it prints; 'w': it reads what we write;
 * 0: no pipe. False: errno says. */
bool program_start(struct program *process, struct state *state, const char *command, char mode);

/* Waits for its end; kills the group if the state's running code must stop. */
int program_wait(struct program *process);

/* A stream on our end of the pipe whose reads and writes look at the deadline. NULL: errno says. */
FILE *program_stream(struct program *process, char mode);

/* Kills the group and reaps the program, if it has not been waited for. */
void program_end(struct program *process);

/* Kills and reaps every program that is still open, at the end of a run. */
void program_end_all(struct state *state);
/* Lets them go: the state closes. */
void program_forget_all(struct state *state);
