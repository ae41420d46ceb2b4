/* lane_histories_contract.c - lanes on random histories: several executors with different ranges
 * and handlers on one file, failures, deaths, operators, follow-ups and pre-locked jobs. A model
 * beside the store knows what may run. */
#include "contract.h"

#define JOBS 400
#define NODES 3
#define LANES 4
#define STEPS 220

enum where { WAITS, RUNS, SUSPENDED, GONE };

struct model {
    int64_t id, priority, token; /* token: of the run that may commit */
    time_ms place, due;
    int lane, handler; /* lane 0: none */
    enum where where;
};

struct node {
    struct store *store;
    struct store_executor self;
    struct acquire serves;
    struct job *held; /* acquired, in order */
    int64_t kept;     /* the lane's token, where the first item is one of follow-ups */
    int follows;      /* how many follow-ups ran in a row */
};

static struct model jobs[JOBS];
static int job_count, lane_runs[LANES + 1];
static struct node nodes[NODES];
static bool creates; /* runs create jobs */
static int making;   /* of 40 steps so many make a job from outside; few: the queue is short */
static time_ms now;
static const char *const handlers[] = {"a", "b"};
static const char *const lanes[] = {NULL, "one", "two", "three", "four"};

static int lane_of(const struct job *job) {
    for (int i = 1; i <= LANES; i++)
        if (job->lane && strcmp(job->lane, lanes[i]) == 0)
            return i;
    return 0;
}

static bool servable(const struct node *node, const struct model *job) {
    return job->where == WAITS && (job->due == TIME_NONE || job->due <= now) &&
           job->priority >= node->serves.priority_min &&
           job->priority <= node->serves.priority_max &&
           (!node->serves.handlers ||
            definitions_find(node->serves.handlers, handlers[job->handler]));
}

static bool better(const struct model *a, const struct model *b) {
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->place != b->place ? a->place < b->place : a->id < b->id;
}

static bool make(struct contract *c) {
    struct model *job = &jobs[job_count];
    if (job_count == JOBS)
        return true;
    *job = (struct model){.priority = rand() % 4,
                          .lane = rand() % (LANES + 1),
                          .handler = rand() % 2,
                          .due = rand() % 5 ? TIME_NONE : now + rand() % 50};
    job->place = job->due == TIME_NONE ? now : job->due;
    job->id = create(c, nodes[rand() % NODES].store,
                     (struct job){.handler = handlers[job->handler],
                                  .lane = lanes[job->lane],
                                  .priority = job->priority,
                                  .due = job->due,
                                  .retries = 1000},
                     now);
    job_count++;
    return job->id != 0;
}

static struct model *model_of(int64_t id) {
    for (int i = 0; i < job_count; i++)
        if (jobs[i].id == id)
            return &jobs[i];
    return NULL;
}

/* No waiting job of the lane that this node could take stands before the one it took. */
static bool best_of_lane(const struct node *node, const struct model *taken) {
    for (int i = 0; i < job_count; i++)
        if (jobs[i].lane == taken->lane && servable(node, &jobs[i]) && better(&jobs[i], taken))
            return false;
    return true;
}

static bool nothing_stranded(const struct node *node) {
    for (int i = 0; i < job_count; i++)
        if (servable(node, &jobs[i]) && !(jobs[i].lane && lane_runs[jobs[i].lane]))
            return false;
    return true;
}

static const char *take(struct contract *c, struct node *node) {
    struct acquire command = node->serves;
    struct job *list = NULL;
    int count = 0, made[LANES + 1] = {0}, promoted = 0;
    bool more = false;
    command.want = 1 + rand() % 6;
    command.lane_run = 1 + rand() % 3;
    if (!store_promote(node->store, now, 1000, &promoted, &c->error) ||
        !store_acquire(node->store, &command, now, &list, &count, &more, &c->error))
        return "acquisition works";
    node->held = list;
    for (struct job *job = list, *before = NULL; job; before = job, job = job->next) {
        struct model *taken = model_of(job->id);
        int lane = lane_of(job);
        if (!taken || !servable(node, taken))
            return "only jobs that may run here are taken";
        if (lane && (made[lane] ? lane_of(before) != lane : lane_runs[lane]))
            return "jobs of one lane never run at the same time";
        if (lane && !best_of_lane(node, taken))
            return "the best servable job of a lane is first";
        if (lane && ++made[lane] > command.lane_run)
            return "an item has at most lane_run jobs";
        lane_runs[lane] = lane != 0;
        taken->where = RUNS;
        taken->token = job->token;
    }
    return more || nothing_stranded(node) ? NULL : "nothing is stranded";
}

