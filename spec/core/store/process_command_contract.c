/* process_command_contract.c - what instances of processes are told: messages, suspension, tasks,
 * cleanup. */
#include "process_step.h"

/* ---- messages ---- */

static int receivers(struct contract *c, const char *text) {
    json_t *question = json_of("%s", text);
    json_t *found = store_ask(c->store, ASK_RECEIVERS, question, NOW, &c->error);
    int count = found ? (int)json_array_size(found) : -1;
    json_decref(question);
    json_decref(found);
    return count;
}

static void messages(struct contract *c) {
    EXPECT(deploy(c, "a",
                  json_of("[" ORDER "]", "one", "",
                          "{'kind': 'message', 'name': 'ordered', 'activity': 'start'}"),
                  NOW));
    int64_t of = version(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    job_free(job);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-2'}") == 0);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'business_key': 'o-7'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'business_key': 'o-8'}") == 0);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'instance': 99}") == 0);
    EXPECT(receivers(c, "{'name': 'ordered'}") == 1);
}

/* A start event and an instance that wait for the message without a key. */
static void keyless(struct contract *c) {
    EXPECT(deploy(c, "a",
                  json_of("[" ORDER "]", "one", "",
                          "{'kind': 'message', 'name': 'news', 'activity': 'start'}"),
                  NOW));
    int64_t of = version(c), id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(receivers(c, "{'name': 'news'}") == 1);
    EXPECT(receivers(c, "{'name': 'news', 'key': 'n-1'}") == 1);
    struct step wait = step_of(id, of, 0, F1);
    wait.subscription = (struct unit_subscription){id, 6, of, "message", "parcel", NULL, "wait"};
    EXPECT(settle_step(c, NULL, &wait, NULL) == SETTLED);
    EXPECT(receivers(c, "{'name': 'parcel'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'business_key': 'o-7'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'business_key': 'o-7'}") == 1);
    EXPECT(receivers(c, "{'name': 'news', 'business_key': 'o-7'}") == 1); /* the start event */
    char one[80];
    snprintf(one, sizeof one, "{'name': 'parcel', 'instance': %lld}", (long long)id);
    EXPECT(receivers(c, one) == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'instance': 99}") == 0);
    int64_t other = store_reserve_ids(c->store, 1, &c->error);
    struct step keyed = step_of(other, of, 0, F1);
    keyed.subscription =
        (struct unit_subscription){other, 6, of, "message", "parcel", "p-1", "wait"};
    EXPECT(settle_step(c, NULL, &keyed, NULL) == SETTLED);
    EXPECT(receivers(c, "{'name': 'parcel'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-2'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1'}") == 2);
}

/* Settles the job of an order with a message to others. */
static int say(struct contract *c, struct job *job, int64_t of, const char *name, const char *key) {
    struct unit_message message = {
        .name = name, .key = key, .variables = "{\"paid\":true}", .until = TIME_NONE};
    struct step step = step_of(job->instance_id, of, job->frame_rev, NULL);
    step.unit.messages = &message;
    step.unit.message_count = 1;
    return settle_step(c, job, &step, NULL);
}

static void said(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *beside = crowd(c, of, id), *job = NULL;
    EXPECT(beside && begin(c, of) && (job = acquire_one(c, c->store, NOW)));
    while (job && job->instance_id == id) { /* the other job of the crowd */
        job_free(job);
        job = acquire_one(c, c->store, NOW);
    }
    EXPECT(job && say(c, job_copy(job), of, "parcel", "p-2") == -1);
    EXPECT_ERROR("message \"parcel\" with key \"p-2\": nothing waits for it");
    EXPECT(say(c, job_copy(job), of, "parcel", "p-1") == SETTLED);
    job_free(job);
    job_free(beside);
    json_t *filters = json_of("{'handler': 'process/order:command'}");
    struct store_page page = {.limit = 10};
    json_t *jobs = store_jobs(c->store, filters, &page, NOW, &c->error);
    const json_t *cause = json_object_get(json_array_get(jobs, 0), "payload");
    bool told = json_array_size(jobs) == 1 &&
                json_integer_value(json_object_get(cause, "instance")) == id &&
                json_integer_value(json_object_get(cause, "token")) == 6 &&
                json_is_true(json_object_get(json_object_get(cause, "variables"), "paid"));
    json_decref(filters);
    json_decref(jobs);
    EXPECT(told);
}

/* Keeps a message for a second: YES, NO or FAILED. */
static enum answer keep(struct contract *c, const char *key) {
    struct unit_message message = {
        .name = "parcel", .key = key, .variables = "{\"paid\":true}", .until = NOW + 1000};
    if (!store_begin(c->store, STORE_COMMAND, &c->error))
        return FAILED;
    size_t at = 0;
    enum answer kept = store_messages_keep(c->store, &message, 1, &at, NOW, &c->error);
    return store_commit(c->store, &c->error) ? kept : FAILED;
}

static void kept(struct contract *c) {
    struct command_run run = {0};
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(keep(c, "p-1") == YES && keep(c, "p-1") == YES && keep(c, "p-2") == YES);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, json_of("{'key': 'p-1'}")) == 2);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    job_free(job);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, json_of("{'key': 'p-1'}")) == 2); /* one is on its way */
    EXPECT(contract_number(c, "SELECT count(*) FROM kept_message WHERE job IS NOT NULL") == 1);
    EXPECT(rows(c, ASK_JOBS, json_of("{'handler': 'process/order:command'}")) == 1);
    EXPECT(keep(c, "p-1") == NO);
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 1000, &c->error));
    json_decref(clean);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, NULL) == 0);
}

