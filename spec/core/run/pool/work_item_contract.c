/* work_item_contract.c - items in line: where a late one stands, and what it costs to put it there.
 * A double of acquire_before counts how often two jobs are compared. */
#include "../../store/contract.h"
#include "run/pool/work_item.h"

enum { WAITING = 4000, PAGE = 2000 };

static int compared;

bool __real_acquire_before(const struct acquire *order, const struct sort_key *a,
                           const struct sort_key *b);
bool __wrap_acquire_before(const struct acquire *order, const struct sort_key *a,
                           const struct sort_key *b);

bool __wrap_acquire_before(const struct acquire *order, const struct sort_key *a,
                           const struct sort_key *b) {
    compared++;
    return __real_acquire_before(order, a, b);
}

static const struct acquire by_priority = {.by_priority = true};

static struct work_item *item(int64_t id, int64_t priority) {
    struct work_item *items = NULL;
    struct job *job = job_copy(&(struct job){.id = id, .priority = priority, .handler = "w"});
    return job && work_items_build(job, &items) ? items : NULL;
}

static void insert(struct queue *queue, int64_t id, int64_t priority) {
    queue_insert(queue, &by_priority, item(id, priority));
}

/* True if the queue holds these ids in this order; empties it. */
static bool holds(struct queue *queue, const int64_t *ids) {
    bool same = true;
    for (struct work_item *next; (next = queue_shift(queue)); work_item_free(next))
        same = same && *ids && next->jobs->id == *ids++;
    return same && *ids == 0 && !queue->last;
}

static void by_priority_and_id(struct contract *c) {
    struct queue queue;
    queue_init(&queue);
    insert(&queue, 2, 5);
    insert(&queue, 3, 1);
    insert(&queue, 4, 5);
    insert(&queue, 1, 5);
    insert(&queue, 5, 9);
    EXPECT(holds(&queue, (int64_t[]){5, 1, 2, 4, 3, 0}));
}

static void behind_what_follows(struct contract *c) {
    struct queue queue;
    queue_init(&queue);
    insert(&queue, 1, 5);
    struct work_item *follows = item(2, 0);
    follows->followed = 1;
    queue_unshift(&queue, follows);
    insert(&queue, 3, 9);
    insert(&queue, 4, 7);
    EXPECT(holds(&queue, (int64_t[]){2, 3, 4, 1, 0}));
}

static void after_the_last_has_gone(struct contract *c) {
    struct queue queue;
    queue_init(&queue);
    insert(&queue, 1, 1);
    insert(&queue, 2, 9);
    work_item_free(queue_shift(&queue));
    insert(&queue, 3, 5);
    insert(&queue, 4, 3);
    EXPECT(holds(&queue, (int64_t[]){3, 4, 1, 0}));
}

/* First each item of the page stands between two that wait, then all stand before them. */
static void one_walk(struct contract *c) {
    struct queue queue;
    queue_init(&queue);
    for (int i = 0; i < WAITING; i++)
        insert(&queue, i, 2 * (WAITING - i));
    compared = 0;
    for (int i = 0; i < PAGE; i++)
        insert(&queue, WAITING + i, 2 * (WAITING - 2 * i) + 1);
    EXPECT(compared < 5 * (WAITING + PAGE));
    compared = 0;
    for (int i = 0; i < PAGE; i++)
        insert(&queue, WAITING + PAGE + i, 4 * WAITING);
    EXPECT(compared < 5 * (WAITING + PAGE));
    work_items_free(queue_take(&queue));
}

static const struct check checks[] = {
    {"an item stands among those of its priority by its id", by_priority_and_id},
    {"nothing overtakes what follows in a lane that runs", behind_what_follows},
    {"an item finds its place after the one inserted last has gone", after_the_last_has_gone},
    {"a page of items, best first, costs one walk through the queue", one_walk},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