static bool may_commit(const struct model *model, const struct job *run) {
    return model->where == RUNS && model->token == run->token;
}

static void model_ends(struct model *job, const struct outcome *end, enum settled settled) {
    if (settled == SETTLED_STALE)
        return;
    job->where = end->kind == OUTCOME_SUCCESS ? GONE : WAITS;
    if (end->due != TIME_NONE && end->kind == OUTCOME_FAILURE)
        job->due = job->place = end->due;
}

/* What a run creates: at most three jobs, some of its own lane. */
static struct job_spec *creation(const struct job *run) {
    struct job_spec *list = NULL;
    for (int i = rand() % 4; i > 0 && job_count + i < JOBS; i--) {
        bool own = run->lane && rand() % 2;
        struct job_spec spec = {.job = {.handler = handlers[rand() % 2],
                                        .lane = own ? run->lane : lanes[rand() % (LANES + 1)],
                                        .priority = rand() % 6,
                                        .due = rand() % 4 ? TIME_NONE : now + rand() % 50,
                                        .retries = 1000}};
        spec = completed(spec);
        struct job_spec *copy = job_spec_copy(&spec);
        copy->next = list;
        list = copy;
    }
    return list;
}

static void note_created(const struct job_spec *list) {
    for (; list; list = list->next) {
        const struct job *job = &list->job;
        jobs[job_count++] = (struct model){.id = job->id,
                                           .priority = job->priority,
                                           .due = job->due,
                                           .place = job->due == TIME_NONE ? now : job->due,
                                           .lane = lane_of(job),
                                           .handler = job->handler[0] - 'a'};
    }
}

/* What the node would acquire next is known to it. */
static struct capacity capacity_of(const struct node *node) {
    const struct model *best = NULL;
    struct capacity capacity = {
        .acquire = &node->serves, .room = rand() % 8, .ready.blind = rand() % 4 == 0};
    for (int i = 0; i < job_count; i++)
        if (servable(node, &jobs[i]) && !(jobs[i].lane && lane_runs[jobs[i].lane]) &&
            (!best || better(&jobs[i], best)))
            best = &jobs[i];
    capacity.ready.left = best != NULL;
    if (best)
        capacity.ready.best = (struct sort_key){best->priority, best->place, best->id, false};
    return capacity;
}

static void append(struct job **list, struct job *jobs_) {
    while (*list)
        list = &(*list)->next;
    *list = jobs_;
}

static const char *begin_run(struct node *node, struct job *job, bool follows, int lane) {
    struct model *of = model_of(job->id);
    if (!servable(node, of))
        return "only jobs that may run here are locked as they are created";
    if (follows ? of->lane != lane : of->lane && lane_runs[of->lane])
        return "only jobs of a free lane are pre-locked, of the own lane follow";
    for (int i = 0; i < job_count && !follows; i++)
        if (servable(node, &jobs[i]) && !(jobs[i].lane && lane_runs[jobs[i].lane]) &&
            jobs[i].id < of->id && better(&jobs[i], of))
            return "what is pre-locked would be next";
    of->where = RUNS;
    of->token = job->token;
    lane_runs[of->lane] = of->lane != 0;
    return NULL;
}

static const char *begin_all(struct node *node, struct job *list, bool follows, int lane) {
    const char *wrong = NULL;
    for (struct job *job = list; job && !wrong; job = job->next)
        wrong = begin_run(node, job, follows, lane);
    return wrong;
}

static bool settle_run(struct contract *c, struct node *node, struct outcome *end,
                       struct capacity *capacity, enum settled *settled) {
    *capacity = capacity_of(node);
    capacity->follows = FOLLOW_MAX - node->follows;
    if (!store_begin(node->store, STORE_COMMAND, &c->error))
        return false;
    store_set_capacity(node->store, capacity);
    return store_settle(node->store, end, now, settled, &c->error) &&
           store_settle_end(node->store, &c->error) && store_commit(node->store, &c->error);
}

