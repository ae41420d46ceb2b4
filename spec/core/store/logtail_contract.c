/* logtail_contract.c - what is new in the job log is told once, whatever the order of writing. */
#include "contract.h"

struct reader {
    struct store *store;
    struct store_tail *tail;
    json_t *last;
};

static bool begin(struct contract *c, struct reader *reader, int count) {
    reader->store = store_open(c->url, STORE_READ, &c->settings, &c->error);
    reader->tail = reader->store
                       ? store_tail_new(reader->store, NULL, count, &reader->last, NOW, &c->error)
                       : NULL;
    return reader->tail != NULL;
}

static void end(struct reader *reader) {
    store_tail_free(reader->tail);
    json_decref(reader->last);
    store_close(reader->store);
}

/* "created 1, successful 1" */
static const char *words(const json_t *entries) {
    static char text[512];
    size_t i, size = 0;
    json_t *entry;
    text[0] = 0;
    json_array_foreach(entries, i, entry)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s %d", i ? ", " : "",
                                 json_string_value(json_object_get(entry, "outcome")),
                                 (int)json_integer_value(json_object_get(entry, "job")));
    return text;
}

static const char *next(struct contract *c, struct reader *reader, time_ms now) {
    json_t *entries = store_tail_next(reader->tail, now, &c->error);
    const char *text = entries ? words(entries) : "error";
    json_decref(entries);
    return text;
}

#define NEXT(now, text) EXPECT(strcmp(next(c, &reader, now), text) == 0)

static const struct outcome good = {.kind = OUTCOME_SUCCESS},
                            bad = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 1};

static void once(struct contract *c) {
    struct reader reader = {0};
    struct job *job;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT((job = acquire_one(c, c->store, NOW)) && settle(c, c->store, job, bad, NOW) == SETTLED);
    EXPECT(begin(c, &reader, 1) && strcmp(words(reader.last), "failed 1") == 0);
    NEXT(NOW, "");
    EXPECT((job = acquire_one(c, c->store, NOW)) && settle(c, c->store, job, good, NOW + 1) == 0);
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW + 2));
    NEXT(NOW + 2, "successful 1, created 2");
    NEXT(NOW + 3, "");
    EXPECT((job = acquire_one(c, c->store, NOW)) && settle(c, c->store, job, good, NOW + 4) == 0);
    NEXT(NOW + 4, "successful 2");
    end(&reader);
}

/* The result of a run that ended earlier is written later than another one. */
static void late(struct contract *c) {
    struct reader reader = {0};
    struct job *first, *second;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(begin(c, &reader, 10) && strcmp(words(reader.last), "created 1, created 2") == 0);
    EXPECT((first = acquire_one(c, c->store, NOW)) && (second = acquire_one(c, c->store, NOW)));
    EXPECT(settle(c, c->store, second, bad, NOW + 900) == SETTLED);
    NEXT(NOW + 1000, "failed 2");
    EXPECT(settle(c, c->store, first, bad, NOW + 100) == SETTLED);
    NEXT(NOW + 1100, "failed 1");
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    NEXT(NOW + 60000, "created 3");
    end(&reader);
}

/* Ids are handed out ahead: the job with the lower one may be written later. */
static void low_id(struct contract *c) {
    struct reader reader = {0};
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(id && begin(c, &reader, 10));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == id + 1);
    NEXT(NOW, "created 2");
    EXPECT(create(c, c->store, (struct job){.id = id, .retries = 3}, NOW) == id);
    NEXT(NOW, "created 1");
    NEXT(NOW, "");
    end(&reader);
}

/* Whoever ends between two looks was created, too. */
static void between(struct contract *c) {
    struct reader reader = {0};
    struct job *job;
    EXPECT(begin(c, &reader, 10));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT((job = acquire_one(c, c->store, NOW)) && settle(c, c->store, job, good, NOW + 1) == 0);
    NEXT(NOW + 1, "created 1, successful 1");
    NEXT(NOW + 2, "");
    end(&reader);
}

int main(void) {
    static const struct check checks[] = {
        {"each entry is told once, after the newest that were there", once},
        {"a failure that is written late is told", late},
        {"so is a creation with a lower id", low_id},
        {"a job that comes and goes between two looks is told from the beginning", between},
    };
    return contract_run(checks, sizeof checks / sizeof checks[0], false);
}
