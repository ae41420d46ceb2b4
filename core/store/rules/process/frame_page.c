#include "store/rules/process/frame_page.h"
#include "job/instance_batch.h"
#include "job/unit.h"
#include "store/rules/ground/frames.h"
#include <stdlib.h>
#include <string.h>

void frame_page_clear(struct frame_page *page) {
    arena_clear(&page->arena);
    id_set_clear(&page->asked);
    free(page->rows);
    *page = (struct frame_page){0};
}

/* ---- reading ---- */

static const char *frames_keep(struct frame_page *page, const char *text) {
    size_t size = text ? strlen(text) + 1 : 0;
    char *room = text ? arena_room(&page->arena, size) : NULL;
    if (!room)
        return NULL;
    arena_keep(&page->arena, size);
    return memcpy(room, text, size);
}

static bool frames_add(struct frame_page *page, struct row *row) {
    if (page->count == page->room) {
        size_t room = page->room ? 2 * page->room : FRAMES_AT_ONCE;
        struct frame_row *rows = realloc(page->rows, room * sizeof *rows);
        if (!rows)
            return false;
        page->rows = rows;
        page->room = room;
    }
    const char *key = row_text(row, 5);
    struct frame_row *made = &page->rows[page->count];
    *made = (struct frame_row){.id = row_int(row, 0),
                               .version = row_int(row, 1),
                               .rev = row_int(row, 2),
                               .parent = row_int(row, 3),
                               .frame = frames_keep(page, row_text(row, 4)),
                               .key = frames_keep(page, key),
                               .body = row_int(row, 6),
                               .body_token = row_int(row, 7)};
    page->count += made->frame != NULL;
    return made->frame && (made->key || !key);
}

static int row_order(const void *left, const void *right) {
    const struct frame_row *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

#define SOME                                                                                       \
    " IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,"   \
    " ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32)"

/* Begins to read the wanted ones. The last one stands for those that are missing to the whole. */
static struct row *query(struct frames_wanted *wanted, bool turns, struct store *store,
                         struct error *error) {
    int64_t *id = wanted->ids;
    if (wanted->count == 1)
        return db_query(&store->db, error, turns ? TURN_FRAME "=?1" : INSTANCE_FRAME "=?1", "i",
                        id[0]);
    for (size_t i = wanted->count; i < FRAMES_AT_ONCE; i++)
        id[i] = id[wanted->count - 1];
    return db_query(&store->db, error, turns ? TURN_FRAME SOME : INSTANCE_FRAME SOME,
                    "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii", id[0], id[1], id[2], id[3], id[4], id[5],
                    id[6], id[7], id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15],
                    id[16], id[17], id[18], id[19], id[20], id[21], id[22], id[23], id[24], id[25],
                    id[26], id[27], id[28], id[29], id[30], id[31]);
}

static int64_t bytes_of(const struct frame_page *page, const struct frames_wanted *wanted,
                        size_t first) {
    int64_t bytes = 0;
    for (size_t i = first; i < page->count; i++)
        for (size_t k = 0; k < wanted->count; k++)
            if (page->rows[i].id == wanted->ids[k])
                bytes += (int64_t)strlen(page->rows[i].frame);
    return bytes;
}

static bool read_rows(struct frame_page *page, struct store *store, struct row *row,
                      struct error *error) {
    enum answer step = db_step(&store->db, row, error);
    for (; step == YES; step = db_step(&store->db, row, error))
        if (!frames_add(page, row))
            return row_stop(row) || db_no_memory(&store->db, error);
    return step == NO;
}

static bool read_wanted(struct frame_page *page, struct store *store, bool turns, int64_t *bytes,
                        struct error *error) {
    struct frames_wanted *wanted = turns ? &page->turns : &page->instances;
    size_t first = page->count;
    if (!wanted->count)
        return true;
    if (!frames_flush(store, error) ||
        !read_rows(page, store, query(wanted, turns, store, error), error))
        return false;
    *bytes += bytes_of(page, wanted, first);
    wanted->count = 0;
    return true;
}

/* ---- many at once, before it is known which of them are wanted ---- */

static const struct frame_row *row_among(const struct frame_page *page, size_t count, int64_t id) {
    const struct frame_row key = {.id = id};
    return id && count ? bsearch(&key, page->rows, count, sizeof key, row_order) : NULL;
}

static int64_t id_of(const struct job *job, bool turns) {
    return turns ? turn_of_token(job->execution) : job_walked(job);
}

/* The ids that were not asked for, each once. */
static bool collect(struct frame_page *page, const struct job *const *jobs, size_t count,
                    bool turns, int64_t *ids, size_t *found) {
    for (size_t i = 0; i < count; i++) {
        const int64_t id = job_walked(jobs[i]) ? id_of(jobs[i], turns) : 0;
        bool fresh = false;
        if (id && !id_set_add(&page->asked, id, &fresh))
            return false;
        if (fresh)
            ids[(*found)++] = id;
    }
    return true;
}

