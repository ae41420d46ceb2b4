#include "store/rules/process/verify.h"
#include "base/json.h"
#include "job/unit.h"
#include "store/rules/process/large_value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 500, SAY = 100 };
enum { BODY_MORE = 4, BODY_RANGES = 3, BODY_ROW = 4 }; /* of a scope, and of what it has more */
enum { SHAPE_MAX = 2 };

/* Tokens one behind the other that wait for the same. A token alone is the most usual. */
struct stretch {
    int64_t first, last;
    const char *activity; /* in the frame */
    unsigned what;        /* of enum unit_waits; 0: for nothing that is a row */
    int64_t met;          /* rows */
};

struct frame_waits {
    int64_t instance;
    int64_t turn; /* that stands outside of the frame of the instance; 0: the instance */
    bool known;   /* the list is what its frame says */
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
                 {"external", UNIT_JOB},
                 {"timer", UNIT_JOB},
                 {"on timer", UNIT_JOB},
                 {"task", UNIT_TASK},
                 {"message", UNIT_SUBSCRIPTION},
                 {"on message", UNIT_SUBSCRIPTION},
                 {"signal", UNIT_SUBSCRIPTION},
                 {"on signal", UNIT_SUBSCRIPTION}};
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

/* A body whose turns stand outside may have the job that leaves it. */
static bool outside_add(struct frame_waits *waits, const json_t *scope) {
    int64_t token = number_at(scope, 0);
    const char *activity = json_string_value(json_array_get(scope, 2));
    return !number_at(json_array_get(scope, BODY_MORE), BODY_ROW) ||
           stretch_add(waits, (struct stretch){token, token, activity, UNIT_JOB, 1});
}

static bool ranges_add(struct frame_waits *waits, const json_t *scope) {
    const char *activity = json_string_value(json_array_get(scope, 2));
    const json_t *ranges = json_array_get(json_array_get(scope, BODY_MORE), BODY_RANGES);
    size_t i;
    json_t *range;
    json_array_foreach(ranges, i, range) {
        int64_t first = number_at(range, 0);
        int64_t last = first + number_at(range, 1) - 1;
        if (waits->turn) {
            first = turn_token(waits->turn, last);
            last = turn_token(waits->turn, number_at(range, 0));
        }
        if (!stretch_add(waits, (struct stretch){first, last, activity, UNIT_JOB}))
            return false;
    }
    return outside_add(waits, scope);
}

static bool waits_read(struct frame_waits *waits, const json_t *frame) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(frame, "tokens"), i, one) {
        int64_t token = turn_token(waits->turn, number_at(one, 0));
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
    const json_t *frame, *graph;
    json_t *found;
    json_t *scopes; /* the activities of the numbers met so far, by these */
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
        json_object_set(reading->scopes, key, json_array_get(entry, 2));
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

/* The activity of a body, "each#multiInstanceBody", is that of its turns. */
static const char *plain_name(const char *activity, char name[JOB_NAME_MAX + 1]) {
    snprintf(name, JOB_NAME_MAX + 1, "%.*s", (int)strcspn(activity, "#"), activity);
    return name;
}

static bool has_text(const json_t *list, const char *text) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
            return true;
    }
    return false;
}

/* An entry stands at an activity of the process, where the process has it or in its own body. */
static void graph_check(struct reading *reading, const json_t *entry, const json_t *scope) {
    char at[JOB_NAME_MAX + 1], in[JOB_NAME_MAX + 1];
    const char *activity = json_string_value(json_array_get(entry, 2));
    const char *around = json_string_value(scope);
    if (!reading->graph || !activity || !*activity || !around)
        return;
    const json_t *expected = json_object_get(reading->graph, plain_name(activity, at));
    const char *first = json_string_value(json_array_get(expected, 0));
    plain_name(around, in);
    if (!expected)
        wrong_frame(reading, json_sprintf("%lld stands at \"%s\" (expected an activity of its"
                                          " process)",
                                          (long long)number_at(entry, 0), at));
    else if (!has_text(expected, in) && strcmp(in, at) != 0)
        wrong_frame(reading,
                    json_sprintf("%lld stands at \"%s\" in \"%s\" (expected in \"%s\")",
                                 (long long)number_at(entry, 0), at, in, first ? first : ""));
}

