/* order_contract.c - acquisition in every order, against a search through all jobs. */
#include "contract.h"

#define JOBS 60

struct waiting {
    int64_t id, priority;
    time_ms place;
    int handler, type, category;
    bool taken;
};

static struct waiting jobs[JOBS];
static const char *const handlers[] = {"a", "b", "c"};
static const char *const categories[] = {NULL, "red", "blue"};

/* Inside a stream and priority the older job always stands first. */
static bool behind(const struct waiting *job, const struct waiting *other) {
    return !other->taken && other->handler == job->handler && other->type == job->type &&
           other->category == job->category && other->priority == job->priority &&
           (other->place < job->place || (other->place == job->place && other->id < job->id));
}

static bool is_head(const struct waiting *job) {
    for (int i = 0; i < JOBS; i++)
        if (behind(job, &jobs[i]))
            return false;
    return true;
}

static bool wanted(const struct acquire *order, const struct waiting *job) {
    bool category = !order->categories, handler = !order->handlers;
    size_t index = 0;
    json_t *name = NULL;
    json_array_foreach(order->categories, index, name)
        category |= categories[job->category] &&
                    strcmp(categories[job->category], json_string_value(name)) == 0;
    handler |= order->handlers && definitions_find(order->handlers, handlers[job->handler]);
    return !job->taken && category && handler && job->priority >= order->priority_min &&
           job->priority <= order->priority_max && is_head(job);
}

static bool better(const struct acquire *order, const struct waiting *a, const struct waiting *b) {
    if (order->by_priority && order->aging) {
        /* small numbers: nothing overflows here */
        int64_t x = a->priority * order->aging + (NOW - a->place);
        int64_t y = b->priority * order->aging + (NOW - b->place);
        if (x != y)
            return x > y;
    } else if (order->by_priority && a->priority != b->priority)
        return a->priority > b->priority;
    if (order->prefer_timers && a->type != b->type)
        return a->type == JOB_TIMER;
    if (order->by_due_date && a->place != b->place)
        return a->place < b->place;
    return a->id < b->id;
}

static struct waiting *best(const struct acquire *order) {
    struct waiting *found = NULL;
    for (int i = 0; i < JOBS; i++)
        if (wanted(order, &jobs[i]) && (!found || better(order, &jobs[i], found)))
            found = &jobs[i];
    return found;
}

static bool fill(struct contract *c) {
    for (int i = 0; i < JOBS; i++) {
        struct waiting *job = &jobs[i];
        *job = (struct waiting){.priority = rand() % 7 - 3,
                                .handler = rand() % 3,
                                .type = rand() % 2 ? JOB_TIMER : JOB_MESSAGE,
                                .category = rand() % 3};
        time_ms due = rand() % 2 ? NOW - rand() % 40000 : TIME_NONE;
        time_ms created = NOW - rand() % 40000;
        job->place = due == TIME_NONE ? created : due;
        if (job->place == due && due > created)
            created = NOW;
        job->id = create(c, c->store,
                         (struct job){.handler = handlers[job->handler],
                                      .type = (enum job_type)job->type,
                                      .category = categories[job->category],
                                      .priority = job->priority,
                                      .due = due},
                         created);
        if (!job->id)
            return false;
    }
    return true;
}

static struct acquire any_order(const struct definitions *some, const json_t *red) {
    struct acquire order = everything;
    order.by_priority = rand() % 4 != 0;
    order.prefer_timers = rand() % 2;
    order.by_due_date = rand() % 3 != 0;
    order.aging = rand() % 3 == 0 ? 1 + rand() % 20000 : 0;
    order.handlers = rand() % 4 == 0 ? some : NULL;
    order.categories = rand() % 4 == 0 ? red : NULL;
    order.priority_min = rand() % 3 == 0 ? rand() % 4 - 2 : INT64_MIN;
    order.priority_max = rand() % 3 == 0 ? rand() % 4 : INT64_MAX;
    order.want = 1 + rand() % 20;
    return order;
}

static bool as_expected(struct contract *c, const struct acquire *order) {
    struct job *list = NULL;
    int count = 0;
    bool more = false, same = true;
    if (!store_acquire(c->store, order, NOW, &list, &count, &more, &c->error))
        return false;
    for (struct job *job = list; job; job = job->next) {
        struct waiting *expected = best(order);
        same = same && expected && expected->id == job->id;
        if (expected)
            expected->taken = true;
    }
    job_free_list(list);
    return same && more == (best(order) != NULL) && (count == order->want || !more);
}

static void orders(struct contract *c) {
    json_t *two = json_loads("[{\"name\":\"a\"},{\"name\":\"c\"}]", 0, NULL);
    json_t *red = json_loads("[\"red\"]", 0, NULL);
    struct definitions some = {0};
    EXPECT(definitions_read(&some, two));
    for (unsigned seed = 1; seed <= 60; seed++) {
        srand(seed);
        EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && fill(c));
        for (int i = 0; i < 12; i++) {
            struct acquire order = any_order(&some, red);
            if (!as_expected(c, &order)) {
                printf("# seed %u, acquisition %d\n", seed, i);
                EXPECT(!"the same order as a search through all jobs");
            }
        }
        store_rollback(c->store);
    }
    definitions_clear(&some);
    json_decref(two);
    json_decref(red);
}

