#include "script/program.h"
#include "base/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE 50 /* ms between two looks at the deadline and at a cut from another thread */

extern char **environ;

/* Worker threads block signals and the program may catch them: the child starts with none of that.
 */
static void plain_signals(posix_spawnattr_t *attributes) {
    sigset_t none, fresh;
    static const int reset[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGURG, SIGCHLD};
    sigemptyset(&none);
    sigemptyset(&fresh);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        sigaddset(&fresh, reset[i]);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &fresh);
}

/* The program inherits the first end. A duplicate of a descriptor onto itself stays open. */
static int spawn(struct program *process, const char *command, int fd, int target) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    char *const words[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    plain_signals(&attributes);
    posix_spawn_file_actions_adddup2(&actions, process->held[0], process->held[0]);
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, fd, target);
    int failure = posix_spawn(&process->pid, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* The end of the last writer of a pipe is a signal for its readers that have asked for one. The
 * group has the first end as long as one of its processes lives, this process the second. */
static void hold(struct program *process) {
    const int end = process->held[0];
    fcntl(end, F_SETOWN, -process->pid);
    fcntl(end, F_SETSIG, SIGKILL);
    fcntl(end, F_SETFL, O_ASYNC);
}

/* What the program has left in the background goes on. */
static void let_go(struct program *process) {
    fcntl(process->held[0], F_SETFL, 0);
    close(process->held[0]);
    close(process->held[1]);
}

static void close_both(const int ends[2]) {
    int kept = errno;
    close(ends[0]);
    close(ends[1]);
    errno = kept;
}

/* The ends of the pipe are closed but for ours, on failure all. */
static bool start(struct program *process, const char *command, const int ends[2], char mode) {
    bool reads = mode == 'r';
    int theirs = reads ? ends[1] : ends[0];
    int failure = spawn(process, command, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
    if (failure == 0)
        hold(process);
    if (mode)
        close(theirs);
    process->fd = reads ? ends[0] : ends[1];
    if (failure && mode)
        close(process->fd);
    errno = failure;
    return failure == 0;
}

bool program_start(struct program *process, struct state *state, const char *command, char mode) {
    int ends[2] = {-1, -1};
    *process = (struct program){.state = state, .fd = -1};
    if (pipe2(process->held, O_CLOEXEC) != 0)
        return false;
    if ((!mode || pipe2(ends, O_CLOEXEC) == 0) && start(process, command, ends, mode))
        return true;
    close_both(process->held);
    return false;
}

static void kill_group(const struct program *process) {
    kill(-process->pid, SIGKILL);
}

/* Sleeps until the program ends or a slice is over. */
static void doze(const struct program *process, int pidfd) {
    int wait = process->state ? state_rest(process->state, SLICE) : SLICE;
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    if (pidfd >= 0)
        poll(&end, 1, wait);
    else
        poll(NULL, 0, wait < 5 ? wait : 5);
}

static bool must_stop(const struct program *process) {
    return process->state && process->state->depth > 0 && state_due(process->state) != STOP_NONE;
}

int program_wait(struct program *process) {
    if (process->reaped)
        return process->status;
    int pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    bool killed = false;
    pid_t ended;
    while ((ended = waitpid(process->pid, &process->status, WNOHANG)) == 0 ||
           (ended < 0 && errno == EINTR)) {
        if (!killed && must_stop(process)) {
            kill_group(process);
            killed = true;
        }
        doze(process, pidfd);
    }
    if (ended < 0)
        process->status = -1;
    if (pidfd >= 0)
        close(pidfd);
    let_go(process);
    process->reaped = true;
    return process->status;
}

/* True when the pipe is ready; false with errno when the handler must stop. */
static bool await(struct program *process, short events) {
    struct pollfd end = {.fd = process->fd, .events = events};
    for (;;) {
        if (must_stop(process)) {
            kill_group(process);
            process->state->fired = state_due(process->state); /* whatever is returned now */
            state_interrupt(process->state);
            errno = ETIMEDOUT;
            return false;
        }
        int ready = poll(&end, 1, process->state ? state_rest(process->state, SLICE) : SLICE);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

static ssize_t stream_read(void *cookie, char *data, size_t size) {
    struct program *process = cookie;
    for (;;) {
        if (!await(process, POLLIN))
            return -1;
        ssize_t got = read(process->fd, data, size);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got;
    }
}

/* write(2) without a SIGPIPE for the program around us. */
static ssize_t quiet_write(int fd, const char *data, size_t size) {
    bool held = thread_hold_pipes();
    ssize_t put = write(fd, data, size);
    thread_release_pipes(held);
    return put;
}

static ssize_t stream_write(void *cookie, const char *data, size_t size) {
    struct program *process = cookie;
    for (;;) {
        if (!await(process, POLLOUT))
            return 0;
        ssize_t put = quiet_write(process->fd, data, size);
        if (put >= 0)
            return put;
        if (errno != EAGAIN && errno != EINTR)
            return 0;
    }
}

static int stream_close(void *cookie) {
    struct program *process = cookie;
    int result = close(process->fd);
    process->fd = -1;
    return result;
}

FILE *program_stream(struct program *process, char mode) {
    const char modes[] = {mode, '\0'};
    cookie_io_functions_t functions = {
        .read = stream_read, .write = stream_write, .close = stream_close};
    fcntl(process->fd, F_SETFL, O_NONBLOCK);
    return fopencookie(process, modes, functions);
}

void program_end(struct program *process) {
    if (process->reaped)
        return;
    kill_group(process);
    program_wait(process);
}

void program_end_all(struct state *state) {
    for (struct program *process = state->processes; process; process = process->next)
        program_end(process);
}

void program_forget_all(struct state *state) {
    program_end_all(state);
    while (state->processes) {
        struct program *process = state->processes;
        state->processes = process->next;
        process->state = NULL;
        process->next = NULL;
    }
}
