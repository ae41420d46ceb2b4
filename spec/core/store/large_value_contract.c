/* large_value_contract.c - variables too large for the frame: rows that a unit writes, and removes.
 */
#include "job/unit.h"
#include "process_site.h"

#define FRAME                                                                                      \
    "{\"v\":1,\"next\":9,\"scopes\":[[1,0,\"\",{\"small\":1},null,{\"big\":%d}]],"                 \
    "\"tokens\":[[3,1,\"check\",\"task\"]]}"

/* Writes a unit of an instance with these rows; `big`: the number in the frame, 0: it has ended. */
static bool put(struct contract *c, int64_t id, int64_t of, int big, struct unit_value *values,
                size_t count) {
    char frame[256];
    int64_t rev = atoll(answer(c, ASK_FRAME, json_of("{'instance': %d}", (int)id), "rev"));
    snprintf(frame, sizeof frame, FRAME, big);
    struct unit_instance instance = {.id = id,
                                     .version = of,
                                     .rev = rev,
                                     .started = NOW,
                                     .frame = big ? frame : NULL,
                                     .ended = big ? NULL : "completed",
                                     .variables = big ? NULL : "{\"small\":1}"};
    struct unit_task task = {.instance = id, .token = 3, .activity = "check", .due = TIME_NONE};
    struct unit unit = {.tasks = &task,
                        .task_count = big && !rev,
                        .instances = &instance,
                        .instance_count = 1,
                        .values = values,
                        .value_count = count};
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

/* The variable as the instance shows it, as JSON. */
static bool shows(struct contract *c, int64_t id, const char *expected) {
    json_t *question = json_of("{'id': %d}", (int)id);
    json_t *found = store_ask(c->store, ASK_INSTANCE, question, NOW, &c->error);
    json_t *big = json_object_get(json_object_get(found, "variables"), "big");
    char *text = json_dumps(big, JSON_ENCODE_ANY);
    bool same = strcmp(text ? text : "", expected) == 0;
    free(text);
    json_decref(found);
    json_decref(question);
    return same;
}

#define VALUE(id, n, key)                                                                          \
    answer(c, ASK_LARGE_VALUE, json_of("{'instance': %d, 'number': %d}", (int)(id), n), key)

static void written(struct contract *c) {
    struct command_run run = {0};
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct unit_value first[] = {{id, 5, "big", "\"five\""}};
    struct unit_value second[] = {{id, 7, "big", "\"seven\""}, {id, 5, NULL, NULL}};
    EXPECT(put(c, id, of, 5, first, 1));
    EXPECT(shows(c, id, "\"five\"") && strcmp(VALUE(id, 5, "value"), "five") == 0);
    EXPECT(put(c, id, of, 7, second, 2));
    EXPECT(shows(c, id, "\"seven\""));
    EXPECT(strcmp(VALUE(id, 5, "gone"), "") != 0);
    EXPECT(put(c, id, of, 0, NULL, 0));
    EXPECT(shows(c, id, "\"seven\""));
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 86400000, &c->error));
    json_decref(clean);
    EXPECT(strcmp(VALUE(id, 7, "gone"), "") != 0);
}

static const struct check checks[] = {
    {"a large variable is read and shown until the history drops its instance", written},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