/* ---- suspension, tasks ---- */

static void held_instance(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)id);
    int64_t rev = job->frame_rev;
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    INSTANCE(id, "state", "suspended");
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    struct step late = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, job, &late, NULL) == SETTLED_STALE);
    struct step set = step_of(id, of, rev, F2);
    step_job(&set, 0, "more", 9);
    EXPECT(settle_step(c, NULL, &set, NULL) == -1);
    char refused[64];
    snprintf(refused, sizeof refused, "instance %s is suspended", text);
    EXPECT_ERROR(refused);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "activate_instance", "instance", text));
    INSTANCE(id, "state", "active");
    EXPECT(acquire_count(c, c->store, NOW) == 2);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    struct step cancel = step_of(id, of, rev, NULL);
    EXPECT(settle_step(c, NULL, &cancel, NULL) == -1); /* it would be completed */
    cancel.instance.ended = "cancelled";
    EXPECT(settle_step(c, NULL, &cancel, NULL) == SETTLED);
    json_t *question = json_of("{'limit': 10}");
    json_t *left = store_ask(c->store, ASK_INSTANCES, question, NOW, &c->error);
    size_t count = json_array_size(left);
    json_decref(question);
    json_decref(left);
    EXPECT(count == 0);
}

static void held_process(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "order"));
    struct step start = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
    EXPECT(settle_step(c, NULL, &start, NULL) == -1);
    EXPECT_ERROR("the process is suspended");
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->instance_id == id);
    struct step next = step_of(id, of, job->frame_rev, F2);
    step_job(&next, 0, "pack", 4);
    EXPECT(settle_step(c, job, &next, NULL) == SETTLED && acquire_count(c, c->store, NOW) == 0);
    EXPECT(contract_operate(c, "{ss ss sb}", "verb", "activate_process", "process", "order",
                            "include_instances", 1));
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    EXPECT(!contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "offer"));
    EXPECT_ERROR("unknown process \"offer\"");
}

