#include "store/rules/process/verify.h"
#include "base/json.h"
#include "job/unit.h"
#include "store/rules/process/large_value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 500, SAY = 100 };
enum { BODY_MORE = 4, BODY_RANGES = 3 }; /* of a scope, and of what it has more */

/* Tokens one behind the other that wait for the same. A token alone is the most usual. */
struct stretch {
    int64_t first, last;
    const char *activity; /* in the frame */
    unsigned what;        /* of enum unit_waits; 0: for nothing that is a row */
};

struct frame_waits {
    int64_t instance;
    struct stretch *list;
    size_t count, room;
    struct lost *lost; /* gets the first that is; may be NULL */
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
    const char *activity = json_string_value(json_array_get(scope, 2));
    const json_t *ranges = json_array_get(json_array_get(scope, BODY_MORE), BODY_RANGES);
    size_t i;
    json_t *range;
    json_array_foreach(ranges, i, range) {
        int64_t first = number_at(range, 0);
        if (!stretch_add(waits, (struct stretch){first, first + number_at(range, 1) - 1, activity,
                                                 UNIT_JOB}))
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
        const char *activity = json_string_value(json_array_get(one, 2));
        if (!stretch_add(waits, (struct stretch){token, token, activity, what}))
            return false;
    }
    json_array_foreach(json_object_get(frame, "scopes"), i, one)
        if (!ranges_add(waits, one))
            return false;
    return true;
}

/* ---- the frame by itself ---- */

enum { NUMBERS_MAX = 1000000 }; /* of one frame; only its first ones are compared */

/* What of a frame is wrong by itself; the finding names its instance. */
struct reading {
    int64_t instance;
    const json_t *frame;
    json_t *found;
    json_t *scopes; /* the numbers met so far that something may lie in, as keys */
    int64_t highest;
};

static void wrong_frame(struct reading *reading, json_t *text) {
    if (json_array_size(reading->found) < SAY)
        json_array_append_new(reading->found,
                              json_sprintf("instance %lld: %s", (long long)reading->instance,
                                           json_string_value(text)));
    json_decref(text);
}

static const char *key_of(int64_t number, char key[24]) {
    snprintf(key, 24, "%lld", (long long)number);
    return key;
}

/* An entry of either list: its number, the scope around, its activity. */
static void entry_check(struct reading *reading, const json_t *entry, bool scope) {
    char key[24];
    json_int_t number = number_at(entry, 0), around = number_at(entry, 1);
    const char *kind = scope ? "scope" : "token";
    const char *activity = json_string_value(json_array_get(entry, 2));
    if (number < 1 || !activity || (!scope && !json_is_string(json_array_get(entry, 3)))) {
        wrong_frame(reading,
                    json_sprintf("a %s of its frame has no number, activity or state", kind));
        return;
    }
    if (json_object_get(reading->scopes, key_of(number, key)))
        wrong_frame(reading, json_sprintf("the number %lld is used twice", number));
    else
        json_object_set_new(reading->scopes, key, json_true());
    if (number > 1 && (around < 1 || around >= number))
        wrong_frame(reading, json_sprintf("%s %lld lies in %lld (expected a scope that is older)",
                                          kind, number, around));
    if (number > reading->highest)
        reading->highest = number;
}

static void list_check(struct reading *reading, const char *name, bool scope) {
    const json_t *list = json_object_get(reading->frame, name);
    size_t i;
    json_t *entry;
    if (!json_is_array(list))
        wrong_frame(reading, json_sprintf("its frame has no list \"%s\"", name));
    json_array_foreach(list, i, entry) {
        if (i < NUMBERS_MAX)
            entry_check(reading, entry, scope);
    }
}

