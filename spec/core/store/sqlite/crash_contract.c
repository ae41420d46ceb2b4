/* crash_contract.c - several processes on one file: kill -9, stops, the gate, checkpoints, bells.
 */
#include "../contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* What a child does before it says "ready" and waits to be killed or told to go on. */
struct child {
    pid_t process;
    int says, told; /* pipes: from the child, to the child */
};

typedef int child_run(struct contract *c, struct store *store, int says, int told);

static int child_main(struct contract *c, child_run *run, int says, int told) {
    struct store_executor self;
    struct store *store = contract_join(c, "child", NOW, &self);
    return store ? run(c, store, says, told) : 99;
}

static bool child_start(struct contract *c, struct child *child, child_run *run) {
    int out[2], in[2];
    char ready = 0;
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(in, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    child->process = fork();
    if (child->process == 0) {
        close(out[0]);
        close(in[1]);
        _exit(child_main(c, run, out[1], in[0]));
    }
    close(out[1]);
    close(in[0]);
    child->says = out[0];
    child->told = in[1];
    /* Its bell rang: the parent takes a turn and knows the child. */
    return child->process > 0 && read(child->says, &ready, 1) == 1 && ready == '!' &&
           store_begin(c->store, STORE_COMMAND, &c->error) && store_commit(c->store, &c->error);
}

/* Its exit status, or minus the signal that ended it. */
static int child_end(struct child *child, int signal) {
    int status = 0;
    if (signal)
        kill(child->process, signal);
    close(child->told);
    while (waitpid(child->process, &status, 0) < 0 && errno == EINTR)
        continue;
    close(child->says);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void say_and_wait(int says, int told) {
    char byte = 0;
    if (write(says, "!", 1) == 1)
        while (read(told, &byte, 1) < 0 && errno == EINTR)
            continue;
}

/* Holds every job, runs the first in slot 0. */
static int hold_and_run(struct contract *c, struct store *store, int says, int told) {
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    if (!store_acquire(store, &everything, NOW, &jobs, &count, &more, &c->error) || !count)
        return 98;
    store_slot_set(store, 0, jobs->id, jobs->token, NOW);
    say_and_wait(says, told);
    enum settled settled = SETTLED;
    struct outcome late = {
        .job = jobs, .kind = OUTCOME_SUCCESS, .due = TIME_NONE, .ended = NOW, .lane_ends = true};
    late.lane_token = jobs->token;
    return store_settle(store, &late, NOW, &settled, &c->error) ? (int)settled : 97;
}

/* Runs two suspects at once. */
static int run_two(struct contract *c, struct store *store, int says, int told) {
    struct job *first = acquire_one(c, store, NOW), *second = acquire_one(c, store, NOW);
    if (!first || !second)
        return 98;
    store_slot_set(store, 0, first->id, first->token, NOW);
    store_slot_set(store, 1, second->id, second->token, NOW);
    say_and_wait(says, told);
    return 0;
}

/* Ran one job before; runs none when it dies. */
static int run_and_clear(struct contract *c, struct store *store, int says, int told) {
    struct job *first = acquire_one(c, store, NOW);
    store_slot_set(store, 0, first->id, first->token, NOW);
    store_slot_clear(store, 0);
    say_and_wait(says, told);
    return 0;
}

static int create_many(struct contract *c, struct store *store, int says, int told) {
    say_and_wait(says, told);
    for (int i = 0; i < 300; i++)
        if (!create(c, store, (struct job){0}, NOW))
            return 96;
    store_close(store);
    return 0;
}

static int start_program(struct contract *c, struct store *store, int says, int told) {
    (void)c;
    (void)store;
    char *const arguments[] = {(char[]){"sleep"}, (char[]){"20"}, NULL};
    if (posix_spawn(&(pid_t){0}, "/bin/sleep", NULL, NULL, arguments, NULL) != 0)
        return 95;
    say_and_wait(says, told);
    return 0;
}

static int files_like(const char *directory, const char *part) {
    int count = 0;
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));)
        count += strstr(entry->d_name, part) != NULL;
    if (list)
        closedir(list);
    return count;
}