static void assigned(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    job_free(job);
    json_t *question = json_of("{'limit': 1}");
    json_t *tasks = store_ask(c->store, ASK_TASKS, question, NOW, &c->error);
    int64_t task = json_integer_value(json_object_get(json_array_get(tasks, 0), "id"));
    json_decref(question);
    json_decref(tasks);
    EXPECT(!contract_operate(c, "{ss sI ss sb}", "verb", "set_assignee", "task", (json_int_t)task,
                             "assignee", "clerk", "claim", 1));
    char claimed[64];
    snprintf(claimed, sizeof claimed, "task %lld is claimed by \"boss\"", (long long)task);
    EXPECT_ERROR(claimed);
    EXPECT(contract_operate(c, "{ss sI ss}", "verb", "set_assignee", "task", (json_int_t)task,
                            "assignee", "clerk"));
    EXPECT(rows(c, ASK_TASKS, json_of("{'assignee': 'clerk'}")) == 1);
}

/* ---- who serves them ---- */

static void by_key(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    json_t *names = json_of("[{'name': 'process/order/other', 'properties': {}}]");
    json_t *keys = json_of("['offer']");
    struct definitions has = {0}, lacks = {0};
    EXPECT(of && id && definitions_read(&has, names) && definitions_read(&lacks, NULL) &&
           definitions_add_processes(&lacks, keys));
    struct acquire without = everything, with = everything;
    without.handlers = &lacks;
    with.handlers = &has;
    struct job *job = NULL;
    int count = 0;
    bool more = false;
    time_ms next = 0;
    EXPECT(store_acquire(c->store, &without, NOW, &job, &count, &more, &c->error) && !count);
    EXPECT(!store_misses(c->store, &without));
    EXPECT(store_missing(c->store, &without, NOW + 1000, 1, &next, &c->error));
    EXPECT(rows(c, ASK_INCIDENTS, NULL) == 0);
    json_t *profile = json_of("{'handlers': [], 'processes': ['offer']}");
    EXPECT(store_publish(c->store, profile, NOW, &c->error));
    json_t *gaps = store_unserved(c->store, NOW, &c->error);
    const char *text = json_string_value(json_object_get(json_array_get(gaps, 0), "text"));
    EXPECT(text && strcmp(text, "no live executor serves process \"order\"") == 0);
    json_decref(gaps);
    json_decref(profile);
    EXPECT(store_acquire(c->store, &with, NOW, &job, &count, &more, &c->error) && count == 1);
    job_free_list(job);
    definitions_clear(&has);
    definitions_clear(&lacks);
    json_decref(names);
    json_decref(keys);
}

/* ---- cleanup ---- */

static void cleanup(struct contract *c) {
    bool more = false;
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, NULL);
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    EXPECT(store_file_ended(c->store, 1000, &more, &c->error) && !more);
    EXPECT(rows(c, ASK_TRAIL, json_of("{'instance': %d}", (int)id)) == 1);
    INSTANCE(id, "removal_time", "2026-01-02T00:00:00.000Z");
    struct command_run run = {0};
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 3600000, &c->error));
    EXPECT(rows(c, ASK_PAST, NULL) == 1);
    EXPECT(store_command(c->store, clean, &run, NOW + 86400000, &c->error));
    json_decref(clean);
    EXPECT(rows(c, ASK_PAST, NULL) == 0 && rows(c, ASK_TRAIL, NULL) == 0);
}

static const struct check checks[] = {
    {"the receivers of a message are found by name, key, instance and business key", messages},
    {"a receiver without a key takes a message of any key, one with a key only its own", keyless},
    {"a message of a unit becomes a job of the receiver; without one the unit is refused", said},
    {"a message is kept for the next that waits for it, and not beyond its time", kept},
    {"the jobs of a suspended instance wait, and commands on it are refused, but for its end",
     held_instance},
    {"of a suspended process nothing starts, and jobs that are made wait", held_process},
    {"a task is given to somebody, and claimed only where it is nobody else's", assigned},
    {"jobs of a process are taken by its key, also those of activities that the folder lacks",
     by_key},
    {"an ended instance goes with its trail when its time to live is over", cleanup},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
