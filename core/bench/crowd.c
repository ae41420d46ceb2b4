#include "bench/crowd.h"
#include "bench/rig.h"
#include "run/thread.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_EVERY = 2000 }; /* microseconds: looking costs those who work */

struct crowd *crowd_new(int count, struct error *error) {
    struct crowd *crowd =
        mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crowd == MAP_FAILED) {
        rig_no_memory(error);
        return NULL;
    }
    crowd->count = count;
    return crowd;
}

void crowd_free(struct crowd *crowd) {
    if (crowd)
        munmap(crowd, sizeof *crowd);
}

int64_t crowd_done(const struct crowd *crowd) {
    int64_t done = 0;
    for (int i = 0; i < crowd->count; i++)
        done += crowd->mates[i].done;
    return done;
}

int64_t crowd_ended(const struct crowd *crowd) {
    int64_t ended = 0;
    for (int i = 0; i < crowd->count; i++)
        if (crowd->mates[i].ended > ended)
            ended = crowd->mates[i].ended;
    return ended;
}

/* ---- those in it ---- */

void crowd_ready(struct crowd *crowd) {
    atomic_fetch_add(&crowd->ready, 1);
    while (!atomic_load(&crowd->go) && !atomic_load(&crowd->stop))
        rig_pause(LOOK_EVERY);
}

bool crowd_goes_on(struct crowd *crowd) {
    return !atomic_load(&crowd->stop) && clock_monotonic_us() < crowd->began + crowd->span;
}

static void mate_run(struct crowd *crowd, crowd_work *work, int index, void *arg) {
    struct mate *mate = &crowd->mates[index];
    mate->fine = work(crowd, index, arg, &mate->error);
    atomic_fetch_add(&crowd->over, 1);
    if (!mate->fine) /* the others would wait for it */
        atomic_store(&crowd->stop, true);
}

/* ---- who runs it ---- */

struct children {
    pid_t pids[CROWD_MOST]; /* 0: it has ended */
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
static bool oversee(struct crowd *crowd, struct children *children, void *arg,
                    struct error *error) {
    if (crowd->meanwhile && !crowd->meanwhile(arg, error))
        return false;
    while (atomic_load(&crowd->over) < crowd->count) {
        if (!atomic_load(&crowd->go) && atomic_load(&crowd->ready) == crowd->count) {
            crowd->began = clock_monotonic_us();
            atomic_store(&crowd->go, true);
        }
        if (!place_goes_on(NULL))
            atomic_store(&crowd->stop, true);
        if (children && children_look(children))
            break;
        rig_pause(LOOK_EVERY);
    }
    return true;
}

static bool verdict(const struct crowd *crowd, struct error *error) {
    if (!place_goes_on(error))
        return false;
    for (int i = 0; i < crowd->count; i++)
        if (!crowd->mates[i].fine && crowd->mates[i].error.code != ERROR_NONE) {
            *error = crowd->mates[i].error;
            return false;
        }
    return atomic_load(&crowd->over) == crowd->count ||
           error_set(error, ERROR_FAILED, "a client has ended before its time");
}

/* ---- threads ---- */

struct hand {
    struct crowd *crowd;
    crowd_work *work;
    void *arg;
    int index;
    struct thread thread;
};

static void *hand_run(void *arg) {
    struct hand *hand = arg;
    mate_run(hand->crowd, hand->work, hand->index, hand->arg);
    return NULL;
}

bool crowd_thread(struct crowd *crowd, crowd_work *work, void *arg, struct error *error) {
    struct hand hands[CROWD_MOST];
    int started = 0;
    for (; started < crowd->count; started++) {
        hands[started] = (struct hand){crowd, work, arg, started, {0}};
        if (!thread_start(&hands[started].thread, hand_run, &hands[started]))
            break;
    }
    bool fine = started == crowd->count ||
                error_set(error, ERROR_FAILED, "the system gives no thread for a client");
    fine = fine && oversee(crowd, NULL, arg, error);
    atomic_store(&crowd->stop, true);
    for (int i = 0; i < started; i++)
        thread_join(&hands[i].thread);
    return fine && verdict(crowd, error);
}

/* ---- processes ---- */

static void children_end(struct crowd *crowd, struct children *children) {
    atomic_store(&crowd->stop, true);
    for (int i = 0; i < children->count; i++) {
        if (children->failed && children->pids[i])
            kill(children->pids[i], SIGKILL);
        while (children->pids[i] && waitpid(children->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

bool crowd_fork(struct crowd *crowd, crowd_work *work, void *arg, struct error *error) {
    struct children children = {0};
    while (children.count < crowd->count) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            place_leave_signals();
            mate_run(crowd, work, children.count, arg);
            _exit(0);
        }
        children.pids[children.count++] = pid;
    }
    bool fine = children.count == crowd->count ||
                error_set(error, ERROR_FAILED, "the system gives no process for a client: %s",
                          strerror(errno));
    fine = fine && oversee(crowd, &children, arg, error);
    children_end(crowd, &children);
    return fine && verdict(crowd, error);
}
