/* unserved_contract.c - what no live executor would ever take is counted and named. */
#include "contract.h"

/* All gaps as "count text" lines; in a buffer of its own. */
static const char *all(struct contract *c, time_ms now) {
    static char lines[4096];
    size_t index = 0, size = 0;
    json_t *unserved = NULL, *list = store_unserved(c->store, now, &c->error);
    if (!list)
        return c->error.text;
    lines[0] = 0;
    json_array_foreach(list, index, unserved) {
        size +=
            (size_t)snprintf(lines + size, sizeof lines - size, "%s%s%lld %s", size ? "; " : "",
                             json_is_true(json_object_get(unserved, "more")) ? "more than " : "",
                             (long long)json_integer_value(json_object_get(unserved, "count")),
                             json_string_value(json_object_get(unserved, "text")));
    }
    json_decref(list);
    return lines;
}

#define GAPS(now, words)                                                                           \
    do {                                                                                           \
        error_set(&c->error, ERROR_NONE, "%s", all(c, now));                                       \
        EXPECT(strcmp(c->error.text, words) == 0);                                                 \
    } while (0)

static struct store *join(struct contract *c, const char *name, const struct acquire *serves) {
    struct store_executor self = {.name = name, .workers = 1, .serves = serves};
    struct store *store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    if (store && store_join(store, &self, NOW, LEASE, &c->error))
        return store;
    store_close(store);
    return NULL;
}

static bool jobs(struct contract *c, int count, struct job job) {
    for (int i = 0; i < count; i++)
        if (!create(c, c->store, job, NOW))
            return false;
    return true;
}

static void none(struct contract *c) {
    EXPECT(jobs(c, 3, (struct job){.retries = 3}));
    GAPS(NOW, "");
}

static void nobody(struct contract *c) {
    EXPECT(jobs(c, 3, (struct job){.retries = 3}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .category = "mail", .due = NOW + 5}));
    EXPECT(store_leave(c->store, &c->error));
    GAPS(NOW, "5 no executor runs");
}

static void ranges(struct contract *c) {
    struct acquire low = everything, high = everything;
    low.priority_max = 9;
    high.priority_min = 50;
    high.priority_max = 99;
    EXPECT(store_leave(c->store, &c->error));
    struct store *a = join(c, "low", &low), *b = join(c, "high", &high);
    EXPECT(a && b);
    for (int priority = 0; priority < 110; priority += 10)
        EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = priority}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .priority = 20, .due = NOW + 5}));
    GAPS(NOW, "6 no live executor serves priority 10 to 49; "
              "1 no live executor serves priority 100 and above");
    store_close(a);
    GAPS(NOW, "7 no live executor serves priority 49 and below; "
              "1 no live executor serves priority 100 and above");
    store_close(b);
}

static void overlaps(struct contract *c) {
    struct acquire one = everything, two = everything, three = everything;
    one.priority_min = INT64_MIN;
    one.priority_max = 5;
    two.priority_min = -10;
    two.priority_max = 7;
    three.priority_min = 9;
    EXPECT(store_leave(c->store, &c->error));
    struct store *a = join(c, "one", &one), *b = join(c, "two", &two),
                 *d = join(c, "three", &three);
    EXPECT(a && b && d);
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = INT64_MIN}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = 7}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = 8}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = INT64_MAX}));
    GAPS(NOW, "1 no live executor serves priority 8");
    store_close(a);
    store_close(b);
    store_close(d);
}

static void categories(struct contract *c) {
    struct acquire mail = everything;
    json_t *names = json_pack("[s]", "mail");
    mail.categories = names;
    EXPECT(store_leave(c->store, &c->error));
    struct store *clerk = join(c, "clerk", &mail);
    EXPECT(clerk);
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .category = "mail"}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .category = "fax"}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .category = "fax", .handler = "other"}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3}));
    GAPS(NOW, "3 no live executor serves category \"fax\"; "
              "1 no live executor serves jobs without a category");
    store_close(clerk);
    json_decref(names);
}

static void handlers(struct contract *c) {
    json_t *profile = json_pack("{s[s]}", "handlers", "work");
    EXPECT(store_publish(c->store, profile, NOW, &c->error));
    json_decref(profile);
    EXPECT(jobs(c, 1, (struct job){.retries = 3}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .handler = "other"}));
    GAPS(NOW, "2 no live executor serves handler \"other\"");
}

static void deployments(struct contract *c) {
    struct definitions nothing = {0};
    struct store_deployment folder = {.name = "folder", .hash = "h1", .definitions = &nothing};
    struct acquire aware = everything;
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    int64_t foreign = 0;
    aware.deployment_aware = true;
    EXPECT(store_deploy(c->store, &folder, "elsewhere", NOW, &foreign, &c->error));
    EXPECT(store_create(c->store, &spec, foreign, NOW, &c->error));
    EXPECT(store_leave(c->store, &c->error));
    struct store *other = join(c, "aware", &aware);
    GAPS(NOW, "1 no live executor serves deployment 1");
    store_close(other);
}

static void drained(struct contract *c) {
    size_t touched = 0;
    EXPECT(jobs(c, 1, (struct job){.retries = 3}));
    EXPECT(give_drain(c->store, "node", true, &touched, NOW, &c->error));
    GAPS(NOW, "1 every executor is draining");
}

static void bounded(struct contract *c) {
    EXPECT(store_leave(c->store, &c->error) && store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 10001; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = i}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    GAPS(NOW, "more than 10000 no executor runs");
}

static void not_parts(struct contract *c) {
    EXPECT(jobs(c, 1, (struct job){.retries = 3}));
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_set_suspended(c->store, IDS(id), true, NOW, &c->error));
    job_free(acquire_one(c, c->store, NOW));
    EXPECT(store_leave(c->store, &c->error));
    GAPS(NOW, "1 no executor runs");
}

static void undated(struct contract *c) {
    struct acquire dated = everything, high = everything;
    dated.ensure_due_date = true;
    high.priority_min = 50;
    EXPECT(store_leave(c->store, &c->error));
    struct store *strict = join(c, "strict", &dated);
    EXPECT(strict);
    EXPECT(jobs(c, 3, (struct job){.retries = 3}));
    EXPECT(jobs(c, 1, (struct job){.retries = 3, .priority = 70}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .due = NOW}));
    EXPECT(jobs(c, 2, (struct job){.retries = 3, .due = NOW + 5}));
    GAPS(NOW, "4 no live executor takes jobs without a due date (setting ensure_due_date)");
    struct store *other = join(c, "high", &high);
    GAPS(NOW, "3 no live executor takes jobs without a due date (setting ensure_due_date)");
    store_close(strict);
    GAPS(NOW, "7 no live executor serves priority 49 and below");
    store_close(other);
}

static const struct check checks[] = {
    {"what somebody serves is no gap", none},
    {"without an executor everything is one gap", nobody},
    {"priorities between and outside all ranges are named", ranges},
    {"ranges that overlap leave no gap between them", overlaps},
    {"a category that nobody serves is named", categories},
    {"a handler that nobody has is named", handlers},
    {"a deployment that nobody is registered for is named", deployments},
    {"a draining executor serves nothing any more", drained},
    {"a gap is counted to 10 000", bounded},
    {"suspended jobs are in no gap", not_parts},
    {"jobs without a due date are named where every executor wants one", undated},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