/* Each scope around must be there. Numbers of ranges are above that of their body. */
static void around_check(struct reading *reading, const char *name) {
    char key[24];
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(reading->frame, name), i, entry) {
        json_int_t number = number_at(entry, 0), around = number_at(entry, 1);
        const json_t *scope = json_object_get(reading->scopes, key_of(around, key));
        if (around > 0 && around < number && !scope)
            wrong_frame(reading,
                        json_sprintf("%lld lies in %lld, which is not there", number, around));
        graph_check(reading, entry, scope);
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

/* `graph`: the activities of its process; NULL: they are not known. */
static bool frame_check(const struct frame_waits *waits, const json_t *frame, const json_t *graph,
                        json_t *found) {
    struct reading reading = {waits->instance, frame, graph, found, json_object(), 0};
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

struct finding {
    json_int_t instance, token;
    unsigned what;
    enum wrong wrong;
    const char *activity, *row; /* in the frame, and in the row */
};

static json_t *sentence(const struct finding *of) {
    const char *row = name_of(of->what), *at = of->activity ? of->activity : "";
    if (of->wrong == ROW_GONE)
        return json_sprintf("instance %lld waits at token %lld for a %s that is gone (at \"%s\")",
                            of->instance, of->token, row, at);
    if (of->wrong == NO_TOKEN)
        return json_sprintf("instance %lld has no token %lld, yet a %s waits for it", of->instance,
                            of->token, row);
    if (of->wrong == OTHER_ACTIVITY)
        return json_sprintf("instance %lld stands at token %lld in another activity than its %s"
                            " (\"%s\", expected \"%s\")",
                            of->instance, of->token, row, of->row, at);
    return json_sprintf("instance %lld waits at token %lld for something else than its %s (at"
                        " \"%s\")",
                        of->instance, of->token, row, at);
}

static void say(json_t *found, struct finding of) {
    if (json_array_size(found) < SAY)
        json_array_append_new(found, sentence(&of));
}

static void row_compare(struct frame_waits *waits, int64_t token, const char *activity,
                        unsigned what, json_t *found) {
    struct stretch *stretch = stretch_of(waits, token);
    if (!stretch || stretch->what != what) {
        say(found, (struct finding){waits->instance, token, what, stretch ? OTHER_WAIT : NO_TOKEN,
                                    stretch ? stretch->activity : NULL, activity});
        return;
    }
    stretch->met++;
    if (activity && stretch->activity && strcmp(activity, stretch->activity) != 0)
        say(found, (struct finding){waits->instance, token, what, OTHER_ACTIVITY, stretch->activity,
                                    activity});
}

/* A stretch with fewer rows than tokens has lost some. */
static void gaps_find(const struct frame_waits *waits, unsigned what, json_t *found) {
    for (size_t i = 0; i < waits->count; i++) {
        const struct stretch *stretch = &waits->list[i];
        if (stretch->what != what || stretch->met >= stretch->last - stretch->first + 1)
            continue;
        say(found, (struct finding){waits->instance, stretch->first, what, ROW_GONE,
                                    stretch->activity, NULL});
        if (waits->lost && !waits->lost->what) {
            waits->lost->what = name_of(what);
            snprintf(waits->lost->activity, sizeof waits->lost->activity, "%s",
                     stretch->activity ? stretch->activity : "?");
        }
    }
}

/* Holds rows of a kind (instance, token, activity) against the waits of a page of instances, both
 * in the order of their ids. */
static bool rows_compare(struct store *store, struct frame_waits *page, size_t count,
                         struct row *rows, unsigned what, json_t *found, struct error *error) {
    enum answer step = rows ? NO : FAILED;
    size_t at = 0;
    while (rows && (step = db_step(&store->db, rows, error)) == YES) {
        if (turn_of_token(row_int(rows, 1)) != page->turn)
            continue;
        while (at < count && page[at].instance < row_int(rows, 0))
            at++;
        if (at < count && page[at].instance == row_int(rows, 0) && page[at].known)
            row_compare(&page[at], row_int(rows, 1), row_text(rows, 2), what, found);
    }
    for (size_t i = 0; step == NO && i < count; i++)
        gaps_find(&page[i], what, found);
    return step == NO;
}

/* The page is one turn, or instances: then without their turns outside of their frames. */
static bool waits_compare(struct store *store, struct frame_waits *page, size_t count,
                          json_t *found, struct error *error) {
    const int64_t first = page[0].instance, last = page[count - 1].instance;
    const struct token_range tokens = turn_tokens(page->turn);
    struct row *jobs = db_query(&store->db, error,
                                "SELECT DISTINCT instance_id, execution, NULL FROM live"
                                " WHERE instance_id BETWEEN ?1 AND ?2"
                                " AND execution BETWEEN ?3 AND ?4 ORDER BY instance_id, execution",
                                "iiii", first, last, tokens.first, tokens.last);
    if (!rows_compare(store, page, count, jobs, UNIT_JOB, found, error))
        return false;
    struct row *tasks = db_query(&store->db, error,
                                 "SELECT DISTINCT instance, token, activity FROM user_task"
                                 " WHERE instance BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
                                 " ORDER BY instance",
                                 "iiii", first, last, tokens.first, tokens.last);
    if (!rows_compare(store, page, count, tasks, UNIT_TASK, found, error))
        return false;
    struct row *events = db_query(&store->db, error,
                                  "SELECT DISTINCT instance, token, activity FROM subscription"
                                  " WHERE instance BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
                                  " ORDER BY instance",
                                  "iiii", first, last, tokens.first, tokens.last);
    return rows_compare(store, page, count, events, UNIT_SUBSCRIPTION, found, error);
}

/* ---- all of them ---- */

static bool lost_begin(struct frame_waits *waits, struct lost_frame *one, json_t *found) {
    json_int_t shape = json_integer_value(json_object_get(one->frame, "v"));
    *one->lost = (struct lost){.what = shape < 1 ? "frame" : NULL};
    *waits = (struct frame_waits){.instance = one->instance, .lost = one->lost};
    json_array_clear(found);
    waits->known = shape >= 1 && shape <= SHAPE_MAX && frame_check(waits, one->frame, NULL, found);
    return !waits->known || waits_read(waits, one->frame);
}

bool instances_lost(struct store *store, struct lost_frame *page, size_t count,
                    struct error *error) {
    struct frame_waits *waits = calloc(count + 1, sizeof *waits);
    json_t *found = json_array();
    bool done = waits && found;
    for (size_t i = 0; done && i < count; i++)
        done = lost_begin(&waits[i], &page[i], found);
    done = done ? !count || waits_compare(store, waits, count, found, error)
                : db_no_memory(&store->db, error);
    for (size_t i = 0; waits && i < count; i++)
        free(waits[i].list);
    free(waits);
    json_decref(found);
    return done;
}

struct framed {
    int64_t id;
    int64_t turn; /* of the instance, outside of its frame; 0: the instance itself */
    json_t *frame;
    const json_t *graph;
};

static bool frame_verify(struct store *store, const struct framed *one, json_t *found,
                         struct error *error) {
    const int64_t id = one->id;
    const json_t *frame = one->frame;
    struct frame_waits waits = {.instance = id, .turn = one->turn, .known = true};
    json_int_t shape = json_integer_value(json_object_get(frame, "v"));
    if (shape < 1 && json_array_size(found) < SAY)
        json_array_append_new(
            found, json_sprintf("instance %lld has a frame that cannot be read", (long long)id));
    if (shape < 1 || shape > SHAPE_MAX) /* a later program may have written it */
        return true;
    if (!frame_check(&waits, frame, one->graph, found)) /* its rows would be wrong as well */
        return true;
    bool done = waits_read(&waits, frame) ? waits_compare(store, &waits, 1, found, error)
                                          : db_no_memory(&store->db, error);
    free(waits.list);
    return done && large_values_verify(store, id, one->turn, frame, found, error);
}

/* The activities of all versions, by their ids. One that an older program has declared has none. */
static json_t *graphs_read(struct store *store, struct error *error) {
    char key[24];
    json_t *graphs = json_object();
    struct row *rows =
        db_query(&store->db, error, "SELECT id, properties FROM process_version", "");
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        const char *text = row_text(rows, 1);
        json_t *properties = json_read(text, strlen(text), "properties", NULL);
        json_object_set(graphs, key_of(row_int(rows, 0), key),
                        json_object_get(properties, "activities"));
        json_decref(properties);
    }
    if (step == NO)
        return graphs;
    json_decref(graphs);
    return NULL;
}

/* The instances behind `after`, or the turns outside of their frames. */
static bool page_read(struct store *store, int64_t after, bool turns, const json_t *graphs,
                      struct framed *page, size_t *count, struct error *error) {
    char key[24];
    struct row *rows = db_query(&store->db, error,
                                turns ? "SELECT b.instance, t.frame, b.version, t.id FROM body_turn"
                                        " t JOIN body b ON b.id=t.body AND b.closed=0 WHERE t.id>?1"
                                        " ORDER BY t.id LIMIT ?2"
                                      : "SELECT id, frame, version, 0 FROM instance WHERE id>?1"
                                        " ORDER BY id LIMIT ?2",
                                "in", after, (int)PAGE);
    enum answer step = NO;
    *count = 0;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        const char *text = row_text(rows, 1);
        page[*count].id = row_int(rows, 0);
        page[*count].turn = row_int(rows, 3);
        page[*count].graph = json_object_get(graphs, key_of(row_int(rows, 2), key));
        page[(*count)++].frame = json_read(text, strlen(text), "frame", NULL);
    }
    return step == NO;
}

