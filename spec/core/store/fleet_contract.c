/* fleet_contract.c - several executors with settings of their own on one store: at every
 * acquisition, no waiting job that the executor may take stood before one that it took. The search
 * that says so knows nothing of streams, levels or heaps. */
#include "contract.h"

enum { EXECUTORS = 3, ROUNDS = 60, BORN = 12, JOBS_MAX = ROUNDS * BORN };

struct waiting {
    int64_t id, priority;
    time_ms place;
    bool timer, dated, taken;
    int handler;
};

struct fleet {
    struct store *stores[EXECUTORS];
    struct acquire commands[EXECUTORS];
    struct waiting jobs[JOBS_MAX];
    int count;
    time_ms now;
};

static const char *const handlers[] = {"a", "b", "c"};

/* One of the eight ways to command, aged or not, and a range that may be open, negative or one
 * point. */
static struct acquire any_order(int way) {
    struct acquire command = everything;
    command.by_priority = way & 1;
    command.prefer_timers = way & 2;
    command.by_due_date = way & 4;
    command.aging = rand() % 2 ? 500 + rand() % 5000 : 0;
    command.ensure_due_date = rand() % 5 == 0;
    command.priority_min = rand() % 2 ? -4 + rand() % 5 : INT64_MIN;
    int64_t least = command.priority_min == INT64_MIN ? 0 : command.priority_min;
    command.priority_max = rand() % 2 ? INT64_MAX : least + rand() % 4;
    command.want = 1 + rand() % 9;
    return command;
}

static bool open_fleet(struct contract *c, struct fleet *fleet, int way) {
    *fleet = (struct fleet){.now = NOW};
    for (int i = 0; i < EXECUTORS; i++) {
        struct store_executor self;
        fleet->commands[i] = any_order((way + i * 3) % 8);
        if (!(fleet->stores[i] = contract_join(c, "member", NOW, &self)))
            return false;
    }
    return true;
}

static void close_fleet(struct fleet *fleet) {
    for (int i = 0; i < EXECUTORS; i++)
        store_close(fleet->stores[i]);
}

static bool birth(struct contract *c, struct fleet *fleet, struct store *store) {
    struct waiting *job = &fleet->jobs[fleet->count];
    *job = (struct waiting){.priority = rand() % 9 - 4,
                            .timer = rand() % 3 == 0,
                            .handler = rand() % 3,
                            .place = fleet->now};
    time_ms due = TIME_NONE;
    if (job->timer || rand() % 4 == 0)
        due = fleet->now - 3000 + rand() % 4000; /* some in the future */
    job->dated = due != TIME_NONE;
    job->place = job->dated ? due : fleet->now;
    job->id = create(c, store,
                     (struct job){.handler = handlers[job->handler],
                                  .retries = 3,
                                  .type = job->timer ? JOB_TIMER : JOB_MESSAGE,
                                  .priority = job->priority,
                                  .due = due},
                     fleet->now);
    fleet->count++;
    return job->id != 0;
}

static bool may(const struct fleet *fleet, const struct acquire *command,
                const struct waiting *job) {
    return !job->taken && job->place <= fleet->now && job->priority >= command->priority_min &&
           job->priority <= command->priority_max && (job->dated || !command->ensure_due_date);
}

/* Of the same handler, type and priority the older one goes first, whatever the command. */
static bool same_level(const struct waiting *a, const struct waiting *b) {
    return a->handler == b->handler && a->timer == b->timer && a->priority == b->priority;
}

static bool older(const struct waiting *a, const struct waiting *b) {
    return a->place != b->place ? a->place < b->place : a->id < b->id;
}

static bool before(const struct acquire *command, const struct waiting *a,
                   const struct waiting *b) {
    if (same_level(a, b))
        return older(a, b);
    if (command->by_priority) {
        int64_t x = command->aging ? a->priority * command->aging - a->place : a->priority;
        int64_t y = command->aging ? b->priority * command->aging - b->place : b->priority;
        if (x != y)
            return x > y;
    }
    if (command->prefer_timers && a->timer != b->timer)
        return a->timer;
    if (command->by_due_date && a->place != b->place)
        return a->place < b->place;
    return a->id < b->id;
}

static struct waiting *find(struct fleet *fleet, int64_t id) {
    for (int i = 0; i < fleet->count; i++)
        if (fleet->jobs[i].id == id)
            return &fleet->jobs[i];
    return NULL;
}

static bool is_head(struct fleet *fleet, const struct acquire *command, const struct waiting *job) {
    for (int i = 0; i < fleet->count; i++)
        if (may(fleet, command, &fleet->jobs[i]) && same_level(&fleet->jobs[i], job) &&
            older(&fleet->jobs[i], job))
            return false;
    return true;
}

/* Each job of the page was the best of all heads when its turn came. */
static bool was_best(struct fleet *fleet, const struct acquire *command, struct waiting *taken) {
    if (!taken || !may(fleet, command, taken))
        return false;
    for (int i = 0; i < fleet->count; i++) {
        const struct waiting *other = &fleet->jobs[i];
        if (other != taken && may(fleet, command, other) && before(command, other, taken) &&
            is_head(fleet, command, other))
            return false;
    }
    taken->taken = true;
    return true;
}