static struct outcome end_of(struct job *job, bool refused) {
    enum outcome_kind kind = OUTCOME_RETURNED;
    if (!refused && rand() % 9 != 0)
        kind = rand() % 4 ? OUTCOME_SUCCESS : OUTCOME_FAILURE;
    struct outcome end = {.job = job,
                          .kind = kind,
                          .decided = true,
                          .retries = 1000,
                          .due = rand() % 2 ? TIME_NONE : now + rand() % 30,
                          .ended = now};
    end.created = end.kind == OUTCOME_SUCCESS && creates ? creation(job) : NULL;
    return end;
}

/* Settles the first item of what the node holds, in order, as an executor does; what follows is
 * its first item then. */
static const char *finish(struct contract *c, struct node *node) {
    int64_t token = node->kept ? node->kept : node->held->token;
    int lane = lane_of(node->held);
    const char *wrong = NULL;
    bool refused = false, ends = false;
    struct job *follows = NULL;
    while (!wrong && !ends) {
        struct job *job = node->held;
        struct outcome end = end_of(job, refused);
        struct capacity capacity;
        enum settled settled = SETTLED;
        node->held = job->next;
        ends = !job->lane_id || !job->next || job->next->lane_id != job->lane_id;
        end.lane_ends = ends;
        end.lane_token = token;
        end.lane_kept = follows != NULL;
        if (!settle_run(c, node, &end, &capacity, &settled))
            return "settling works";
        struct model *of = model_of(job->id);
        if ((settled == SETTLED_STALE) == may_commit(of, job))
            return "exactly the runs that lost their lock are refused";
        refused = settled == SETTLED_STALE;
        model_ends(of, &end, settled);
        if (settled != SETTLED_STALE)
            note_created(end.created);
        wrong = begin_all(node, end.follows, true, lane);
        wrong = wrong ? wrong : begin_all(node, capacity.jobs, false, 0);
        append(&follows, end.follows);
        append(&node->held, capacity.jobs);
        job_spec_free_list(end.created);
        job_free(job);
    }
    node->kept = follows ? token : 0;
    node->follows = follows ? node->follows + 1 : 0;
    if (!follows)
        lane_runs[lane] = 0;
    append(&follows, node->held);
    node->held = follows;
    return wrong;
}

/* The node stops until its lease is over; the others reap it, and it comes back with what it held,
 * all of it refused. */
static const char *stop(struct contract *c, struct node *node) {
    struct store_reaped reaped;
    struct node *other = node == nodes ? &nodes[1] : nodes;
    enum settled settled = SETTLED;
    now += LEASE + 1;
    for (int i = 0; i < NODES; i++)
        if (&nodes[i] != node && !store_renew(nodes[i].store, now, LEASE, &c->error))
            return "leases are renewed";
    if (!store_sees_dead(other->store, now) || !store_reap(other->store, now, &reaped, &c->error) ||
        reaped.crashed)
        return "an overdue executor is seen and buried without a crash";
    for (struct job *job = node->held; job; job = job->next) {
        struct model *of = model_of(job->id);
        if (may_commit(of, job))
            of->where = WAITS;
        lane_runs[lane_of(job)] = 0;
    }
    const char *wrong = other->held ? NULL : take(c, other);
    int64_t first = node->held ? node->held->token : 0;
    int64_t token = node->kept ? node->kept : first;
    node->kept = node->follows = 0;
    while (!wrong && node->held) {
        struct job *job = node->held;
        struct outcome late = {.job = job, .kind = OUTCOME_SUCCESS, .due = TIME_NONE, .ended = now};
        node->held = job->next;
        late.lane_ends = !job->next || job->next->lane_id != job->lane_id;
        late.lane_token = token;
        if (!store_settle(node->store, &late, now, &settled, &c->error) || settled != SETTLED_STALE)
            wrong = "a late settle is refused";
        token = job->next && late.lane_ends ? job->next->token : token;
        job_free(job);
    }
    return wrong;
}

