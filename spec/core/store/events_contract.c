/* events_contract.c - what has happened since a place is told once, also in another process. */
#include "contract.h"

enum { LATE = 12000 }; /* nothing is written so late */

static const struct outcome good = {.kind = OUTCOME_SUCCESS},
                            bad = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2},
                            dead = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 0};

/* Asks in a store that is opened for it alone. */
static json_t *ask(struct contract *c, const char *after, json_t *kinds, time_ms now) {
    struct store *store = store_open(c->url, STORE_READ, &c->settings, &c->error);
    json_t *question = json_pack("{ss* so*}", "after", after, "kinds", kinds);
    json_t *found = store ? store_ask(store, ASK_EVENTS, question, now, &c->error) : NULL;
    json_decref(question);
    store_close(store);
    return found;
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "job.failed 1, job.ended 2"; *place goes on: to the end, or behind the event of this number. */
static const char *told(struct contract *c, char *place, size_t upto, time_ms now) {
    static char text[1024];
    json_t *found = ask(c, place[0] ? place : NULL, NULL, now);
    const json_t *items = json_object_get(found, "items"), *one;
    size_t i, size = 0;
    snprintf(place, 4096, "%s", text_of(found, "next"));
    text[0] = 0;
    json_array_foreach(items, i, one) {
        const json_t *job = json_object_get(one, "job");
        if (i == upto)
            break;
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? ", " : "",
                                 text_of(one, "event"));
        if (job)
            size += (size_t)snprintf(text + size, sizeof text - size, " %d",
                                     (int)json_integer_value(job));
        if (i + 1 == upto)
            snprintf(place, 4096, "%s", text_of(one, "place"));
    }
    if (!found)
        snprintf(text, sizeof text, "error: %.900s", c->error.text);
    json_decref(found);
    return text;
}

#define TOLD_TO(count, now, text)                                                                  \
    do {                                                                                           \
        const char *was = told(c, place, count, now);                                              \
        if (strcmp(was, text) != 0)                                                                \
            printf("# told: %s\n", was);                                                           \
        EXPECT(strcmp(was, text) == 0);                                                            \
    } while (0)
#define TOLD(now, text) TOLD_TO(1000, now, text)

static bool run(struct contract *c, struct outcome how, time_ms now) {
    struct job *job = acquire_one(c, c->store, now);
    const int wanted = how.retries || how.kind == OUTCOME_SUCCESS ? SETTLED : SETTLED_DEAD;
    return job && settle(c, c->store, job, how, now) == wanted;
}

static void once(struct contract *c) {
    char place[4096] = "";
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) && run(c, good, NOW));
    TOLD(NOW, "");
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) && run(c, bad, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) && run(c, dead, NOW + 1));
    TOLD(NOW + 1, "job.failed 2, job.failed 2, incident.opened 2");
    TOLD(NOW + 1, "");
    TOLD(NOW + LATE, "");
    TOLD(NOW + 2 * LATE, "");
}

/* A failure is written after later ones. */
static void late(struct contract *c) {
    char place[4096] = "";
    struct job *first, *second;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT((first = acquire_one(c, c->store, NOW)) && (second = acquire_one(c, c->store, NOW)));
    TOLD(NOW, "");
    EXPECT(settle(c, c->store, second, bad, NOW + 9000) == SETTLED);
    TOLD(NOW + 9001, "job.failed 2");
    EXPECT(settle(c, c->store, first, bad, NOW + 2) == SETTLED);
    TOLD(NOW + 9002, "job.failed 1");
    TOLD(NOW + 3 * LATE, "");
}

/* Each event has the place behind it. */
static void between(struct contract *c) {
    char place[4096] = "";
    TOLD(NOW, "");
    for (int i = 1; i <= 3; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW + i) && run(c, good, NOW + i) &&
               create(c, c->store, (struct job){.retries = 1}, NOW + i) && run(c, dead, NOW + i));
    TOLD_TO(2, NOW + 9, "job.failed 2, job.ended 1");
    TOLD_TO(2, NOW + 9, "incident.opened 2, job.failed 4");
    TOLD(NOW + 9, "job.ended 3, incident.opened 4, job.failed 6, job.ended 5, incident.opened 6");
    TOLD(NOW + 9, "");
}

/* A place names a few; further ones wait until no earlier one can come. */
static void many(struct contract *c) {
    enum { FAILURES = 1200 };
    char place[4096] = "";
    int count = 0, first = 0;
    TOLD(NOW, "");
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    for (int i = 0; i < FAILURES; i++)
        EXPECT(run(c, bad, NOW + 1));
    for (int round = 0; round < 10; round++) {
        json_t *found = ask(c, place, NULL, NOW + (round ? LATE + 1 : 2));
        EXPECT(found && strlen(text_of(found, "next")) < 1000);
        EXPECT(json_is_true(json_object_get(found, "more")) == (round == 1 || round == 2));
        snprintf(place, sizeof place, "%s", text_of(found, "next"));
        count += (int)json_array_size(json_object_get(found, "items"));
        first = round ? first : count;
        json_decref(found);
    }
    EXPECT(first == 32 && count == FAILURES);
}