static bool acquires(struct contract *c, struct fleet *fleet, int member) {
    struct job *list = NULL;
    int count = 0, promoted = 0;
    bool more = false, fair = true;
    const struct acquire *command = &fleet->commands[member];
    struct store *store = fleet->stores[member];
    if (!store_promote(store, fleet->now, 1000, &promoted, &c->error) ||
        !store_acquire(store, command, fleet->now, &list, &count, &more, &c->error))
        return false;
    for (struct job *job = list; job && fair; job = job->next)
        fair = was_best(fleet, command, find(fleet, job->id));
    int left = 0;
    for (int i = 0; i < fleet->count; i++)
        left += may(fleet, command, &fleet->jobs[i]);
    job_free_list(list);
    return fair && (count == command->want || left == 0);
}

/* Some jobs in one transaction of any member. */
static bool births(struct contract *c, struct fleet *fleet) {
    struct store *store = fleet->stores[rand() % EXECUTORS];
    bool born = store_begin(store, STORE_COMMAND, &c->error);
    for (int i = rand() % BORN; born && i > 0; i--)
        born = birth(c, fleet, store);
    return born && store_commit(store, &c->error);
}

static bool play(struct contract *c, struct fleet *fleet) {
    for (int round = 0; round < ROUNDS; round++) {
        if (!births(c, fleet) || !acquires(c, fleet, rand() % EXECUTORS))
            return false;
        fleet->now += rand() % 1500;
    }
    return true;
}

/* What is left must not disturb the next game. */
static bool clear(struct contract *c, time_ms now) {
    int promoted = 0, taken = 0;
    do
        if (!store_promote(c->store, now, 1000, &promoted, &c->error) ||
            (taken = acquire_count(c, c->store, now)) < 0)
            return false;
    while (taken > 0);
    return true;
}

static void commands(struct contract *c) {
    static struct fleet fleet;
    for (int way = 0; way < 8; way++) {
        srand((unsigned)way + 1);
        EXPECT(open_fleet(c, &fleet, way));
        bool fair = play(c, &fleet);
        close_fleet(&fleet);
        EXPECT(fair && clear(c, NOW + LEASE / 2));
    }
}

/* One executor serves fresh work without end; a retry due later than all of it still has its turn.
 */
static void no_starvation(struct contract *c) {
    time_ms now = NOW;
    int64_t id = create(c, c->store, (struct job){.retries = 3, .due = NOW + 50}, NOW);
    for (int i = 0; i < 200; i++, now += 10) {
        struct job *job = NULL;
        int promoted = 0;
        EXPECT(create(c, c->store, (struct job){.retries = 3}, now));
        EXPECT(create(c, c->store, (struct job){.retries = 3}, now));
        EXPECT(store_promote(c->store, now, 1000, &promoted, &c->error));
        EXPECT((job = acquire_one(c, c->store, now)));
        bool found = job->id == id;
        job_free(job);
        if (found)
            return;
    }
    EXPECT(!"the job had its turn");
}

/* With aging a low priority has its turn, too, and exactly when its points outweigh the rest. */
static void aged(struct contract *c) {
    struct acquire command = everything;
    command.aging = 1000;
    command.want = 1;
    int64_t low = create(c, c->store, (struct job){.retries = 3}, NOW);
    for (int i = 1; i <= 20; i++) {
        struct job *job = NULL;
        int count = 0;
        bool more = false;
        time_ms now = NOW + i * 1000;
        EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = 10}, now));
        EXPECT(store_acquire(c->store, &command, now, &job, &count, &more, &c->error) &&
               count == 1);
        bool found = job->id == low;
        job_free(job);
        EXPECT(found == (i == 10)); /* ten points: equal, and the older one goes first */
        if (found)
            return;
    }
    EXPECT(!"the job had its turn");
}

static void range_alone(struct contract *c) {
    struct acquire command = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    command.by_priority = false;
    command.priority_min = -3;
    command.priority_max = -1;
    for (int i = -5; i < 5; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = i}, NOW));
    EXPECT(store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error) && count == 3);
    job_free_list(list);
}

/* A hundred thousand rows would show: nothing of them is locked, parked or read up. */
static void undated(struct contract *c) {
    struct acquire command = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    command.ensure_due_date = true;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 2000; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = 9}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    int64_t id = create(c, c->store, (struct job){.retries = 3, .due = NOW}, NOW);
    EXPECT(store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error) && count == 1);
    EXPECT(list->id == id && !more);
    job_free_list(list);
    EXPECT(acquire_count(c, c->store, NOW) == 1000);
}

static const struct check checks[] = {
    {"three executors, eight commands, ranges: each takes the best of what it may take", commands},
    {"a retry has its turn beside work without end", no_starvation},
    {"with aging a low priority has its turn when its points are enough", aged},
    {"a range holds without by_priority", range_alone},
    {"with ensure_due_date jobs without a date are passed over", undated},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
