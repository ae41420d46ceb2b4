#include "cli/first_process.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for all that have ended; ends with the child. */
static void reap(pid_t child) {
    pid_t ended;
    int status;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == child)
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* The child has a process group of its own, in front of the terminal if there is one: what is typed
 * there reaches it once. */
static void begin(const sigset_t *before) {
    setpgid(0, 0);
    tcsetpgrp(STDIN_FILENO, getpgrp()); /* fails without a terminal */
    sigprocmask(SIG_SETMASK, before, NULL);
}

void first_process_stay(void) {
    sigset_t all, before;
    if (getpid() != 1)
        return;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child < 0)
        sigprocmask(SIG_SETMASK, &before, NULL); /* it goes on alone */
    if (child == 0)
        begin(&before);
    while (child > 0) {
        int number = sigwaitinfo(&all, NULL);
        if (number == SIGCHLD)
            reap(child);
        else if (number > 0)
            kill(child, number);
    }
}
