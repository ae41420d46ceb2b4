/* ids_contract.c - an id says nothing about when its job was committed: ids are drawn ahead, and
 * the later one is committed first. */
#include "contract.h"
#include "store/batch.h"

#define FAR 5000 /* ids, more than the log looks back when it follows */

/* Draws `count` ids; *first is the lowest. Commits the job of the highest. */
static bool later_first(struct contract *c, int count, int64_t *first) {
    *first = store_reserve_ids(c->store, count, &c->error);
    int64_t last = *first + count - 1;
    return *first && create(c, c->store, (struct job){.id = last}, NOW) == last;
}

static bool earlier_then(struct contract *c, int64_t id) {
    return create(c, c->store, (struct job){.id = id}, NOW + 1) == id;
}

/* The ids of a page, as text. */
static bool page_is(struct contract *c, int64_t after, int limit, const char *wanted) {
    struct store_page page = {.limit = limit, .after = after};
    json_t *jobs = store_jobs(c->store, NULL, &page, NOW, &c->error);
    char text[128] = "";
    for (size_t i = 0; i < json_array_size(jobs); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i ? "," : "",
                 (long long)json_integer_value(json_object_get(json_array_get(jobs, i), "id")));
    json_decref(jobs);
    return strcmp(text, wanted) == 0;
}

static void pages(struct contract *c) {
    int64_t first;
    EXPECT(later_first(c, 2, &first) && first == 1 && page_is(c, 0, 1, "2"));
    EXPECT(earlier_then(c, 1));
    EXPECT(page_is(c, 0, 1, "1") && page_is(c, 1, 1, "2") && page_is(c, 2, 1, ""));
}

static void verbs(struct contract *c) {
    int64_t first;
    EXPECT(later_first(c, 2, &first) && earlier_then(c, first));
    EXPECT(contract_operate(c, "{ss s{}}", "verb", "suspend", "query"));
    EXPECT(matches(c, "{\"suspended\":true}") == 2);
}

static void batches(struct contract *c) {
    struct store_batch like = {.type = "suspend"};
    int64_t first, id = 0, after = 0;
    bool more = false;
    EXPECT(later_first(c, 2, &first) && earlier_then(c, first));
    EXPECT(store_batch_begin(c->store, &like, NOW, &id, &c->error));
    EXPECT(store_batch_find(c->store, id, NULL, &after, &more, NOW, &c->error) && !more);
    EXPECT(after == first + 1 && store_batch_start(c->store, id, NOW, &c->error));
    json_t *batch = store_batch(c->store, id, &c->error);
    int64_t ids = json_integer_value(json_object_get(batch, "ids"));
    json_decref(batch);
    EXPECT(ids == 2);
}

/* Ends both in the order of their commits; rows of jobs that have succeeded go by ranges of ids. */
static void ends(struct contract *c) {
    int64_t first;
    bool more = true;
    EXPECT(later_first(c, 3, &first));
    for (int i = 0; i < 2; i++) {
        struct job *job = acquire_one(c, c->store, NOW + 10);
        EXPECT(job && job->id == (i ? first : first + 2));
        EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW + 20) ==
               SETTLED);
        EXPECT(i || earlier_then(c, first));
    }
    while (more)
        EXPECT(store_tend(c->store, CHORE_TIDY, 1000, &more, &c->error));
    EXPECT(matches(c, "{}") == 0 && earlier_then(c, first + 1));
    EXPECT(matches(c, "{}") == 1);
    contract_verify(c);
}

/* How many entries of the outcome the log tells anew. */
static int told(struct contract *c, struct store_tail *tail, const char *outcome) {
    json_t *rows = store_tail_next(tail, NOW + 30, &c->error);
    int count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *said = json_object_get(json_array_get(rows, i), "outcome");
        count += strcmp(json_string_value(said), outcome) == 0;
    }
    json_decref(rows);
    return count;
}

static void follows(struct contract *c) {
    struct store *other = store_open(c->url, STORE_READ, &c->settings, &c->error);
    json_t *last = NULL;
    int64_t first;
    EXPECT(other && later_first(c, 2, &first));
    struct store_tail *tail = store_tail_new(other, NULL, 10, &last, NOW, &c->error);
    EXPECT(tail && json_array_size(last) == 1);
    EXPECT(earlier_then(c, first) && told(c, tail, "created") == 1);
    store_tail_free(tail);
    store_close(other);
    json_decref(last);
}

/* Whatever is told of its creation, its end is told. */
static void follows_far(struct contract *c) {
    struct store *other = store_open(c->url, STORE_READ, &c->settings, &c->error);
    json_t *last = NULL;
    int64_t first;
    EXPECT(other && later_first(c, FAR, &first));
    struct store_tail *tail = store_tail_new(other, NULL, 10, &last, NOW, &c->error);
    EXPECT(tail && earlier_then(c, first) && told(c, tail, "created") <= 1);
    for (int i = 0; i < 2; i++) {
        struct job *job = acquire_one(c, c->store, NOW + 10);
        EXPECT(job && settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS},
                             NOW + 20) == SETTLED);
    }
    EXPECT(told(c, tail, "successful") == 2);
    store_tail_free(tail);
    store_close(other);
    json_decref(last);
}

static const struct check checks[] = {
    {"a page by id has a job that was committed later", pages},
    {"a verb by filters finds it", verbs},
    {"a batch by filters finds it", batches},
    {"it ends, and rows that stay behind go around it", ends},
    {"the log that is followed tells of it", follows},
    {"and of its end, however many ids were drawn meanwhile", follows_far},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