/* ---- the trail ---- */

/* An instance that has migrated was at activities of other versions. */
static bool is_anywhere(const json_t *graphs, const char *at) {
    const char *id;
    json_t *graph;
    bool known = false;
    json_object_foreach(json_unchanged(graphs), id, graph) {
        known = known || json_object_get(graph, at);
    }
    return known;
}

static void trail_check(struct row *row, const json_t *graphs, json_t *found) {
    char key[24], at[JOB_NAME_MAX + 1];
    const char *text = row_text(row, 1);
    json_t *events = json_read(text, strlen(text), "events", NULL), *event;
    const json_t *graph = json_object_get(graphs, key_of(row_int(row, 3), key));
    size_t i;
    if (!json_is_array(events) && json_array_size(found) < SAY)
        json_array_append_new(found,
                              json_sprintf("the events of the trail in row %lld are no JSON list",
                                           (long long)row_int(row, 0)));
    json_array_foreach(events, i, event) {
        const char *kind = json_string_value(json_array_get(event, 0));
        const char *activity = json_string_value(json_array_get(event, 2));
        bool stands = kind && activity && *activity && strchr("sec", *kind) && !kind[1];
        if (graph && stands && !json_object_get(graph, plain_name(activity, at)) &&
            !is_anywhere(graphs, at) && json_array_size(found) < SAY)
            json_array_append_new(found,
                                  json_sprintf("instance %lld: its trail was at \"%s\" (expected"
                                               " an activity of its process)",
                                               (long long)row_int(row, 2), at));
    }
    json_decref(events);
}

