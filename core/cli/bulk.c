#include "cli/bulk.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/lines.h"
#include "cli/output.h"
#include "cli/progress.h"
#include <stdlib.h>
#include <string.h>

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
    size_t bad_passed;   /* second pass: those behind us */
    json_t *chunk;       /* drafts to be written */
    int64_t chunk_first; /* number of the first line that is not written yet */
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

/* The present line as a draft's object, or NULL with the reason. */
static json_t *line_read(const struct bulk *bulk, struct error *error) {
    const struct lines *lines = &bulk->lines;
    size_t size;
    const char *text = line_text(lines, &size);
    if (lines->too_long) {
        error_set(error, ERROR_INVALID, "longer than %zu bytes", lines->max);
        return NULL;
    }
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

/* The line's own fault, not the store's or the machine's. */
static bool is_bad_line(const struct error *error) {
    return error->code == ERROR_INVALID || error->code == ERROR_NOT_FOUND ||
           error->code == ERROR_USAGE || error->code == ERROR_FAILED ||
           error->code == ERROR_CONFLICT;
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
    progress_end(&bulk->progress);
    char *text = output_clean(why->text, false);
    fprintf(stderr, "moonshift: %s:%lld: %s\n", bulk->lines.name, (long long)bulk->lines.number,
            text ? text : "");
    free(text);
    return true;
}

static bool line_check(struct bulk *bulk, struct error *error) {
    struct error why = {0};
    json_t *spec = line_read(bulk, &why);
    bool fine = spec && engine_check_draft(bulk->engine, spec, &why);
    json_decref(spec);
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
                     (long long)bulk->chunk_first, why);
}

static bool chunk_write(struct bulk *bulk, struct error *error) {
    struct engine_created created[BULK_CHUNK];
    size_t count = json_array_size(bulk->chunk);
    if (count == 0)
        return true;
    if (!engine_enqueue(bulk->engine, bulk->chunk, created, error))
        return say_how_far(bulk, error);
    json_array_clear(bulk->chunk);
    bulk->chunk_first = bulk->lines.number + 1;
    progress_show(&bulk->progress, "writing", bulk->receipt->count + (int64_t)count, bulk->good);
    return receipt_add(bulk->receipt, created, count, error);
}

/* True if the first pass found the present line bad. */
static bool line_is_bad(struct bulk *bulk) {
    if (bulk->bad_passed == bulk->bad_count || bulk->bad[bulk->bad_passed] != bulk->lines.number)
        return false;
    bulk->bad_passed++;
    return true;
}

static bool line_write(struct bulk *bulk, struct error *error) {
    size_t size;
    if (is_blank(line_text(&bulk->lines, &size)) || line_is_bad(bulk))
        return true;
    json_t *spec = line_read(bulk, error);
    if (!spec || json_array_append_new(bulk->chunk, spec) != 0)
        return say_how_far(bulk, error);
    return json_array_size(bulk->chunk) < BULK_CHUNK || chunk_write(bulk, error);
}

static bool lines_write(struct bulk *bulk, struct error *error) {
    bulk->chunk = json_array();
    bulk->chunk_first = 1;
    if (!bulk->chunk)
        return no_memory(error);
    while (lines_next(&bulk->lines, error))
        if (!line_write(bulk, error))
            return false;
    if (error->code != ERROR_NONE)
        return say_how_far(bulk, error);
    return chunk_write(bulk, error);
}

bool bulk_enqueue(struct engine *engine, const struct bulk_options *options,
                  struct receipt *receipt, struct error *error) {
    struct bulk bulk = {.engine = engine,
                        .options = options,
                        .receipt = receipt,
                        .progress = {.on = options->interactive}};
    error->code = ERROR_NONE;
    bool fine = lines_open(&bulk.lines, options->path, options->line_max, error) &&
                lines_check(&bulk, error) && lines_again(&bulk.lines, error) &&
                lines_write(&bulk, error);
    receipt->skipped = (int64_t)bulk.bad_count;
    progress_end(&bulk.progress);
    lines_close(&bulk.lines);
    json_decref(bulk.chunk);
    free(bulk.bad);
    return fine;
}
