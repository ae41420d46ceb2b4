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

static bool ends(struct contract *c, time_ms now) {
    struct job *job = NULL;
    return create(c, c->store, (struct job){.retries = 3}, now) &&
           (job = acquire_one(c, c->store, now)) && settle(c, c->store, job, good, now) == SETTLED;
}

/* Of the entries that were told the newest is removed. What follows has a number of its own, alone
 * or with others in one transaction. */
static void removed(struct contract *c) {
    struct reader reader = {0};
    EXPECT(ends(c, NOW) && begin(c, &reader, 10));
    EXPECT(ends(c, NOW + 1) && ends(c, NOW + 2));
    NEXT(NOW + 2, "created 2, successful 2, created 3, successful 3");
    EXPECT(contract_operate(c, "{ss,si}", "verb", "delete_history", "ids", 3));
    NEXT(NOW + 3, "");
    EXPECT(ends(c, NOW + 4));
    NEXT(NOW + 4, "created 4, successful 4");
    EXPECT(contract_operate(c, "{ss,s[ii]}", "verb", "delete_history", "ids", 4, 2));
    EXPECT(store_begin(c->store, STORE_TURN, &c->error) && ends(c, NOW + 5) && ends(c, NOW + 6));
    EXPECT(store_commit(c->store, &c->error));
    NEXT(NOW + 6, "created 5, successful 5, created 6, successful 6");
    NEXT(NOW + 7, "");
    end(&reader);
}

/* The entries of a turn that also removes the newest one are written behind. */
static void removed_meanwhile(struct contract *c) {
    struct reader reader = {0};
    EXPECT(ends(c, NOW) && ends(c, NOW) && begin(c, &reader, 10));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && ends(c, NOW + 1) && ends(c, NOW + 2));
    EXPECT(contract_operate(c, "{ss,si}", "verb", "delete_history", "ids", 2));
    EXPECT(store_commit(c->store, &c->error));
    NEXT(NOW + 2, "created 3, successful 3, created 4, successful 4");
    NEXT(NOW + 3, "");
    end(&reader);
}

int main(void) {
    static const struct check checks[] = {
        {"each entry is told once, after the newest that were there", once},
        {"a failure that is written late is told", late},
        {"so is a creation with a lower id", low_id},
        {"a job that comes and goes between two looks is told from the beginning", between},
        {"entries behind a removed one are told, and no others", removed},
        {"also where it is removed in the turn that writes them", removed_meanwhile},
    };
    return contract_run(checks, sizeof checks / sizeof checks[0], false);
}
