/* searched_contract.c - variables that instances are found by, from the unit that sets them to the
 * history's end. */
#include "job/unit.h"
#include "process_site.h"

#define SEARCHES                                                                                   \
    "[{'key': 'order', 'kind': 'lua', 'path': 'p.lua', 'hash': 'a', 'timers': [], 'events': [],"   \
    "'history_time_to_live': 'P1D', 'search': ['amount', 'customer']}]"

#define FRAME "{\"v\":1,\"next\":4,\"scopes\":[[1,0,\"\"]],\"tokens\":[[3,1,\"check\",\"task\"]]}"

/* Writes a unit of an instance that sets both variables; frame NULL: it has ended. */
static bool set(struct contract *c, int64_t id, int64_t of, int64_t rev, const char *frame,
                const char *amount) {
    struct unit_instance instance = {.id = id,
                                     .version = of,
                                     .rev = rev,
                                     .started = NOW,
                                     .frame = frame,
                                     .ended = frame ? NULL : "completed"};
    struct unit_searched searched[] = {{id, "amount", amount}, {id, "customer", "\"ann\""}};
    struct unit_task task = {.instance = id, .token = 3, .activity = "check", .due = TIME_NONE};
    struct unit unit = {.tasks = &task,
                        .task_count = frame != NULL,
                        .instances = &instance,
                        .instance_count = 1,
                        .searched = searched,
                        .searched_count = 2};
    struct job none = {0};
    enum settled settled = SETTLED;
    struct outcome end = {.job = &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .unit = &unit};
    return store_settle(c->store, &end, NOW, &settled, &c->error) && settled == SETTLED;
}

/* How many are found by a condition for the amount. */
static int found(struct contract *c, enum ask_kind kind, const char *condition) {
    return rows(c, kind, json_of("{'variables': {'amount': %s}}", condition));
}

static void finds(struct contract *c) {
    EXPECT(deploy(c, "a", json_of(SEARCHES), NOW));
    int64_t of = version(c), id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(set(c, id, of, 0, FRAME, "100"));
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "100") == 1);
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "['>', 99.5, '<', 100.5]") == 1);
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "['<>', 99.5]") == 1);
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "99.5") == 0);
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "['100', true]") == 0);
    EXPECT(found(c, ASK_PROCESS_INSTANCES, "null") == 0);
    EXPECT(found(c, ASK_TASKS, "100") == 1);
    EXPECT(found(c, ASK_TASKS, "['>=', 1.5]") == 1);
    EXPECT(found(c, ASK_PAST, "['<=', 100]") == 0);
}

static void keeps(struct contract *c) {
    struct command_run run = {0};
    EXPECT(deploy(c, "a", json_of(SEARCHES), NOW));
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(set(c, id, version(c), 0, NULL, "2.5"));
    EXPECT(found(c, ASK_PAST, "2.5") == 1 && found(c, ASK_PAST, "['>', 2]") == 1);
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 86400000, &c->error));
    json_decref(clean);
    EXPECT(found(c, ASK_PAST, "['>', 0]") == 0);
}

static const struct check checks[] = {
    {"an instance is found by the variables that its process searches", finds},
    {"what has ended is found until the history drops it", keeps},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
