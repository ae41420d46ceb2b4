#include "store/rules/ground/unit_ahead.h"
#include "store/rules/ground/state.h"
#include <stdlib.h>

/* ---- the list ---- */

static int entry_order(const void *left, const void *right) {
    const struct asked_entry *a = left, *b = right;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    if (a->of != b->of)
        return a->of < b->of ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static struct asked_entry *find(const struct store *store, enum asked what, int64_t of,
                                int64_t part) {
    const struct asked_entry key = {.what = what, .of = of, .part = part};
    const struct unit_ahead *ahead = &store->asked;
    return ahead->count ? bsearch(&key, ahead->list, ahead->count, sizeof key, entry_order) : NULL;
}

const struct asked_entry *unit_ahead_find(const struct store *store, enum asked what, int64_t of,
                                          int64_t part) {
    const struct asked_entry *entry = find(store, what, of, part);
    return entry && entry->known ? entry : NULL;
}

/* The first entry that is not in front of all of this thing. */
static size_t first_of(const struct unit_ahead *ahead, enum asked what, int64_t of) {
    const struct asked_entry key = {.what = what, .of = of, .part = INT64_MIN};
    size_t from = 0, to = ahead->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (entry_order(&ahead->list[middle], &key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void unit_ahead_forget(struct store *store, enum asked what, int64_t of) {
    struct unit_ahead *ahead = &store->asked;
    for (size_t i = first_of(ahead, what, of); i < ahead->count; i++) {
        if (ahead->list[i].what != what || ahead->list[i].of != of)
            break;
        ahead->list[i].known = false;
    }
}

void unit_ahead_forget_kind(struct store *store, enum asked what) {
    for (size_t i = 0; i < store->asked.count; i++)
        if (store->asked.list[i].what == what)
            store->asked.list[i].known = false;
}

void unit_ahead_lane(struct store *store, int64_t lane) {
    unit_ahead_forget(store, ASKED_LANE, lane < 0 ? ~lane : lane);
    unit_ahead_forget(store, ASKED_HELD, lane);
}

static void forget_all(struct store *store) {
    free(store->asked.list);
    free(store->asked.jobs);
    id_set_clear(&store->asked.ended);
    id_set_clear(&store->asked.changed);
    store->asked = (struct unit_ahead){0};
}

/* ---- what units need ---- */

static bool add(struct unit_ahead *ahead, enum asked what, int64_t of, int64_t part) {
    if (ahead->count == ahead->room) {
        size_t room = ahead->room ? 2 * ahead->room : 64;
        struct asked_entry *list = realloc(ahead->list, room * sizeof *list);
        if (!list)
            return false;
        ahead->list = list;
        ahead->room = room;
    }
    ahead->list[ahead->count++] = (struct asked_entry){.what = what, .of = of, .part = part};
    return true;
}

int64_t lane_minded(const struct store *store, const struct outcome *outcome,
                    const struct unit_instance *one) {
    const struct job *job = outcome->job;
    if (!job->id || job->lane_held)
        return 0;
    int64_t lane = job_instance_lane(store->rules->lane_of_root && one->root ? one->root : one->id);
    return lane == job->lane_id || lane == ~job->lane_id ? 0 : lane;
}

static bool add_instance(struct store *store, const struct outcome *outcome,
                         const struct unit_instance *one) {
    struct unit_ahead *ahead = &store->asked;
    const int64_t lane = lane_minded(store, outcome, one);
    return !one->rev || (add(ahead, ASKED_REV, one->id, 0) &&
                         (!lane || add(ahead, ASKED_LANE, lane, TIME_NEVER)) &&
                         (one->frame || add(ahead, ASKED_JOB, one->id, 0)));
}

static bool add_left(struct unit_ahead *ahead, const struct unit_wait *left) {
    bool done = !(left->what & UNIT_JOB) || add(ahead, ASKED_JOB, left->instance, left->token);
    return done && (!left->task || add(ahead, ASKED_TASK, left->instance, left->token));
}

static bool add_outcome(struct store *store, const struct outcome *outcome) {
    struct unit_ahead *ahead = &store->asked;
    const struct unit *unit = outcome->unit;
    const struct job *job = outcome->job;
    bool done = !unit || !job->id || add(ahead, ASKED_LOCK, job->id, job->token);
    if (done && unit && outcome->created && job->lane_id)
        done = add(ahead, ASKED_HELD, job->lane_id, outcome->lane_token);
    for (size_t i = 0; done && unit && i < unit->instance_count; i++)
        done = add_instance(store, outcome, &unit->instances[i]);
    for (size_t i = 0; done && unit && i < unit->turn_count; i++)
        done = !unit->turns[i].rev || add(ahead, ASKED_TURN, unit->turns[i].id, 0);
    for (size_t i = 0; done && unit && i < unit->left_count; i++)
        done = add_left(ahead, &unit->left[i]);
    return done;
}

/* In order, and each once. */
static void sort(struct unit_ahead *ahead) {
    size_t count = 0;
    if (ahead->count)
        qsort(ahead->list, ahead->count, sizeof *ahead->list, entry_order);
    for (size_t i = 0; i < ahead->count; i++)
        if (!count || entry_order(&ahead->list[count - 1], &ahead->list[i]) != 0)
            ahead->list[count++] = ahead->list[i];
    ahead->count = count;
}

/* ---- jobs that wait ---- */

static int job_order(const void *left, const void *right) {
    const struct asked_job *a = left, *b = right;
    if (a->of != b->of)
        return a->of < b->of ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static bool add_job(struct unit_ahead *ahead, const struct asked_entry *entry, int64_t goes) {
    if (ahead->job_count == ahead->job_room) {
        size_t room = ahead->job_room ? 2 * ahead->job_room : 64;
        struct asked_job *jobs = realloc(ahead->jobs, room * sizeof *jobs);
        if (!jobs)
            return false;
        ahead->jobs = jobs;
        ahead->job_room = room;
    }
    ahead->jobs[ahead->job_count++] =
        (struct asked_job){entry->of, entry->part, entry->value, goes};
    return true;
}

static void sort_jobs(struct unit_ahead *ahead) {
    if (ahead->job_count)
        qsort(ahead->jobs, ahead->job_count, sizeof *ahead->jobs, job_order);
}

bool unit_ahead_jobs(const struct store *store, int64_t instance, int64_t token,
                     const struct asked_job **jobs, size_t *count) {
    const struct unit_ahead *ahead = &store->asked;
    const struct asked_entry *entry = unit_ahead_find(store, ASKED_JOB, instance, token);
    const struct asked_job key = {.of = instance, .part = token};
    *count = 0;
    if (!entry || entry->count >= ASKED_JOBS)
        return false;
    if (!entry->count)
        return true;
    *jobs = bsearch(&key, ahead->jobs, ahead->job_count, sizeof key, job_order);
    while (*jobs > ahead->jobs && job_order(*jobs - 1, &key) == 0)
        --*jobs;
    *count = (size_t)entry->count;
    return true;
}

bool unit_ahead_goes(const struct store *store, const struct asked_job *job) {
    return job->goes != JOB_STAYS && !id_set_has(&store->asked.changed, job->id);
}

/* Without memory nothing is known of any job. */
void unit_ahead_changed(struct store *store, int64_t job) {
    bool fresh = false;
    if (store->asked.job_count && !id_set_add(&store->asked.changed, job, &fresh))
        unit_ahead_forget_kind(store, ASKED_JOB);
}

bool unit_ahead_gone(const struct store *store, int64_t job) {
    return id_set_has(&store->asked.ended, job);
}

bool unit_ahead_ended(struct store *store, int64_t job, struct error *error) {
    bool fresh = false;
    return !store->asked.job_count || id_set_add(&store->asked.ended, job, &fresh) ||
           db_no_memory(&store->db, error);
}

/* ---- asking ---- */

/* Reads rows (what, of, part, value, how it goes). */
static bool read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct unit_ahead *ahead = &store->asked;
    enum answer step = NO;
    (void)set;
    while ((step = db_step(&store->db, row, error)) == YES) {
        struct asked_entry *entry =
            find(store, (enum asked)row_int(row, 0), row_int(row, 1), row_int(row, 2));
        entry->count++;
        entry->value = row_int(row, 3);
        if (entry->what == ASKED_JOB && !add_job(ahead, entry, row_int(row, 4)))
            return db_no_memory(&store->db, error);
    }
    sort_jobs(ahead);
    return step == NO;
}

static bool ask(struct store *store, struct error *error) {
    struct unit_ahead *ahead = &store->asked;
    int64_t *columns = malloc(3 * ahead->count * sizeof *columns);
    if (!columns)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < ahead->count; i++) {
        columns[i] = ahead->list[i].what;
        columns[ahead->count + i] = ahead->list[i].of;
        columns[2 * ahead->count + i] = ahead->list[i].part;
    }
    struct set set = {.kind = SET_AHEAD,
                      .columns = {columns, columns + ahead->count, columns + 2 * ahead->count},
                      .count = ahead->count,
                      .read = read};
    bool done = store->engine->set(store, &set, error);
    for (size_t i = 0; i < ahead->count; i++)
        ahead->list[i].known = done;
    free(columns);
    return done;
}

bool unit_ahead_ask(struct store *store, struct outcome *const *outcomes, size_t count,
                    struct error *error) {
    bool done = true;
    if (!store->engine->sets)
        return true;
    forget_all(store);
    for (size_t i = 0; done && i < count; i++)
        done = add_outcome(store, outcomes[i]);
    if (!done)
        return db_no_memory(&store->db, error);
    sort(&store->asked);
    return !store->asked.count || ask(store, error);
}

/* ---- what is known already ---- */

enum { WAITS_MOST = 100 }; /* of a kind; then there may be more */

/* What one part of the text says. */
struct wait {
    enum asked what;
    int64_t part, value, goes;
};

/* Returns what is behind it. */
static const char *wait_part(const char *at, struct wait *wait) {
    char *end = NULL;
    wait->what = (enum asked)strtol(at, &end, 10);
    wait->part = strtoll(end + 1, &end, 10);
    wait->value = strtoll(end + 1, &end, 10);
    wait->goes = strtoll(end + 1, &end, 10);
    return *end ? end + 1 : end;
}

/* Takes it to what it answers. False: no memory. */
static bool wait_add(struct unit_ahead *ahead, int64_t instance, const struct wait *wait) {
    bool done = true;
    for (size_t i = 0; done && i < ahead->count; i++) {
        struct asked_entry *entry = &ahead->list[i];
        if (entry->what != wait->what || entry->of != instance ||
            (entry->part && entry->part != wait->part))
            continue;
        entry->value = wait->value;
        entry->count++;
        done = wait->what != ASKED_JOB || add_job(ahead, entry, wait->goes);
    }
    return done;
}

/* False: there may be more that waits, or there is no memory. */
static bool waits_read(struct unit_ahead *ahead, const struct instance_waits *waits) {
    int counts[ASKED_LOCK] = {0};
    struct wait wait;
    for (const char *at = waits->text ? waits->text : ""; *at; counts[wait.what]++) {
        at = wait_part(at, &wait);
        if (!wait_add(ahead, waits->instance, &wait))
            return false;
    }
    for (size_t i = 0; i < ahead->count; i++)
        if (ahead->list[i].of == waits->instance && ahead->list[i].what < ASKED_LOCK)
            ahead->list[i].known = true;
    return counts[ASKED_JOB] < WAITS_MOST && counts[ASKED_TASK] < WAITS_MOST;
}

static bool is_known(const struct unit_ahead *ahead) {
    bool known = true;
    for (size_t i = 0; known && i < ahead->count; i++)
        known = ahead->list[i].known;
    return known;
}

bool unit_ahead_known(struct store *store, const struct outcome *outcome,
                      const struct instance_waits *waits, size_t count) {
    forget_all(store);
    bool done = add_outcome(store, outcome);
    sort(&store->asked);
    for (size_t i = 0; done && i < count; i++)
        done = waits_read(&store->asked, &waits[i]);
    sort_jobs(&store->asked);
    done = done && is_known(&store->asked);
    if (!done)
        forget_all(store);
    return done;
}

/* What a part has ended waits again once the part is undone. */
static bool forget_part(struct store *store, const void *point, struct error *error) {
    (void)point;
    (void)error;
    forget_all(store);
    return true;
}

const struct txn_hook unit_ahead_hook = {
    .committed = forget_all, .drop = forget_all, .back = forget_part};
