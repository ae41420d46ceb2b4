#include "cli/bulk.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/lines.h"
#include "cli/output.h"
#include "cli/progress.h"
#include <stdlib.h>
#include <string.h>

/* A transaction ends with a whole thousand of jobs, if they are of usual size. Fewer transactions
 * are faster, but nobody else can write meanwhile. */
enum { JOBS_MAX = 4000, JOBS_WHOLE = 1000, BYTES_MANY = 1 << 20, BYTES_MAX = 16 << 20 };

#define BAD_SHOWN 20 /* bad lines that are said before giving up, unless they are skipped */

struct bulk {
    struct engine *engine;
    const struct bulk_options *options;
    struct receipt *receipt;
    struct lines lines;
    struct progress progress;
    int64_t good;
    int64_t *bad; /* numbers of the bad lines, in order */
    size_t bad_count;
    size_t bad_passed;                    /* second pass: those behind us */
    struct arena texts;                   /* of the drafts below */
    struct engine_draft drafts[JOBS_MAX]; /* to be written, */
    int64_t numbers[JOBS_MAX];            /* from these lines, */
    struct engine_created created[JOBS_MAX];
    size_t count, bytes; /* of the lines */
    int64_t first;       /* number of the first line that is not written yet */
    int64_t refused;     /* lines that turned out bad as they were written */
};

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\r")] == '\0';
}