static bool reap(struct contract *c, time_ms now, struct store_reaped *reaped) {
    return store_sees_dead(c->store, now) && store_reap(c->store, now, reaped, &c->error) &&
           !store_sees_dead(c->store, now);
}

static void killed(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    for (int i = 0; i < 3; i++)
        EXPECT(create(c, c->store, (struct job){.lane = i ? NULL : "a"}, NOW));
    EXPECT(child_start(c, &child, hold_and_run));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(!store_sees_dead(c->store, NOW));
    EXPECT(child_end(&child, SIGKILL) == -SIGKILL);
    EXPECT(reap(c, NOW, &reaped) && reaped.freed == 3 && reaped.crashed == 1);
    EXPECT(!reaped.worker_died && files_like(c->directory, "-slots-") == 1);
    EXPECT(files_like(c->directory, "-bell-") == 1);
    FIELD(1, "crashes", NOW, "1");
    FIELD(1, "retries", NOW, "3");
    FIELD(2, "crashes", NOW, "0");
    EXPECT(acquire_count(c, c->store, NOW) == 3);
}

static void killed_idle(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(child_start(c, &child, run_and_clear) && child_end(&child, SIGKILL) == -SIGKILL);
    EXPECT(reap(c, NOW, &reaped) && reaped.freed == 1 && reaped.crashed == 0);
}

/* Of "work" one runs at a time. */
static bool limit_to_one(struct contract *c) {
    char name[] = "work", file[] = "handlers/work.lua";
    struct definition work = {
        .name = name, .file = file, .cluster_limit = 1, .properties = json_object()};
    struct definitions definitions = {.count = 1, .list = &work};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &definitions};
    int64_t id = 0;
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(work.properties);
    return done;
}

