#include "bench/client_group.h"
#include "base/thread.h"
#include "bench/rig.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_EVERY = 2000 }; /* microseconds: a look takes time from the clients */

struct client_group *client_group_new(int count, struct error *error) {
    struct client_group *group =
        mmap(NULL, sizeof *group, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (group == MAP_FAILED)
        return error_null(error_no_memory(error));
    group->count = count;
    return group;
}

void client_group_free(struct client_group *group) {
    if (group)
        munmap(group, sizeof *group);
}

int64_t client_group_done(const struct client_group *group) {
    int64_t done = 0;
    for (int i = 0; i < group->count; i++)
        done += group->clients[i].done;
    return done;
}

int64_t client_group_ended(const struct client_group *group) {
    int64_t ended = 0;
    for (int i = 0; i < group->count; i++)
        if (group->clients[i].ended > ended)
            ended = group->clients[i].ended;
    return ended;
}

/* ---- called by a client ---- */

void client_group_ready(struct client_group *group) {
    atomic_fetch_add(&group->ready, 1);
    while (!atomic_load(&group->go) && !atomic_load(&group->stop))
        rig_pause(LOOK_EVERY);
}

bool client_group_goes_on(struct client_group *group) {
    return !atomic_load(&group->stop) && clock_monotonic_us() < group->began + group->span;
}

static void client_run(struct client_group *group, client_group_work *work, int index, void *arg) {
    struct client *client = &group->clients[index];
    client->fine = work(group, index, arg, &client->error);
    atomic_fetch_add(&group->over, 1);
    if (!client->fine) /* the others would wait for it */
        atomic_store(&group->stop, true);
}

/* ---- called by the caller ---- */

struct children {
    pid_t pids[CLIENTS_MOST]; /* 0: it has ended */
    int count;
    bool failed; /* one of them */
};

/* True if one of them has failed. */
static bool children_look(struct children *children) {
    for (int i = 0; i < children->count; i++) {
        int status = 0;
        if (children->pids[i] && waitpid(children->pids[i], &status, WNOHANG) > 0) {
            children->pids[i] = 0;
            children->failed = children->failed || status != 0;
        }
    }
    return children->failed;
}

/* Begins when all are ready; ends with the last one, or if one of them is not there any more. */
static bool oversee(struct client_group *group, struct children *children, void *arg,
                    struct error *error) {
    if (group->meanwhile && !group->meanwhile(arg, error))
        return false;
    while (atomic_load(&group->over) < group->count) {
        if (!atomic_load(&group->go) && atomic_load(&group->ready) == group->count) {
            group->began = clock_monotonic_us();
            atomic_store(&group->go, true);
        }
        if (!place_goes_on(NULL))
            atomic_store(&group->stop, true);
        if (children && (children_look(children) || !place_goes_on(NULL)))
            break;
        rig_pause(LOOK_EVERY);
    }
    return true;
}

static bool verdict(const struct client_group *group, struct error *error) {
    if (!place_goes_on(error))
        return false;
    for (int i = 0; i < group->count; i++)
        if (!group->clients[i].fine && group->clients[i].error.code != ERROR_NONE) {
            *error = group->clients[i].error;
            return false;
        }
    return atomic_load(&group->over) == group->count ||
           error_set(error, ERROR_FAILED, "a client has ended before its time");
}

/* ---- threads ---- */

struct hand {
    struct client_group *group;
    client_group_work *work;
    void *arg;
    int index;
    struct thread thread;
};

static void *hand_run(void *arg) {
    struct hand *hand = arg;
    client_run(hand->group, hand->work, hand->index, hand->arg);
    return NULL;
}

bool client_group_thread(struct client_group *group, client_group_work *work, void *arg,
                         struct error *error) {
    struct hand hands[CLIENTS_MOST];
    int started = 0;
    for (; started < group->count; started++) {
        hands[started] = (struct hand){group, work, arg, started, {0}};
        if (!thread_start(&hands[started].thread, hand_run, &hands[started]))
            break;
    }
    bool fine = started == group->count ||
                error_set(error, ERROR_FAILED, "the system gives no thread for a client");
    fine = fine && oversee(group, NULL, arg, error);
    atomic_store(&group->stop, true);
    for (int i = 0; i < started; i++)
        thread_join(&hands[i].thread);
    return fine && verdict(group, error);
}

/* ---- processes ---- */

static void children_end(struct client_group *group, struct children *children) {
    atomic_store(&group->stop, true);
    for (int i = 0; i < children->count; i++) {
        if ((children->failed || !place_goes_on(NULL)) && children->pids[i])
            kill(children->pids[i], SIGKILL);
        while (children->pids[i] && waitpid(children->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

bool client_group_fork(struct client_group *group, client_group_work *work, void *arg,
                       struct error *error) {
    struct children children = {0};
    while (children.count < group->count) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            place_leave_signals();
            client_run(group, work, children.count, arg);
            _exit(0);
        }
        children.pids[children.count++] = pid;
    }
    bool fine = children.count == group->count ||
                error_set(error, ERROR_FAILED, "the system gives no process for a client: %s",
                          strerror(errno));
    fine = fine && oversee(group, &children, arg, error);
    children_end(group, &children);
    return fine && verdict(group, error);
}

/* ---- one process ---- */

struct alone {
    bool (*work)(void *arg, struct error *error);
    void *arg;
};

static bool alone_run(struct client_group *group, int index, void *arg, struct error *error) {
    const struct alone *alone = arg;
    (void)group;
    (void)index;
    return alone->work(alone->arg, error);
}

bool client_group_alone(bool (*work)(void *arg, struct error *error), void *arg,
                        struct error *error) {
    struct alone alone = {work, arg};
    struct client_group *group = client_group_new(1, error);
    bool fine = group && client_group_fork(group, alone_run, &alone, error);
    client_group_free(group);
    return fine;
}