/* The present line without a byte order mark at the file's start. */
static const char *line_text(const struct lines *lines, size_t *size) {
    size_t mark = lines->number == 1 && strncmp(lines->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *size = lines->size - mark;
    return lines->text + mark;
}

/* The present line as an object. */
static json_t *object_read(const struct bulk *bulk, const char *text, size_t size,
                           struct error *error) {
    json_t *spec = json_read(text, size, "JSON", error);
    if (!spec)
        return NULL;
    if (!json_is_object(spec))
        error_set(error, ERROR_INVALID, "expected a JSON object with handler and payload");
    else if (!bulk->options->unchecked || json_object_get(spec, "unchecked") ||
             json_put(spec, "unchecked", json_true()))
        return spec;
    else
        no_memory(error);
    json_decref(spec);
    return NULL;
}

/* The present line as a draft, whose texts are in the arena or in an object of its own; false with
 * the reason. */
static bool line_read(struct bulk *bulk, struct engine_draft *draft, struct error *error) {
    const struct lines *lines = &bulk->lines;
    size_t size, used;
    const char *text = line_text(lines, &size);
    *draft = (struct engine_draft){0};
    if (lines->too_long)
        return error_set(error, ERROR_INVALID, "longer than %zu bytes", lines->max);
    char *room = arena_room(&bulk->texts, size);
    if (!room)
        return no_memory(error);
    if (!brief_read(&draft->brief, text, size, room, &used))
        return (draft->spec = object_read(bulk, text, size, error)) != NULL;
    draft->brief.unchecked = bulk->options->unchecked;
    arena_keep(&bulk->texts, used);
    return true;
}

/* The line's own fault, not the store's or the machine's. */
static bool is_bad_line(const struct error *error) {
    return error->code == ERROR_INVALID || error->code == ERROR_NOT_FOUND ||
           error->code == ERROR_USAGE || error->code == ERROR_FAILED ||
           error->code == ERROR_CONFLICT;
}

static void bad_say(struct bulk *bulk, int64_t number, const struct error *why) {
    progress_end(&bulk->progress);
    char *text = output_clean(why->text, false);
    fprintf(stderr, "moonshift: %s:%lld: %s\n", bulk->lines.name, (long long)number,
            text ? text : "");
    free(text);
}

static bool bad_add(struct bulk *bulk, const struct error *why, struct error *error) {
    if ((bulk->bad_count & (bulk->bad_count - 1)) == 0) { /* a power of two: full */
        size_t room = bulk->bad_count ? bulk->bad_count * 2 : 1;
        int64_t *bad = realloc(bulk->bad, room * sizeof *bad);
        if (!bad)
            return no_memory(error);
        bulk->bad = bad;
    }
    bulk->bad[bulk->bad_count++] = bulk->lines.number;
    bad_say(bulk, bulk->lines.number, why);
    return true;
}

static bool line_check(struct bulk *bulk, struct error *error) {
    struct error why = {0};
    struct engine_draft draft;
    bool fine = line_read(bulk, &draft, &why) && engine_check_draft(bulk->engine, &draft, &why);
    json_decref(draft.spec);
    arena_empty(&bulk->texts);
    bulk->good += fine;
    if (fine)
        return true;
    if (is_bad_line(&why))
        return bad_add(bulk, &why, error);
    return error_set(error, why.code, "%s", why.text);
}

static bool lines_check(struct bulk *bulk, struct error *error) {
    while (lines_next(&bulk->lines, error)) {
        size_t size;
        if (!is_blank(line_text(&bulk->lines, &size)) && !line_check(bulk, error))
            return false;
        if (!bulk->options->skip_bad && bulk->bad_count >= BAD_SHOWN)
            break;
        progress_show(&bulk->progress, "checking byte", bulk->lines.read, bulk->lines.total);
    }
    progress_end(&bulk->progress);
    if (error->code != ERROR_NONE)
        return false;
    if (bulk->bad_count == 0 || bulk->options->skip_bad)
        return true;
    return error_set(error, ERROR_INVALID,
                     "%s: %zu bad %s%s, nothing written (--skip-bad keeps the rest)",
                     bulk->lines.name, bulk->bad_count, bulk->bad_count == 1 ? "line" : "lines",
                     bulk->bad_count >= BAD_SHOWN ? " or more" : "");
}

/* A write failed half way: what is in stays in, and the message says how far that is. */
static bool say_how_far(const struct bulk *bulk, struct error *error) {
    char why[sizeof error->text];
    memcpy(why, error->text, sizeof why);
    return error_set(error, error->code, "%s: %lld of %lld jobs are in, none from line %lld on: %s",
                     bulk->lines.name, (long long)bulk->receipt->count, (long long)bulk->good,
                     (long long)bulk->first, why);
}

/* Drafts `from` to `to` - 1; *refused as engine_enqueue has it. */
static bool drafts_write(struct bulk *bulk, size_t from, size_t to, size_t *refused,
                         struct error *error) {
    bool fine =
        engine_enqueue(bulk->engine, &bulk->drafts[from], to - from, bulk->created, refused, error);
    if (!fine) {
        *refused += from;
        return false;
    }
    *refused = to;
    bulk->first = bulk->numbers[to - 1] + 1;
    return receipt_add(bulk->receipt, bulk->created, to - from, error);
}

/* As drafts_write, but leaves out what is refused: what is before it goes in first. */
static bool drafts_write_good(struct bulk *bulk, struct error *error) {
    for (size_t from = 0, to = bulk->count, refused = 0; from < bulk->count;) {
        struct error why = {0};
        if (drafts_write(bulk, from, to, &refused, &why)) {
            from = to;
            to = bulk->count;
        } else if (refused >= to || !is_bad_line(&why)) {
            return error_set(error, why.code, "%s", why.text);
        } else if (refused > from) {
            to = refused;
        } else {
            bad_say(bulk, bulk->numbers[from], &why);
            bulk->refused++;
            bulk->good--;
            bulk->first = bulk->numbers[from++] + 1;
            to = bulk->count;
        }
    }
    return true;
}

static void chunk_clear(struct bulk *bulk) {
    for (size_t i = 0; i < bulk->count; i++)
        json_decref(bulk->drafts[i].spec);
    bulk->count = bulk->bytes = 0;
    arena_empty(&bulk->texts);
}

static bool chunk_write(struct bulk *bulk, struct error *error) {
    size_t refused = 0;
    if (bulk->count == 0)
        return true;
    if (!(bulk->options->skip_bad ? drafts_write_good(bulk, error)
                                  : drafts_write(bulk, 0, bulk->count, &refused, error)))
        return say_how_far(bulk, error);
    chunk_clear(bulk);
    bulk->first = bulk->lines.number + 1;
    progress_show(&bulk->progress, "writing", bulk->receipt->count, bulk->good);
    return true;
}

/* True if the first pass found the present line bad. */
static bool line_is_bad(struct bulk *bulk) {
    if (bulk->bad_passed == bulk->bad_count || bulk->bad[bulk->bad_passed] != bulk->lines.number)
        return false;
    bulk->bad_passed++;
    return true;
}

static bool chunk_full(const struct bulk *bulk) {
    bool whole = bulk->count % JOBS_WHOLE == 0;
    return bulk->count == JOBS_MAX || bulk->bytes >= (whole ? BYTES_MANY : BYTES_MAX);
}

static bool line_write(struct bulk *bulk, struct error *error) {
    size_t size;
    if (is_blank(line_text(&bulk->lines, &size)) || line_is_bad(bulk))
        return true;
    if (!line_read(bulk, &bulk->drafts[bulk->count], error))
        return say_how_far(bulk, error);
    bulk->numbers[bulk->count++] = bulk->lines.number;
    bulk->bytes += size;
    return !chunk_full(bulk) || chunk_write(bulk, error);
}

static bool lines_write(struct bulk *bulk, struct error *error) {
    bulk->first = 1;
    while (lines_next(&bulk->lines, error))
        if (!line_write(bulk, error))
            return false;
    if (error->code != ERROR_NONE)
        return say_how_far(bulk, error);
    return chunk_write(bulk, error);
}

static void bulk_end(struct bulk *bulk) {
    progress_end(&bulk->progress);
    lines_close(&bulk->lines);
    chunk_clear(bulk);
    arena_clear(&bulk->texts);
    free(bulk->bad);
    free(bulk);
}

bool bulk_enqueue(struct engine *engine, const struct bulk_options *options,
                  struct receipt *receipt, struct error *error) {
    struct bulk *bulk = calloc(1, sizeof *bulk);
    if (!bulk)
        return no_memory(error);
    bulk->engine = engine;
    bulk->options = options;
    bulk->receipt = receipt;
    bulk->progress.on = options->interactive;
    error->code = ERROR_NONE;
    bool fine = lines_open(&bulk->lines, options->path, options->line_max, error) &&
                lines_check(bulk, error) && lines_again(&bulk->lines, error) &&
                lines_write(bulk, error);
    receipt->skipped = (int64_t)bulk->bad_count + bulk->refused;
    bulk_end(bulk);
    return fine;
}