static void killed_limited(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    EXPECT(limit_to_one(c));
    for (int i = 0; i < 2; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(child_start(c, &child, hold_and_run));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(child_end(&child, SIGKILL) == -SIGKILL && reap(c, NOW, &reaped) && reaped.freed == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

/* Its jobs were cancelled while it ran them: that they count must not outlive it. */
static void killed_cancelled(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    EXPECT(limit_to_one(c));
    int64_t first = create(c, c->store, (struct job){0}, NOW);
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(child_start(c, &child, hold_and_run));
    EXPECT(give_cancel(c->store, (struct ids){&first, 1}, NOW, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(child_end(&child, SIGKILL) == -SIGKILL && reap(c, NOW, &reaped) && reaped.freed == 0);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void killer(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    int64_t bad = create(c, c->store, (struct job){.priority = 1}, NOW);
    int64_t good = create(c, c->store, (struct job){0}, NOW);
    for (int i = 1; i <= 3; i++) {
        EXPECT(child_start(c, &child, hold_and_run) && child_end(&child, SIGKILL) == -SIGKILL);
        EXPECT(reap(c, NOW, &reaped) && reaped.freed == 2 && reaped.crashed == 1);
        EXPECT((reaped.worker_died != NULL) == (i == 3));
    }
    EXPECT(reaped.worker_died->id == bad && reaped.worker_died->retries == 0);
    job_free_list(reaped.worker_died);
    FIELD(bad, "state", NOW, "dead");
    FIELD(bad, "message", NOW, "the process died 3 times while this job ran");
    FIELD(good, "state", NOW, "ready");
    FIELD(good, "retries", NOW, "3");
    json_t *incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(incidents, 0);
    EXPECT(json_array_size(incidents) == 1);
    EXPECT(strcmp(json_string_value(json_object_get(one, "type")), "workerDied") == 0);
    json_decref(incidents);
}

static void suspects(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    EXPECT(create(c, c->store, (struct job){.priority = 2}, NOW));
    EXPECT(create(c, c->store, (struct job){.priority = 1}, NOW));
    EXPECT(child_start(c, &child, run_two) && child_end(&child, SIGKILL) == -SIGKILL);
    EXPECT(reap(c, NOW, &reaped) && reaped.crashed == 2);
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    struct job *first = acquire_one(c, c->store, NOW), *third = acquire_one(c, c->store, NOW);
    EXPECT(first && first->id == 1 && third && third->id == 3);
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(settle(c, c->store, first, good, NOW) == SETTLED);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    job_free(third);
}

static void earlier_boot(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    char path[128];
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(child_start(c, &child, hold_and_run) && child_end(&child, SIGKILL) == -SIGKILL);
    snprintf(path, sizeof path, "%s/x.db-slots-%lld", c->directory, (long long)c->self.id + 1);
    FILE *slots = fopen(path, "r+b");
    EXPECT(slots && fseek(slots, 24, SEEK_SET) == 0 && fputc('?', slots) == '?');
    fclose(slots);
    EXPECT(reap(c, NOW, &reaped) && reaped.freed == 1 && reaped.crashed == 0);
}

static void stopped(struct contract *c) {
    struct child child;
    struct store_reaped reaped;
    int64_t id = create(c, c->store, (struct job){.lane = "a"}, NOW);
    EXPECT(child_start(c, &child, hold_and_run));
    kill(child.process, SIGSTOP);
    EXPECT(!store_sees_dead(c->store, NOW + LEASE - 1));
    EXPECT(store_renew(c->store, NOW + LEASE, LEASE, &c->error));
    EXPECT(reap(c, NOW + LEASE, &reaped) && reaped.freed == 1 && reaped.crashed == 0);
    EXPECT(acquire_count(c, c->store, NOW + LEASE) == 1);
    kill(child.process, SIGCONT);
    EXPECT(child_end(&child, 0) == SETTLED_STALE);
    FIELD(id, "state", NOW, "locked");
    EXPECT(reap(c, NOW + LEASE, &reaped) && reaped.freed == 0);
}

static void extended(struct contract *c) {
    struct store_executor self;
    struct store_reaped reaped;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && create(c, c->store, (struct job){.lane = "a"}, NOW));
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    struct job *first = acquire_one(c, other, NOW), *second = acquire_one(c, other, NOW);
    EXPECT(store_extend(other, first->id, first->token, NOW + 2 * LEASE, &c->error));
    EXPECT(store_renew(c->store, NOW + LEASE, 10 * LEASE, &c->error));
    EXPECT(reap(c, NOW + LEASE, &reaped) && reaped.freed == 1);
    FIELD(1, "state", NOW, "locked");
    EXPECT(create(c, c->store, (struct job){.lane = "a"}, NOW));
    EXPECT(acquire_count(c, c->store, NOW) == 1); /* its lane goes on, too */
    EXPECT(!store_sees_dead(c->store, NOW + 2 * LEASE - 1));
    EXPECT(reap(c, NOW + 2 * LEASE, &reaped) && reaped.freed == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 2);
    job_free(first);
    job_free(second);
    store_close(other);
}

static void comes_back(struct contract *c) {
    struct store_executor self;
    struct store_reaped reaped;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(store_renew(c->store, NOW + LEASE, LEASE, &c->error));
    EXPECT(reap(c, NOW + LEASE, &reaped));
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(acquire_count(c, other, NOW + LEASE) == 1); /* renews before it locks */
    EXPECT(store_reap(c->store, NOW + LEASE + 1, &reaped, &c->error) && reaped.freed == 0);
    FIELD(1, "state", NOW, "locked");
    EXPECT(store_reap(c->store, NOW + 2 * LEASE, &reaped, &c->error) && reaped.freed == 1);
    store_close(other);
}

static void descriptors(struct contract *c) {
    struct child child;
    EXPECT(child_start(c, &child, start_program));
    EXPECT(!store_sees_dead(c->store, NOW));
    EXPECT(child_end(&child, SIGKILL) == -SIGKILL);
    struct store_reaped reaped;
    /* The program may be about to close what it was given. */
    for (int i = 0; i < 1000 && !store_sees_dead(c->store, NOW); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    EXPECT(reap(c, NOW, &reaped));
}

static void writers(struct contract *c) {
    struct child first, second;
    int64_t jobs = 0;
    EXPECT(child_start(c, &first, create_many) && child_start(c, &second, create_many));
    EXPECT(write(first.told, "!", 1) == 1 && write(second.told, "!", 1) == 1);
    for (int i = 0; i < 300; i++) {
        EXPECT(create(c, c->store, (struct job){0}, NOW));
        EXPECT(store_tend(c->store, CHORE_LOG, 10, NULL, &c->error));
    }
    EXPECT(child_end(&first, 0) == 0 && child_end(&second, 0) == 0);
    EXPECT(store_jobs_count(c->store, NULL, NOW, &jobs, &c->error) && jobs == 900);
}

static int64_t database_size(struct contract *c) {
    struct stat is;
    return stat(store_name(c->store), &is) == 0 ? (int64_t)is.st_size : -1;
}

static void checkpoints(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    int64_t size = database_size(c);
    EXPECT(store_begin(other, STORE_COMMAND, &c->error));
    for (int i = 0; i < 500; i++)
        EXPECT(create(c, other, (struct job){0}, NOW));
    EXPECT(store_commit(other, &c->error));
    EXPECT(store_tend(other, CHORE_LOG, 0, NULL, &c->error) &&
           database_size(c) == size); /* no right */
    EXPECT(store_begin(other, STORE_COMMAND, &c->error));
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error) &&
           database_size(c) == size); /* a writer */
    EXPECT(store_commit(other, &c->error));
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error) && database_size(c) > size);
    store_close(other);
}

static bool rings(int bell) {
    struct pollfd one = {bell, POLLIN, 0};
    return poll(&one, 1, 0) == 1;
}

static void bells(struct contract *c) {
    json_t *red = json_loads("[\"red\"]", 0, NULL);
    struct acquire serves = everything;
    serves.priority_min = 10;
    serves.categories = red;
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct store_executor self = {.name = "other", .serves = &serves};
    EXPECT(other && store_join(other, &self, NOW, LEASE, &c->error));
    EXPECT(rings(store_bell(c->store)) && !rings(store_bell(other))); /* it joined */
    store_bell_empty(c->store);
    EXPECT(!rings(store_bell(c->store)));
    EXPECT(create(c, c->store, (struct job){.priority = 20}, NOW));
    EXPECT(create(c, c->store, (struct job){.priority = 9, .category = "red"}, NOW));
    EXPECT(!rings(store_bell(other)) && !rings(store_bell(c->store)));
    EXPECT(create(c, c->store, (struct job){.priority = 10, .category = "red"}, NOW));
    EXPECT(rings(store_bell(other)));
    store_bell_empty(other);
    EXPECT(create(c, other, (struct job){.due = NOW + 500}, NOW));
    EXPECT(rings(store_bell(c->store)) && !rings(store_bell(other)));
    store_close(other);
    json_decref(red);
}

static void leaves_no_files(struct contract *c) {
    store_close(c->store);
    EXPECT(files_like(c->directory, "-slots-") == 0 && files_like(c->directory, "-bell-") == 0);
    EXPECT(files_like(c->directory, "-gate") == 1);
    c->store = contract_join(c, "node", NOW, &c->self);
    EXPECT(c->store);
}

static const struct check checks[] = {
    {"a killed executor's jobs are free at once; only what ran has crashed", killed},
    {"a job that had ended before the kill has not crashed", killed_idle},
    {"what a killed executor ran counts for no limit any more", killed_limited},
    {"nor does what was cancelled while it ran there", killed_cancelled},
    {"a job that kills its process three times is an incident, its neighbours go on", killer},
    {"suspects run one at a time", suspects},
    {"slots from before the last boot count for nothing", earlier_boot},
    {"a stopped executor loses its locks with its lease, and its late commit", stopped},
    {"an extended lock outlives the lease of a stopped executor", extended},
    {"an executor that comes back renews before it locks", comes_back},
    {"a program started by a handler does not keep a dead executor alive", descriptors},
    {"three writers and a checkpointer lose nothing", writers},
    {"only one executor checkpoints, and never while somebody writes", checkpoints},
    {"bells ring whom it concerns", bells},
    {"an executor that leaves takes its files with it", leaves_no_files},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