static bool trail_verify(struct store *store, const json_t *graphs, json_t *found,
                         struct error *error) {
    enum answer step = NO;
    int64_t after = INT64_MIN;
    for (int count = PAGE; count == PAGE && step == NO;) {
        struct row *rows =
            db_query(&store->db, error,
                     "SELECT t.seq, t.events, t.instance, coalesce(i.version, p.version)"
                     " FROM trail t LEFT JOIN instance i ON i.id=t.instance LEFT JOIN past p"
                     " ON p.id=t.instance WHERE t.seq>?1 ORDER BY t.seq LIMIT ?2",
                     "in", after, (int)PAGE);
        for (count = 0; (step = db_step(&store->db, rows, error)) == YES; count++) {
            trail_check(rows, graphs, found);
            after = row_int(rows, 0);
        }
    }
    return step == NO;
}

static bool frames_verify(struct store *store, const json_t *graphs, bool turns, json_t *found,
                          struct error *error) {
    struct framed *page = calloc(PAGE, sizeof *page);
    size_t count = 1;
    int64_t after = 0;
    bool done = page || db_no_memory(&store->db, error);
    while (done && count) {
        done = page_read(store, after, turns, graphs, page, &count, error);
        for (size_t i = 0; i < count; i++) {
            done = done && frame_verify(store, &page[i], found, error);
            json_decref(page[i].frame);
            after = turns ? page[i].turn : page[i].id;
        }
    }
    free(page);
    return done;
}

bool instances_verify(struct store *store, json_t *found, struct error *error) {
    json_t *graphs = graphs_read(store, error);
    bool done = graphs && frames_verify(store, graphs, false, found, error) &&
                frames_verify(store, graphs, true, found, error) &&
                trail_verify(store, graphs, found, error);
    json_decref(graphs);
    return done;
}