/* *rows NULL: all were asked for before. */
static bool ask_ahead(struct frame_page *page, struct store *store, const struct job *const *jobs,
                      size_t count, bool turns, int64_t most, struct row **rows,
                      struct error *error) {
    int64_t *ids = malloc(2 * count * sizeof *ids), *bounds = ids ? ids + count : NULL;
    struct set set = {.kind = turns ? SET_SEEN_TURNS : SET_SEEN_FRAMES, .later = rows};
    bool done = (ids && collect(page, jobs, count, turns, ids, &set.count)) ||
                db_no_memory(&store->db, error);
    for (size_t i = 0; done && i < set.count; i++)
        bounds[i] = most;
    set.columns[0] = ids;
    set.columns[1] = bounds;
    done = done && (!set.count || store->engine->set(store, &set, error));
    free(ids);
    return done;
}

bool frame_page_ahead(struct frame_page *page, struct store *store, const struct job *const *jobs,
                      size_t count, int64_t most, struct error *error) {
    const size_t before = page->count;
    struct row *instances = NULL, *turns = NULL;
    if (!frames_flush(store, error) ||
        !ask_ahead(page, store, jobs, count, false, most, &instances, error) ||
        !ask_ahead(page, store, jobs, count, true, most, &turns, error))
        return false;
    if ((instances && !read_rows(page, store, instances, error)) ||
        (turns && !read_rows(page, store, turns, error)))
        return false;
    if (page->count > before)
        qsort(page->rows, page->count, sizeof *page->rows, row_order);
    page->ahead = page->count;
    return true;
}

bool frame_page_asked(const struct frame_page *page, const struct job *job) {
    const int64_t turn = id_of(job, true);
    return id_set_has(&page->asked, job_walked(job)) && (!turn || id_set_has(&page->asked, turn));
}

static bool want(struct frame_page *page, struct store *store, int64_t id, bool turn,
                 int64_t *bytes, struct error *error) {
    struct frames_wanted *wanted = turn ? &page->turns : &page->instances;
    const struct frame_row *row = row_among(page, page->ahead, id);
    if (row)
        *bytes += (int64_t)strlen(row->frame);
    if (row || !id)
        return true;
    wanted->ids[wanted->count++] = id;
    return wanted->count < FRAMES_AT_ONCE || read_wanted(page, store, turn, bytes, error);
}

bool frame_page_want(struct frame_page *page, struct store *store, const struct job *job,
                     int64_t *bytes, struct error *error) {
    *bytes = 0;
    return want(page, store, job_walked(job), false, bytes, error) &&
           want(page, store, turn_of_token(job->execution), true, bytes, error);
}

/* ---- giving ---- */

/* A job of a turn has both frames: that of the turn, and that of the instance around it. */
static void show_turn(struct job *shown, const struct frame_row *turn) {
    shown->around = shown->frame;
    shown->around_rev = shown->frame_rev;
    shown->frame = turn ? turn->frame : NULL;
    shown->frame_rev = turn ? turn->rev : 0;
    shown->body = turn ? turn->body : 0;
    shown->body_token = turn ? turn->body_token : 0;
}

/* The job, as a copy with its frame; NULL: no memory. */
static struct job *framed(const struct frame_page *page, struct job *job,
                          const struct frame_row *row) {
    const int64_t turn = turn_of_token(job->execution);
    struct job shown = *job;
    shown.version = row->version;
    shown.frame_rev = row->rev;
    shown.frame = row->frame;
    shown.parent = row->parent;
    shown.business_key = row->key;
    if (turn)
        show_turn(&shown, row_among(page, page->count, turn));
    struct job *copy = job_copy(&shown);
    if (!copy)
        return NULL;
    copy->next = job->next;
    job_free(job);
    return copy;
}

bool frame_page_give(struct frame_page *page, struct store *store, struct job **jobs,
                     struct error *error) {
    int64_t bytes = 0;
    if (!read_wanted(page, store, false, &bytes, error) ||
        !read_wanted(page, store, true, &bytes, error))
        return false;
    if (page->count)
        qsort(page->rows, page->count, sizeof *page->rows, row_order);
    for (; page->count && *jobs; jobs = &(*jobs)->next) {
        const struct frame_row *row = row_among(page, page->count, job_walked(*jobs));
        struct job *copy = row ? framed(page, *jobs, row) : *jobs;
        if (!copy)
            return db_no_memory(&store->db, error);
        *jobs = copy;
    }
    return true;
}

bool frames_attach(struct store *store, struct job **jobs, struct error *error) {
    struct frame_page page = {0};
    int64_t bytes = 0;
    bool done = true;
    for (const struct job *job = *jobs; done && job; job = job->next)
        done = frame_page_want(&page, store, job, &bytes, error);
    done = done && frame_page_give(&page, store, jobs, error);
    frame_page_clear(&page);
    return done;
}