/* Each scope around must be there. Numbers of ranges are above that of their body. */
static void around_check(struct reading *reading, const char *name) {
    char key[24];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(reading->frame, name), i, entry) {
        json_int_t number = number_at(entry, 0), around = number_at(entry, 1);
        if (around > 0 && around < number && !json_object_get(reading->scopes, key_of(around, key)))
            wrong_frame(reading,
                        json_sprintf("%lld lies in %lld, which is not there", number, around));
        const json_t *ranges = json_array_get(json_array_get(entry, BODY_MORE), BODY_RANGES);
        size_t at;
        json_t *range;
        json_array_foreach(ranges, at, range) {
            int64_t last = 0;
            if (__builtin_add_overflow(number_at(range, 0), number_at(range, 1) - 1, &last) ||
                number_at(range, 0) <= number || number_at(range, 1) < 1)
                wrong_frame(reading, json_sprintf("a range of turns of %lld is none", number));
            else if (last > reading->highest)
                reading->highest = last;
        }
    }
}

static bool frame_check(const struct frame_waits *waits, const json_t *frame, json_t *found) {
    struct reading reading = {waits->instance, frame, found, json_object(), 0};
    const json_t *next = json_object_get(frame, "next");
    size_t before = json_array_size(found);
    if (!reading.scopes)
        return false;
    list_check(&reading, "scopes", true);
    list_check(&reading, "tokens", false);
    around_check(&reading, "scopes");
    around_check(&reading, "tokens");
    if (!json_object_get(reading.scopes, "1"))
        wrong_frame(&reading, json_string("its frame has no outermost scope"));
    if (!json_is_integer(next) || json_integer_value(next) <= reading.highest)
        wrong_frame(&reading,
                    json_sprintf("the next number of its frame is %lld (expected more"
                                 " than %lld)",
                                 (long long)json_integer_value(next), (long long)reading.highest));
    json_decref(reading.scopes);
    return json_array_size(found) == before;
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

enum wrong { ROW_GONE, NO_TOKEN, OTHER_WAIT, OTHER_ACTIVITY };

static json_t *sentence(json_int_t instance, json_int_t token, unsigned what, enum wrong wrong) {
    const char *row = name_of(what);
    if (wrong == ROW_GONE)
        return json_sprintf("instance %lld waits at token %lld for a %s that is gone", instance,
                            token, row);
    if (wrong == NO_TOKEN)
        return json_sprintf("instance %lld has no token %lld, yet a %s waits for it", instance,
                            token, row);
    if (wrong == OTHER_ACTIVITY)
        return json_sprintf("instance %lld stands at token %lld in another activity than its %s",
                            instance, token, row);
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
        const char *activity = what == UNIT_JOB ? NULL : row_text(rows, 1);
        if (stretch && stretch->what == what) {
            met[stretch - waits->list]++;
            if (activity && stretch->activity && strcmp(activity, stretch->activity) != 0)
                say(found, waits->instance, token, what, OTHER_ACTIVITY);
        } else
            say(found, waits->instance, token, what, stretch ? OTHER_WAIT : NO_TOKEN);
    }
    for (size_t i = 0; step == NO && i < waits->count; i++) {
        const struct stretch *stretch = &waits->list[i];
        if (stretch->what != what || met[i] >= stretch->last - stretch->first + 1)
            continue;
        say(found, waits->instance, stretch->first, what, ROW_GONE);
        if (waits->lost && !waits->lost->what) {
            waits->lost->what = name_of(what);
            snprintf(waits->lost->activity, sizeof waits->lost->activity, "%s",
                     stretch->activity ? stretch->activity : "?");
        }
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
    struct row *tasks = db_query(&store->db, error,
                                 "SELECT DISTINCT token, activity FROM user_task WHERE instance=?1",
                                 "i", waits->instance);
    if (!tasks || !rows_compare(store, waits, tasks, UNIT_TASK, found, error))
        return false;
    struct row *events = db_query(
        &store->db, error, "SELECT DISTINCT token, activity FROM subscription WHERE instance=?1",
        "i", waits->instance);
    return events && rows_compare(store, waits, events, UNIT_SUBSCRIPTION, found, error);
}

/* ---- all of them ---- */

enum answer instance_lost(struct store *store, int64_t id, const json_t *frame, struct lost *lost,
                          struct error *error) {
    struct frame_waits waits = {.instance = id, .lost = lost};
    json_int_t shape = json_integer_value(json_object_get(frame, "v"));
    json_t *found = json_array();
    *lost = (struct lost){.what = shape < 1 ? "frame" : NULL};
    bool done = found || db_no_memory(&store->db, error);
    if (done && shape == 1 && frame_check(&waits, frame, found))
        done = waits_read(&waits, frame) ? waits_compare(store, &waits, found, error)
                                         : db_no_memory(&store->db, error);
    json_decref(found);
    free(waits.list);
    if (!done)
        return FAILED;
    return lost->what ? YES : NO;
}

static bool frame_verify(struct store *store, int64_t id, json_t *frame, json_t *found,
                         struct error *error) {
    struct frame_waits waits = {.instance = id};
    json_int_t shape = json_integer_value(json_object_get(frame, "v"));
    if (shape < 1 && json_array_size(found) < SAY)
        json_array_append_new(
            found, json_sprintf("instance %lld has a frame that cannot be read", (long long)id));
    if (shape != 1) /* a later program may have written it */
        return true;
    if (!frame_check(&waits, frame, found)) /* its rows would be wrong as well */
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

/* ---- texts that are JSON ---- */

/* Columns that a program reads as JSON. */
static const struct {
    const char *sql, *subject, *says;
} texts[] = {
    {"SELECT id, variables FROM kept_message WHERE id>?1 AND variables IS NOT NULL"
     " ORDER BY id LIMIT ?2",
     "the variables of kept message", "are no JSON object"},
    {"SELECT id, properties FROM process_version WHERE id>?1 ORDER BY id LIMIT ?2",
     "the properties of process version", "are no JSON object"},
    {"SELECT id, properties FROM definition WHERE id>?1 ORDER BY id LIMIT ?2",
     "the properties of definition", "are no JSON object"},
    {"SELECT id, candidates FROM user_task WHERE id>?1 AND candidates IS NOT NULL"
     " ORDER BY id LIMIT ?2",
     "the candidates of task", "are no JSON object"},
    {"SELECT id, variables FROM past WHERE id>?1 AND variables IS NOT NULL ORDER BY id LIMIT ?2",
     "the variables of past instance", "are no JSON object"},
    {"SELECT seq, events FROM trail WHERE seq>?1 ORDER BY seq LIMIT ?2",
     "the events of the trail in row", "are no JSON list"},
};

static bool is_fine(const char *text, bool list) {
    json_t *value = text ? json_read(text, strlen(text), "text", NULL) : NULL;
    bool fine = list ? json_is_array(value) : json_is_object(value);
    json_decref(value);
    return fine;
}

/* A page of rows behind *after; *count: how many it had. */
static bool texts_page(struct store *store, size_t which, int64_t *after, int *count, json_t *found,
                       struct error *error) {
    struct row *rows = db_query(&store->db, error, texts[which].sql, "in", *after, (int)PAGE);
    bool list = which == sizeof texts / sizeof *texts - 1;
    enum answer step = NO;
    for (*count = 0; (step = db_step(&store->db, rows, error)) == YES; (*count)++) {
        *after = row_int(rows, 0);
        if (!is_fine(row_text(rows, 1), list) && json_array_size(found) < SAY)
            json_array_append_new(found, json_sprintf("%s %lld %s", texts[which].subject,
                                                      (json_int_t)*after, texts[which].says));
    }
    return step == NO;
}

bool texts_verify(struct store *store, json_t *found, struct error *error) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t after = INT64_MIN;
        int count = PAGE;
        while (count == PAGE)
            if (!texts_page(store, i, &after, &count, found, error))
                return false;
    }
    return true;
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
