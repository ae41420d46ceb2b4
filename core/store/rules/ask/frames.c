/* frames.c - where instances stand: what a walk begins from. */
#include "base/json.h"
#include "job/unit.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ask/turns.h"
#include "store/rules/ground/query.h"
#include "store/rules/record/frame.h"
#include <stdlib.h>

json_t *frame_read(struct row *row, int from, int64_t id) {
    json_t *frame = json_pack(
        "{sI sI sI ss ss? ss? ss sb}", "id", (json_int_t)id, "version",
        (json_int_t)row_int(row, from), "rev", (json_int_t)row_int(row, from + 1), "frame",
        row_text(row, from + 2), "key", row_text(row, from + 5), "tenant", row_text(row, from + 6),
        "process", row_text(row, from + 8), "held", (int)row_int(row, from + 9));
    json_put(frame, "parent", query_column(row, from + 3));
    json_put(frame, "root", query_column(row, from + 4));
    json_put(frame, "started", query_column(row, from + 7));
    return frame;
}

static bool frame_show_places(struct store *store, json_t *frame, struct error *error) {
    const char *text = json_text(frame, "frame");
    return frame_show(frame, text, error) &&
           (!turns_may(text) ||
            turns_show(store, json_object_get(frame, "at"), json_int(frame, "id"), error));
}

json_t *store_frame(struct store *store, int64_t id, int64_t token, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    struct row *row = db_query(&store->db, error, "SELECT " FRAME_COLUMNS FRAME_FROM "?1", "i", id);
    enum answer step = db_step(&store->db, row, error);
    json_t *found = step == NO ? json_null() : NULL;
    if (step == YES) {
        found = frame_read(row, 0, id);
        row_done(row);
    }
    if (step == YES && turn_of_token(token))
        found = turn_frame(store, found, turn_of_token(token), error);
    look_end(store, own);
    return found;
}

/* Null: the job is none of an instance. */
static json_t *frame_of_job(struct store *store, int64_t job, struct error *error) {
    int64_t instance = 0, token = 0;
    enum answer step = db_read(&store->db, error,
                               "SELECT instance_id, execution FROM job WHERE id=?1"
                               " AND instance_id IS NOT NULL",
                               "ii<i", &instance, &token, job);
    if (step != YES)
        return step == NO ? json_null() : NULL;
    json_t *frame = store_frame(store, instance, token, error);
    return json_kept(frame, json_put(frame, "token", json_integer(token)));
}

json_t *store_frame_of_job(struct store *store, int64_t job, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *frame = frame_of_job(store, job, error);
    look_end(store, own);
    return frame;
}

json_t *store_frame_places(struct store *store, int64_t id, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *frame = store_frame(store, id, 0, error);
    bool done = frame && (json_is_null(frame) || frame_show_places(store, frame, error));
    look_end(store, own);
    return json_kept(frame, done);
}

/* The number of each question, and its instance; NULL: no memory. */
static union unit_cell *cells_of(const json_t *questions) {
    union unit_cell *cells = calloc(2 * json_array_size(questions) + 1, sizeof *cells);
    const json_t *question;
    size_t i;
    json_array_foreach(questions, i, question) {
        if (!cells)
            break;
        cells[2 * i].number = (int64_t)i;
        cells[2 * i + 1].number = json_int(question, "instance");
    }
    return cells;
}

/* Puts the frames that are there in the place of null. */
static bool read_many(struct store *store, const struct kept_rows *rows, json_t *answers,
                      struct error *error) {
    struct row *row = store->engine->asked_rows(store, ASKED_FRAMES, rows, error);
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        const size_t at = (size_t)row_int(row, 10);
        json_array_set_new(answers, at, frame_read(row, 0, rows->cells[2 * at + 1].number));
    }
    return step == NO;
}

/* Null in the places of turns outside of these frames: they have ended, as far as is known. */
static void want_turns(struct kept_rows *rows, const json_t *questions, json_t *answers) {
    size_t i;
    const json_t *question;
    json_array_foreach(questions, i, question) {
        const int64_t turn = turn_of_token(json_int(question, "token"));
        union unit_cell *cells = rows->cells + 3 * rows->count;
        if (!turn || !json_is_object(json_array_get(answers, i)))
            continue;
        cells[0].number = (int64_t)i;
        cells[1].number = turn;
        cells[2].number = json_int(question, "instance");
        json_array_set_new(answers, i, json_null());
        rows->count++;
    }
}

/* `frames`: what the turns are beside. */
static bool read_turns(struct store *store, const struct kept_rows *rows, const json_t *questions,
                       const json_t *frames, json_t *answers, struct error *error) {
    struct row *row =
        rows->count ? store->engine->asked_rows(store, ASKED_TURNS, rows, error) : NULL;
    enum answer step = NO;
    while (rows->count && (step = db_step(&store->db, row, error)) == YES) {
        const size_t at = (size_t)row_int(row, 4);
        json_t *found = json_array_get(frames, at);
        if (!turn_frame_put(found, turn_of_token(json_int(json_array_get(questions, at), "token")),
                            row, 0) ||
            json_array_set(answers, at, found) != 0)
            return db_no_memory(&store->db, error);
    }
    return step == NO;
}

static bool add_turns(struct store *store, const json_t *questions, json_t *answers,
                      struct error *error) {
    json_t *frames = json_copy(answers);
    struct kept_rows rows = {
        .letters = "iii", .cells = calloc(3 * json_array_size(questions) + 1, sizeof *rows.cells)};
    bool done = frames && rows.cells ? true : db_no_memory(&store->db, error);
    if (done)
        want_turns(&rows, questions, answers);
    done = done && read_turns(store, &rows, questions, frames, answers, error);
    free(rows.cells);
    json_decref(frames);
    return done;
}

static bool add_places(struct store *store, const json_t *questions, json_t *answers,
                       struct error *error) {
    json_t *frame;
    size_t i;
    bool done = true;
    json_array_foreach(answers, i, frame) {
        bool shown = json_is_true(json_object_get(json_array_get(questions, i), "at"));
        done = done && (!shown || json_is_null(frame) || frame_show_places(store, frame, error));
    }
    return done;
}

json_t *store_frames(struct store *store, const json_t *questions, struct error *error) {
    struct kept_rows rows = {"ii", cells_of(questions), json_array_size(questions), 0};
    json_t *answers = json_array();
    for (size_t i = 0; i < rows.count; i++)
        json_array_append_new(answers, json_null());
    bool done =
        rows.cells ? read_many(store, &rows, answers, error) : db_no_memory(&store->db, error);
    done = done && add_turns(store, questions, answers, error) &&
           add_places(store, questions, answers, error);
    free(rows.cells);
    return json_kept(answers, done);
}
