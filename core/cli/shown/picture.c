#include "cli/shown/picture.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

/* The picture's row of an activity. One that only earlier versions have gets a row of its own. */
static json_t *row_of(json_t *picture, const char *activity) {
    json_t *row;
    size_t i;
    json_array_foreach(picture, i, row) {
        const char *id = json_text(row, "id");
        if (id && strcmp(id, activity) == 0)
            return row;
    }
    row = json_pack("{ss ss ss}", "id", activity, "tree", "", "text", "of an earlier version");
    return json_array_append_new(picture, row) == 0 ? row : NULL;
}

/* Counts that lie in the answer are put at their activities. */
static bool place_counts(json_t *picture, json_t *answer, struct error *error) {
    json_t *one;
    size_t i;
    bool done = true;
    json_array_foreach(json_object_get(answer, "at"), i, one) {
        json_t *row = row_of(picture, json_text(one, "activity")), *at = json_object_get(row, "at");
        if (row && !at && json_put(row, "at", json_array()))
            at = json_object_get(row, "at");
        json_object_del(one, "activity");
        done = done && json_array_append(at, one) == 0;
    }
    json_array_foreach(json_object_get(answer, "incidents"), i, one) {
        json_t *row = row_of(picture, json_text(one, "activity"));
        done =
            done && row && json_put(row, "incidents", json_incref(json_object_get(one, "count")));
    }
    return done || error_no_memory(error);
}

bool picture_count(json_t *process, json_t *standing, struct error *error) {
    if (json_is_null(standing))
        return json_put(process, "version", standing) || error_no_memory(error);
    bool done = standing && place_counts(json_object_get(process, "picture"), standing, error);
    json_object_del(standing, "at");
    json_object_del(standing, "incidents");
    done = done && (json_object_update(process, standing) == 0 || error_no_memory(error));
    json_decref(standing);
    return done;
}

/* ---- printing ---- */

/* What instances wait for, by the state of a token. */
static const struct {
    const char *state, *words;
} states[] = {
    {"before", "job"},
    {"after", "job behind it"},
    {"seed", "job"},
    {"task", "user task"},
    {"timer", "timer"},
    {"message", "message"},
    {"trigger", "trigger"},
    {"join", "other branches"},
    {"event", "events"},
    {"call", "called instance"},
    {"undoing", "compensation"},
    {"signal", "signal"},
    {"condition", "condition"},
    {"external", "worker outside"},
};

static const char *words_of(const char *state) {
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].state, state) == 0)
            return states[i].words;
    return state;
}

/* "2 (user task), 1 (job)" */
static bool put_waiting(json_t *row) {
    struct text text = {0};
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(row, "at"), i, one)
        text_add(&text, "%s%lld (%s)", i ? ", " : "", (long long)json_int(one, "count"),
                 words_of(json_text(one, "state")));
    bool done = !text.failed && (!text.data || json_put_text(row, "waiting", text.data));
    text_clear(&text);
    return done;
}

/* The activity behind its place in the tree; of a branch, its condition; of a way, its target. */
static bool put_shown(json_t *row) {
    const char *id = json_text(row, "id"), *to = json_text(row, "to");
    const char *what = to ? to : json_text(row, "text");
    struct text text = {0};
    text_add(&text, "%s%s%s", json_text(row, "tree"), to ? "→ " : "", id ? id : what);
    bool done = !text.failed && json_put_text(row, "shown", text.data);
    if (!id)
        json_object_del(row, "text");
    text_clear(&text);
    return done;
}

static const struct column columns[] = {
    {"shown", "ACTIVITY", 0},
    {"waiting", "WAITING", COLUMN_OPTIONAL},
    {"incidents", "INCIDENTS", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"text", "WHAT", COLUMN_CUT | COLUMN_REST},
    {"name", "NAME", COLUMN_CUT | COLUMN_OPTIONAL},
    {0},
};

/* Of a file by itself nothing is known of versions. */
static void head_print(const json_t *process) {
    const char *name = json_text(process, "name");
    const json_t *version = json_object_get(process, "version");
    int64_t instances = json_int(process, "instances");
    int64_t suspended = json_int(process, "suspended");
    char *clean = name ? output_clean(name, false) : NULL;
    output_add("%s%s%s, %s", json_text(process, "key"), clean ? ", " : "", clean ? clean : "",
               json_text(process, "file"));
    free(clean);
    if (json_is_integer(version))
        output_add(": version %lld, %lld instance%s", (long long)json_integer_value(version),
                   (long long)instances, instances == 1 ? "" : "s");
    else if (version)
        output_add(": not deployed");
    if (suspended)
        output_add(", %lld suspended", (long long)suspended);
    output_add("\n");
}

bool picture_print(const json_t *process, struct error *error) {
    json_t *picture = json_deep_copy(json_object_get(process, "picture")), *row;
    bool done = picture != NULL;
    size_t i;
    json_array_foreach(picture, i, row)
        done = done && put_waiting(row) && put_shown(row);
    if (!done)
        error_no_memory(error);
    else
        head_print(process);
    done = done && table_print(columns, picture, output_width(), error);
    json_decref(picture);
    return done;
}