static const char *operate(struct contract *c) {
    struct model *job = &jobs[rand() % job_count];
    struct store *store = nodes[rand() % NODES].store;
    struct ids one = {&job->id, 1};
    bool done = true;
    if (job->where == GONE)
        return NULL;
    switch (rand() % 4) {
    case 0:
        done = give_set_suspended(store, one, job->where != SUSPENDED, now, &c->error);
        job->where = job->where == SUSPENDED ? WAITS : SUSPENDED;
        break;
    case 1:
        job->priority = rand() % 4;
        done = give_set_priority(store, one, job->priority, now, &c->error);
        break;
    case 2:
        if (job->where == RUNS)
            break;
        job->due = job->place = now + rand() % 30;
        done = give_set_due(store, one, job->due, false, now, &c->error);
        break;
    default:
        done = give_cancel(store, one, now, &c->error);
        job->where = GONE;
    }
    return done ? NULL : "operators are served";
}

static const char *step(struct contract *c) {
    struct node *node = &nodes[rand() % NODES];
    int dice = rand() % 40;
    now += rand() % 8;
    if (dice < making)
        return make(c) ? NULL : "creation works";
    if (dice == 14 && job_count)
        return stop(c, node);
    if (dice < 20 && job_count)
        return operate(c);
    return node->held ? finish(c, node) : take(c, node);
}

static bool all_over(void) {
    for (int i = 0; i < NODES; i++)
        if (nodes[i].held)
            return false;
    for (int i = 0; i < job_count; i++)
        if (jobs[i].where != GONE)
            return false;
    return true;
}

static const char *drain(struct contract *c) {
    const char *wrong = NULL;
    creates = false;
    for (int i = 0; i < job_count; i++) {
        if (jobs[i].where == SUSPENDED &&
            !give_set_suspended(c->store, (struct ids){&jobs[i].id, 1}, false, now, &c->error))
            return "jobs are activated";
        jobs[i].where = jobs[i].where == SUSPENDED ? WAITS : jobs[i].where;
    }
    for (int i = 0; i < 3000 && !wrong && !all_over(); i++) {
        struct node *node = &nodes[i % NODES];
        now += 5;
        wrong = node->held ? finish(c, node) : take(c, node);
    }
    return wrong || all_over() ? wrong : "every job comes to its end";
}

static bool open_nodes(struct contract *c, const struct definitions *only_a) {
    static const char *const names[] = {"x", "y", "z"};
    job_count = 0;
    creates = true;
    now = NOW;
    memset(lane_runs, 0, sizeof lane_runs);
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (struct node){.serves = everything};
        nodes[i].store = contract_join(c, names[i], now, &nodes[i].self);
        if (!nodes[i].store)
            return false;
    }
    nodes[1].serves.priority_min = 2;
    nodes[2].serves.handlers = only_a;
    return true;
}

static void close_nodes(void) {
    for (int i = 0; i < NODES; i++) {
        job_free_list(nodes[i].held);
        store_close(nodes[i].store);
        nodes[i] = (struct node){0};
    }
}

static void histories(struct contract *c) {
    json_t *a = json_loads("[{\"name\":\"a\"}]", 0, NULL);
    struct definitions only_a = {0};
    EXPECT(definitions_read(&only_a, a));
    unsigned from = (unsigned)contract_count("SEED", 1);
    unsigned count = (unsigned)contract_count("HISTORIES", 25);
    for (unsigned seed = from; seed < from + count; seed++) {
        const char *wrong = NULL;
        srand(seed);
        c->settings.lane_run = 1 + rand() % 4;
        making = seed % 2 ? 14 : 3;
        EXPECT(open_nodes(c, &only_a));
        for (int i = 0; i < STEPS && !wrong; i++) {
            wrong = step(c);
            if (!wrong && i % 20 == 0)
                contract_verify(c);
            if (c->failure) {
                printf("# seed %u step %d\n", seed, i);
                close_nodes();
                return;
            }
        }
        if (!wrong)
            wrong = drain(c);
        close_nodes();
        if (wrong) {
            printf("# seed %u\n", seed);
            c->failure = wrong;
            return;
        }
    }
    definitions_clear(&only_a);
    json_decref(a);
}

static const struct check checks[] = {
    {"random histories keep every lane strict and strand nothing", histories},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