/* Those that the place names are past just when as many new ones may be told. */
static void bursts(struct contract *c) {
    enum { NAMED = 32 };
    char place[4096] = "";
    int count = 0;
    TOLD(NOW, "");
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    for (int i = 0; i < 2 * NAMED; i++)
        EXPECT(run(c, bad, NOW + (i < NAMED ? 1 : LATE / 2)));
    for (int round = 0; round < 4; round++) {
        json_t *found = ask(c, place, NULL, NOW + (round < 2 ? 2 + LATE / 2 * round : LATE));
        EXPECT(found && strlen(text_of(found, "next")) < 1000);
        snprintf(place, sizeof place, "%s", text_of(found, "next"));
        count += (int)json_array_size(json_object_get(found, "items"));
        EXPECT(count == (round < 2 ? NAMED : 2 * NAMED));
        json_decref(found);
    }
}

static void kinds(struct contract *c) {
    char place[4096] = "";
    TOLD(NOW, "");
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) && run(c, good, NOW + 1));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) && run(c, dead, NOW + 1));
    json_t *found = ask(c, place, json_pack("[s]", "incident.opened"), NOW + 2000);
    const json_t *items = json_object_get(found, "items");
    EXPECT(json_array_size(items) == 1 &&
           strcmp(text_of(json_array_get(items, 0), "event"), "incident.opened") == 0);
    snprintf(place, sizeof place, "%s", text_of(found, "next"));
    json_decref(found);
    TOLD(NOW + 2001, "");
    EXPECT(!ask(c, place, json_pack("[s]", "job.end"), NOW) &&
           strstr(c->error.text, "did you mean \"job.ended\""));
    EXPECT(!ask(c, "[1,2]", NULL, NOW) && strstr(c->error.text, "expected the id of an event"));
    EXPECT(!ask(c, "[1,2,[],[1,2,3,4],[1,2,3],[1,2,3],[1,2,3]]", NULL, NOW));
}

/* A place comes back from outside as any text. */
static void forged(struct contract *c) {
    static const char *const none[] = {
        "[0,0,[],[9223372036854775807,0,0,1,0,0],[1,2,3],[1,2,3],[1,2,3]]",
        "[0,0,[],[-9223372036854775808,0,0,-1,0,0],[1,2,3],[1,2,3],[1,2,3]]",
        "[0,0,[],[5,5,5,0,5,5],[1,2,3],[1,2,3],[1,2,3]]",
        "[0,0,[],[5,5,5,-1,5,5],[1,2,3],[1,2,3],[1,2,3]]",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        EXPECT(!ask(c, none[i], NULL, NOW) && strstr(c->error.text, "expected the id of an event"));
}

/* It may name more executors than have room in one answer. The store's own one joins besides. */
static void crowd(struct contract *c) {
    enum { NAMED = 1200, ROOM = 500 };
    static char place[16384];
    size_t size = (size_t)snprintf(place, sizeof place, "[0,0,["), items = 0;
    for (int i = 0; i < NAMED; i++)
        size += (size_t)snprintf(place + size, sizeof place - size, "%s%d", i ? "," : "", 1000 + i);
    snprintf(place + size, sizeof place - size, "],[1,2,3],[1,2,3],[1,2,3],[1,2,3]]");
    for (int round = 0; round < 4; round++) {
        json_t *found = ask(c, place, NULL, NOW);
        size_t told_now = json_array_size(json_object_get(found, "items"));
        snprintf(place, sizeof place, "%s", text_of(found, "next"));
        json_decref(found);
        items += told_now;
        EXPECT(told_now <= ROOM + 1);
    }
    EXPECT(items == NAMED + 1);
}

static void fleet(struct contract *c) {
    char place[4096] = "";
    struct store_executor self;
    TOLD(NOW, "");
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    TOLD(NOW + 1, "executor.joined");
    TOLD(NOW + 2, "");
    bool left = store_leave(other, &c->error);
    store_close(other);
    EXPECT(left);
    TOLD(NOW + 3, "executor.left");
    TOLD(NOW + 4, "");
    other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    json_t *found = ask(c, place, json_pack("[s]", "job.ended"), NOW + 5);
    EXPECT(found && json_array_size(json_object_get(found, "items")) == 0);
    snprintf(place, sizeof place, "%s", text_of(found, "next"));
    json_decref(found);
    store_close(other);
    TOLD(NOW + 6, "executor.left");
}

int main(void) {
    static const struct check checks[] = {
        {"an event is told once, also in another process", once},
        {"a failure that is written late is told", late},
        {"a place stands behind each event", between},
        {"many failures at once are told once each", many},
        {"bursts that follow each other are told once each", bursts},
        {"kinds that are not wanted are passed over", kinds},
        {"a place that is forged is refused", forged},
        {"executors that a place names are told as there is room", crowd},
        {"executors join and leave", fleet},
    };
    return contract_run(checks, sizeof checks / sizeof checks[0], false);
}
