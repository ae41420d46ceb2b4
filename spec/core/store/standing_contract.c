/* standing_contract.c - where the instances of a process stand, counted by activity. */
#include "job/unit.h"
#include "process_site.h"

/* Before "ship", at a task, at two turns of "line" that wait alike; what only watches counts not.
 */
#define FRAME                                                                                      \
    "{\"v\":1,\"next\":30,\"scopes\":[[1,0,\"\",{}],"                                              \
    "[4,1,\"line#multiInstanceBody\",null,[2,0,2,[[10,2,0]]]]],"                                   \
    "\"tokens\":[[2,1,\"ship\",\"before\"],[3,1,\"ask\",\"task\"],[5,1,\"late\",\"on timer\"]]}"

/* The jobs of the frame's tokens; its task has a row of its own. */
static const struct {
    const char *handler, *activity;
    int64_t token;
} waiting[] = {
    {"process/order/ship", "ship", 2},
    {"process/order/late:timer", "late", 5},
    {"process/order/line", "line", 10},
    {"process/order/line", "line", 11},
};
enum { WAITING = sizeof waiting / sizeof *waiting };

static void add_jobs(struct job_spec *jobs, int64_t id) {
    for (int i = 0; i < WAITING; i++) {
        jobs[i] = (struct job_spec){.job = {.handler = waiting[i].handler,
                                            .activity = waiting[i].activity,
                                            .instance_id = id,
                                            .execution = waiting[i].token,
                                            .exclusive = true,
                                            .lane_id = job_instance_lane(id),
                                            .due = TIME_NONE}};
        jobs[i].next = i + 1 < WAITING ? &jobs[i + 1] : NULL;
    }
}

/* 0: error. */
static int64_t begin(struct contract *c, int64_t of) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct unit_instance instance = {
        .id = id, .version = of, .started = NOW, .frame = FRAME, .key = "o-7"};
    struct unit_task task = {.instance = id, .token = 3, .activity = "ask", .due = TIME_NONE};
    struct unit unit = {
        .instances = &instance, .instance_count = 1, .tasks = &task, .task_count = 1};
    struct job_spec jobs[WAITING];
    struct job none = {0};
    enum settled settled = SETTLED;
    add_jobs(jobs, id);
    struct outcome end = {.job = &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .unit = &unit,
                          .created = jobs};
    return store_settle(c->store, &end, NOW, &settled, &c->error) && settled == SETTLED ? id : 0;
}

static json_t *standing(struct contract *c, const char *key) {
    json_t *question = json_of("{'name': '%s'}", key);
    json_t *found = store_ask(c->store, ASK_STANDING, question, NOW, &c->error);
    json_decref(question);
    return found;
}

static int64_t number_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* The count of an activity in a list; of its state, unless that is NULL. */
static int64_t count_of(const json_t *found, const char *list, const char *activity,
                        const char *state) {
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(found, list), i, row) {
        const char *of = json_string_value(json_object_get(row, "state"));
        if (strcmp(json_string_value(json_object_get(row, "activity")), activity) == 0 &&
            (!state || strcmp(of ? of : "", state) == 0))
            return number_of(row, "count");
    }
    return 0;
}

static void counts(struct contract *c) {
    int64_t one = order(c), first = begin(c, one);
    EXPECT(one && first && begin(c, one));
    EXPECT(deploy(c, "b", json_of("[" ORDER "]", "two", "", ""), NOW) && begin(c, version(c)));
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)first);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    json_t *found = standing(c, "order");
    bool whole = number_of(found, "version") == 2 && number_of(found, "instances") == 3 &&
                 number_of(found, "suspended") == 1;
    bool places = count_of(found, "at", "ship", "before") == 3 &&
                  count_of(found, "at", "ask", "task") == 3 &&
                  count_of(found, "at", "line", "before") == 6 &&
                  json_array_size(json_object_get(found, "at")) == 3;
    json_decref(found);
    EXPECT(whole && places);
}

static void incidents(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of && begin(c, of) && begin(c, of));
    struct job *job = acquire_one(c, c->store, NOW);
    struct outcome failure = {
        .kind = OUTCOME_FAILURE, .permanent = true, .message = (char *)(uintptr_t) "no"};
    EXPECT(job && settle(c, c->store, job, failure, NOW) == SETTLED_DEAD);
    json_t *found = standing(c, "order");
    int64_t count = count_of(found, "incidents", "ship", NULL);
    json_decref(found);
    EXPECT(count == 1);
}

static void none(struct contract *c) {
    EXPECT(!standing(c, "offer") && c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("no process \"offer\" is deployed");
    c->error = (struct error){0};
    EXPECT(order(c));
    json_t *found = standing(c, "order");
    bool empty = found && number_of(found, "instances") == 0 &&
                 json_array_size(json_object_get(found, "at")) == 0;
    json_decref(found);
    EXPECT(empty);
}

static const struct check checks[] = {
    {"places are counted by activity and state over all versions, turns that wait alike, too",
     counts},
    {"open incidents are counted by activity", incidents},
    {"a process that is not deployed is not found, and one without instances stands nowhere", none},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
