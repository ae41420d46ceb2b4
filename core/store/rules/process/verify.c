#include "store/rules/process/verify.h"
#include "base/json.h"
#include "job/unit.h"
#include "store/rules/process/large_value.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE = 500, SAY = 100 };
enum { BODY_MORE = 4, BODY_RANGES = 3 }; /* of a scope, and of what it has more */

/* Tokens one behind the other that wait for the same. A token alone is the most usual. */
struct stretch {
    int64_t first, last;
    unsigned what; /* of enum unit_waits; 0: for nothing that is a row */
};

struct frame_waits {
    int64_t instance;
    struct stretch *list;
    size_t count, room;
};

/* ---- what the frame says ---- */

static unsigned waits_for(const char *state) {
    static const struct {
        const char *state;
        unsigned what;
    } known[] = {{"before", UNIT_JOB},
                 {"after", UNIT_JOB},
                 {"seed", UNIT_JOB},
                 {"timer", UNIT_JOB},
                 {"on timer", UNIT_JOB},
                 {"task", UNIT_TASK},
                 {"message", UNIT_SUBSCRIPTION},
                 {"on message", UNIT_SUBSCRIPTION}};
    for (size_t i = 0; state && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].state, state) == 0)
            return known[i].what;
    return 0;
}

static bool stretch_add(struct frame_waits *waits, struct stretch stretch) {
    if (waits->count == waits->room) {
        size_t room = waits->room ? waits->room * 2 : 16;
        struct stretch *list = realloc(waits->list, room * sizeof *list);
        if (!list)
            return false;
        waits->list = list;
        waits->room = room;
    }
    waits->list[waits->count++] = stretch;
    return true;
}

static int64_t number_at(const json_t *list, size_t at) {
    return json_integer_value(json_array_get(list, at));
}

static bool ranges_add(struct frame_waits *waits, const json_t *scope) {
    const json_t *ranges = json_array_get(json_array_get(scope, BODY_MORE), BODY_RANGES);
    size_t i;
    json_t *range;
    json_array_foreach(ranges, i, range) {
        int64_t first = number_at(range, 0);
        if (!stretch_add(waits, (struct stretch){first, first + number_at(range, 1) - 1, UNIT_JOB}))
            return false;
    }
    return true;
}

static bool waits_read(struct frame_waits *waits, const json_t *frame) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(frame, "tokens"), i, one) {
        int64_t token = number_at(one, 0);
        unsigned what = waits_for(json_string_value(json_array_get(one, 3)));
        if (!stretch_add(waits, (struct stretch){token, token, what}))
            return false;
    }
    json_array_foreach(json_object_get(frame, "scopes"), i, one)
        if (!ranges_add(waits, one))
            return false;
    return true;
}

/* ---- what is there ---- */

/* NULL: no token of the frame has this number. */
static struct stretch *stretch_of(const struct frame_waits *waits, int64_t token) {
    for (size_t i = 0; i < waits->count; i++)
        if (token >= waits->list[i].first && token <= waits->list[i].last)
            return &waits->list[i];
    return NULL;
}

static const char *name_of(unsigned what) {
    if (what == UNIT_JOB)
        return "job";
    return what == UNIT_TASK ? "task" : "subscription";
}

enum wrong { ROW_GONE, NO_TOKEN, OTHER_WAIT };

static json_t *sentence(json_int_t instance, json_int_t token, unsigned what, enum wrong wrong) {
    const char *row = name_of(what);
    if (wrong == ROW_GONE)
        return json_sprintf("instance %lld waits at token %lld for a %s that is gone", instance,
                            token, row);
    if (wrong == NO_TOKEN)
        return json_sprintf("instance %lld has no token %lld, yet a %s waits for it", instance,
                            token, row);
    return json_sprintf("instance %lld waits at token %lld for something else than its %s",
                        instance, token, row);
}

static void say(json_t *found, int64_t instance, int64_t token, unsigned what, enum wrong wrong) {
    if (json_array_size(found) < SAY)
        json_array_append_new(found, sentence(instance, token, what, wrong));
}