static void extremes(struct contract *c) {
    const int64_t order[] = {INT64_MAX, 1, 0, -1, INT64_MIN};
    struct acquire one = everything;
    struct job *job = NULL;
    int count = 0;
    bool more = false;
    for (int i = 0; i < 5; i++)
        EXPECT(create(c, c->store, (struct job){.priority = order[4 - i]}, NOW));
    one.want = 1;
    for (int i = 0; i < 5; i++) {
        one.aging = i % 2 ? INT64_MAX : 0;
        EXPECT(store_acquire(c->store, &one, NOW, &job, &count, &more, &c->error));
        EXPECT(count == 1 && job->priority == order[i]);
        job_free(job);
    }
}

static void one_point(struct contract *c) {
    struct acquire order = everything;
    order.priority_min = order.priority_max = 3;
    struct job *list = NULL;
    int count = 0;
    bool more = true;
    for (int i = 0; i < 6; i++)
        EXPECT(create(c, c->store, (struct job){.priority = i}, NOW));
    EXPECT(store_acquire(c->store, &order, NOW, &list, &count, &more, &c->error));
    EXPECT(count == 1 && list->priority == 3 && !more);
    job_free_list(list);
}

static void due_dates_only(struct contract *c) {
    struct acquire order = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    int64_t due = create(c, c->store, (struct job){.due = NOW - 1}, NOW);
    order.ensure_due_date = true;
    EXPECT(store_acquire(c->store, &order, NOW, &list, &count, &more, &c->error));
    EXPECT(count == 1 && list->id == due);
    job_free_list(list);
}

static void deployments(struct contract *c) {
    struct definitions none = {0};
    struct store_deployment folder = {.name = "folder", .hash = "h1", .definitions = &none};
    struct acquire order = everything;
    struct job_spec other = completed((struct job_spec){0});
    struct job *list = NULL;
    int64_t mine = 0, foreign = 0;
    int count = 0;
    bool more = false;
    EXPECT(store_deploy(c->store, &folder, "node", NOW, &mine, &c->error));
    folder.hash = "h2";
    EXPECT(store_deploy(c->store, &folder, "elsewhere", NOW, &foreign, &c->error));
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(store_create(c->store, &other, foreign, NOW, &c->error));
    other = completed((struct job_spec){0});
    EXPECT(store_create(c->store, &other, mine, NOW, &c->error));
    order.deployment_aware = true;
    EXPECT(store_acquire(c->store, &order, NOW, &list, &count, &more, &c->error));
    EXPECT(count == 2 && !list->deployment && list->next->deployment == mine);
    job_free_list(list);
}

static void joins_item(struct contract *c) {
    struct job *list = NULL;
    struct acquire order = everything;
    int count = 0;
    bool more = false;
    int64_t a1 = create(c, c->store, (struct job){.lane = "a", .priority = 5}, NOW);
    int64_t plain = create(c, c->store, (struct job){.priority = 4}, NOW);
    int64_t a2 = create(c, c->store, (struct job){.lane = "a", .priority = 3}, NOW);
    int64_t a3 = create(c, c->store, (struct job){.lane = "a", .priority = 2}, NOW);
    order.lane_run = 2;
    EXPECT(store_acquire(c->store, &order, NOW, &list, &count, &more, &c->error));
    EXPECT(count == 3 && list->id == a1 && list->next->id == a2 && list->next->next->id == plain);
    FIELD(a3, "state", NOW, "waiting");
    job_free_list(list);
}

/* Of what a transaction makes ready, an executor hears only of what it may take. */
static void told_ready(struct contract *c) {
    struct acquire order = everything;
    json_t *names = json_pack("[s]", "red");
    struct capacity capacity = {.acquire = &order};
    order.categories = names;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    store_set_capacity(c->store, &capacity);
    bool blue = create(c, c->store, (struct job){.category = "blue"}, NOW) > 0;
    bool after_blue = capacity.ready.left;
    int64_t red = create(c, c->store, (struct job){.category = "red"}, NOW);
    bool after_red = capacity.ready.left && capacity.ready.best.id == red;
    blue = blue && create(c, c->store, (struct job){.category = "blue", .priority = 9}, NOW) > 0;
    bool done = store_commit(c->store, &c->error);
    json_decref(names);
    EXPECT(blue && red && done);
    EXPECT(!after_blue && after_red && capacity.ready.best.id == red);
}

static const struct check checks[] = {
    {"jobs of one lane join one item, best first, at most lane_run", joins_item},
    {"random orders, ranges, handlers and categories agree with a full search", orders},
    {"the extreme priorities keep their order, aged or not", extremes},
    {"what becomes ready is told to an executor that may take it", told_ready},
    {"a range of one priority takes only that", one_point},
    {"with ensure_due_date only jobs with a due date are taken", due_dates_only},
    {"a deployment-aware executor takes what is registered for it", deployments},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