/* Holds the tokens that have rows of a kind against the waits. A stretch with fewer rows than
 * tokens has lost some. */
static bool rows_compare(struct store *store, const struct frame_waits *waits, struct row *rows,
                         unsigned what, json_t *found, struct error *error) {
    enum answer step = NO;
    int64_t *met = calloc(waits->count + 1, sizeof *met);
    if (!met) {
        row_done(rows);
        return db_no_memory(&store->db, error);
    }
    while ((step = db_step(&store->db, rows, error)) == YES) {
        int64_t token = row_int(rows, 0);
        const struct stretch *stretch = stretch_of(waits, token);
        if (stretch && stretch->what == what)
            met[stretch - waits->list]++;
        else
            say(found, waits->instance, token, what, stretch ? OTHER_WAIT : NO_TOKEN);
    }
    for (size_t i = 0; step == NO && i < waits->count; i++) {
        const struct stretch *stretch = &waits->list[i];
        if (stretch->what == what && met[i] < stretch->last - stretch->first + 1)
            say(found, waits->instance, stretch->first, what, ROW_GONE);
    }
    free(met);
    return step == NO;
}

static bool waits_compare(struct store *store, const struct frame_waits *waits, json_t *found,
                          struct error *error) {
    struct row *jobs = db_query(&store->db, error,
                                "SELECT DISTINCT execution FROM live WHERE instance_id=?1"
                                " AND execution IS NOT NULL ORDER BY execution",
                                "i", waits->instance);
    if (!jobs || !rows_compare(store, waits, jobs, UNIT_JOB, found, error))
        return false;
    struct row *tasks =
        db_query(&store->db, error, "SELECT DISTINCT token FROM user_task WHERE instance=?1", "i",
                 waits->instance);
    if (!tasks || !rows_compare(store, waits, tasks, UNIT_TASK, found, error))
        return false;
    struct row *events =
        db_query(&store->db, error, "SELECT DISTINCT token FROM subscription WHERE instance=?1",
                 "i", waits->instance);
    return events && rows_compare(store, waits, events, UNIT_SUBSCRIPTION, found, error);
}

/* ---- all of them ---- */

static bool frame_verify(struct store *store, int64_t id, json_t *frame, json_t *found,
                         struct error *error) {
    struct frame_waits waits = {.instance = id};
    json_int_t shape = json_integer_value(json_object_get(frame, "v"));
    if (shape < 1 && json_array_size(found) < SAY)
        json_array_append_new(
            found, json_sprintf("instance %lld has a frame that cannot be read", (long long)id));
    if (shape != 1) /* a later program may have written it */
        return true;
    bool done = waits_read(&waits, frame) ? waits_compare(store, &waits, found, error)
                                          : db_no_memory(&store->db, error);
    free(waits.list);
    return done && large_values_verify(store, id, frame, found, error);
}

struct framed {
    int64_t id;
    json_t *frame;
};

/* The instances behind `after`. */
static bool page_read(struct store *store, int64_t after, struct framed *page, size_t *count,
                      struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT id, frame FROM instance WHERE id>?1 ORDER BY id LIMIT ?2",
                                "in", after, (int)PAGE);
    enum answer step = NO;
    *count = 0;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        const char *text = row_text(rows, 1);
        page[*count].id = row_int(rows, 0);
        page[(*count)++].frame = json_read(text, strlen(text), "frame", NULL);
    }
    return step == NO;
}

bool instances_verify(struct store *store, json_t *found, struct error *error) {
    struct framed *page = calloc(PAGE, sizeof *page);
    size_t count = 1;
    int64_t after = 0;
    bool done = page || db_no_memory(&store->db, error);
    while (done && count) {
        done = page_read(store, after, page, &count, error);
        for (size_t i = 0; i < count; i++) {
            done = done && frame_verify(store, page[i].id, page[i].frame, found, error);
            json_decref(page[i].frame);
            after = page[i].id;
        }
    }
    free(page);
    return done;
}
