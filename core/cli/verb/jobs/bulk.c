#include "cli/verb/jobs/bulk.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/list.h"
#include "base/text.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "cli/words/answers.h"
#include "cli/words/kept.h"
#include "cli/words/lines.h"
#include "engine/intake.h"
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

/* A transaction ends with a whole thousand of jobs, if they are of usual size. Fewer transactions
 * are faster, but nobody else can write meanwhile. */
enum { JOBS_MAX = 4000, JOBS_WHOLE = 1000, BYTES_MANY = 1 << 20, BYTES_MAX = 16 << 20 };

#define BAD_SHOWN 20 /* bad lines that are said before giving up, unless they are skipped */

/* Lines that replace a waiting job, which others see: that is done by the last transaction. */
enum { LATE_MAX = 4000 };

struct late {
    off_t at; /* in the file */
    size_t size;
    int64_t number;
    size_t place; /* in the receipt */
};

struct bulk {
    struct engine *engine;
    const struct bulk_options *options;
    struct receipt *receipt;
    struct lines lines;
    struct progress progress;
    int64_t good;
    struct engine_check check;
    struct answers answers; /* of the good ones */
    size_t again;           /* second pass: good lines behind us */
    int64_t *bad;           /* numbers of the bad lines, in order */
    size_t bad_count;
    size_t bad_passed;                  /* second pass: those behind us */
    struct kept kept;                   /* of the first pass, for the second */
    struct arena texts;                 /* of the specs below */
    struct engine_spec specs[JOBS_MAX]; /* to be written, */
    struct late lines_of[JOBS_MAX];     /* from these lines, */
    struct created created[JOBS_MAX];
    size_t count, bytes; /* of the lines */
    int64_t refused;     /* lines that turned out bad as they were written */
    struct store_intake intake;
    int64_t first; /* of its ids; what replaces one of them is nobody else's business */
    struct late late[LATE_MAX];
    size_t late_count, late_bytes;
    struct engine_request request;
    SHA2_CTX hash;
    char hex[65];
};

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\r")] == '\0';
}

/* The present line as an object. */
static json_t *object_read(const struct bulk *bulk, const char *text, size_t size,
                           struct error *error) {
    json_t *spec = json_read_within(text, size, JSON_DEPTH + 1, "JSON", error);
    if (!spec)
        return NULL;
    if (!json_is_object(spec))
        error_set(error, ERROR_INVALID, "expected a JSON object with handler and payload");
    else if (!bulk->options->unchecked || json_object_get(spec, "unchecked") ||
             json_put(spec, "unchecked", json_true()))
        return spec;
    else
        error_no_memory(error);
    json_decref(spec);
    return NULL;
}

/* A text as a spec, whose texts are in `texts` or in an object of its own; false with the reason.
 */
static bool text_read(struct bulk *bulk, struct arena *texts, const char *text, size_t size,
                      struct engine_spec *spec, struct error *error) {
    size_t used;
    char *room = arena_room(texts, size * JSON_GROWTH);
    *spec = (struct engine_spec){0};
    if (!room)
        return error_no_memory(error);
    if (!spec_fast_read(&spec->fast, text, size, room, &used)) {
        spec_fast_clear(&spec->fast);
        return (spec->object = object_read(bulk, text, size, error)) != NULL;
    }
    spec->fast.unchecked = bulk->options->unchecked;
    arena_keep(texts, used);
    return true;
}

/* The present line. */
static bool line_read(struct bulk *bulk, struct arena *texts, struct kept_line *line,
                      struct error *error) {
    *line = (struct kept_line){
        .at = bulk->lines.at, .size = bulk->lines.size, .number = bulk->lines.number};
    if (bulk->lines.too_long)
        return error_set(error, ERROR_INVALID, "longer than %zu bytes", bulk->lines.max);
    return text_read(bulk, texts, bulk->lines.text, line->size, &line->spec, error);
}

/* The line's own fault, not the store's or the machine's. */
static bool is_bad_line(const struct error *error) {
    return error->code == ERROR_INVALID || error->code == ERROR_NOT_FOUND ||
           error->code == ERROR_USAGE || error->code == ERROR_FAILED || error_refuses(error);
}

static void bad_say(struct bulk *bulk, int64_t number, const struct error *why) {
    progress_end(&bulk->progress);
    char *text = output_clean(why->text, false);
    fprintf(stderr, "moonshift: %s:%lld: %s\n", bulk->lines.name, (long long)number,
            text ? text : "");
    free(text);
}

static bool bad_add(struct bulk *bulk, const struct error *why, struct error *error) {
    int64_t *bad = list_room(bulk->bad, bulk->bad_count, sizeof *bad);
    if (!bad)
        return error_no_memory(error);
    bulk->bad = bad;
    bad[bulk->bad_count++] = bulk->lines.number;
    bad_say(bulk, bulk->lines.number, why);
    return true;
}

/* Keeps a good line if there is room. */
static void line_keep(struct bulk *bulk, struct kept_line *line) {
    if (bulk->kept.full || !kept_add(&bulk->kept, line)) {
        engine_spec_clear(&line->spec);
        return;
    }
    bulk->kept.end = lines_mark(&bulk->lines);
    bulk->kept.bad = bulk->bad_count;
}

static const char *handler_of(const struct engine_spec *spec) {
    return spec->object ? json_text(spec->object, "handler") : spec->fast.names[SPEC_NAME_handler];
}

static bool line_check(struct bulk *bulk, struct error *error) {
    struct error why = {0};
    struct kept_line line;
    struct arena *texts = bulk->kept.full ? &bulk->texts : &bulk->kept.texts;
    if (line_read(bulk, texts, &line, &why) &&
        engine_check_spec(bulk->engine, &line.spec, &bulk->check, &why)) {
        lost_note(bulk->options->lost, handler_of(&line.spec));
        answers_keep(&bulk->answers, (size_t)bulk->good++, &bulk->check.answers);
        line_keep(bulk, &line);
        arena_empty(&bulk->texts);
        return true;
    }
    engine_spec_clear(&line.spec);
    arena_empty(&bulk->texts);
    if (is_bad_line(&why))
        return bad_add(bulk, &why, error);
    return error_set(error, why.code, "%s", why.text);
}

static bool lines_check(struct bulk *bulk, struct error *error) {
    while (lines_next(&bulk->lines, error)) {
        const char *text = bulk->lines.text;
        if (bulk->options->request)
            SHA256Update(&bulk->hash, (const uint8_t *)text,
                         bulk->lines.size + 1); /* with its end */
        if (!is_blank(text) && !line_check(bulk, error))
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

/* ---- writing ---- */

/* Whatever was written goes again. */
static bool say_nothing(const struct bulk *bulk, int64_t number, struct error *error) {
    char why[sizeof error->text];
    memcpy(why, error->text, sizeof why);
    if (number)
        return error_set(error, error->code, "%s:%lld: %s (nothing written)", bulk->lines.name,
                         (long long)number, why);
    return error_set(error, error->code, "%s: %s (nothing written)", bulk->lines.name, why);
}

static bool late_add(struct bulk *bulk, const struct late *line, size_t place,
                     struct error *error) {
    if (bulk->late_count == LATE_MAX || bulk->late_bytes + line->size > BYTES_MAX)
        return error_set(error, ERROR_CONFLICT,
                         "more than %d lines, or %d bytes of lines, replace jobs that wait"
                         " (expected fewer in one file)",
                         (int)LATE_MAX, (int)BYTES_MAX);
    struct late *late = &bulk->late[bulk->late_count++];
    *late = *line;
    late->place = place;
    bulk->late_bytes += line->size;
    return true;
}

/* It replaces a job that others see. */
static bool is_late(const struct bulk *bulk, const struct created *created) {
    return created->creation == CREATION_REPLACED &&
           (created->id < bulk->first || created->id > bulk->intake.last);
}

/* What specs `from` to `to` - 1 have become is noted. */
static bool specs_note(struct bulk *bulk, size_t from, size_t to, struct error *error) {
    for (size_t i = 0; i < to - from; i++)
        if (is_late(bulk, &bulk->created[i]) &&
            !late_add(bulk, &bulk->lines_of[from + i], (size_t)bulk->receipt->count + i, error))
            return false;
    return receipt_add(bulk->receipt, bulk->created, to - from, error);
}

/* Drafts `from` to `to` - 1; *refused as engine_enqueue has it. */
static bool specs_write(struct bulk *bulk, size_t from, size_t to, size_t *refused,
                        struct error *error) {
    if (!engine_intake_add(bulk->engine, &bulk->intake, &bulk->specs[from], to - from,
                           bulk->created, refused, error)) {
        *refused += from;
        return false;
    }
    *refused = to;
    return specs_note(bulk, from, to, error);
}

enum { BEHIND_REFUSED = 32 }; /* lines that are tried at once, then twice as many each time */

/* As specs_write, but leaves out what is refused: what is before it goes in first. A server looks
 * at all lines of a try before it refuses one, and what is refused seldom comes alone. */
static bool specs_write_good(struct bulk *bulk, struct error *error) {
    size_t step = bulk->count, to = bulk->count;
    for (size_t from = 0, refused = 0; from < bulk->count;) {
        struct error why = {0};
        if (specs_write(bulk, from, to, &refused, &why)) {
            from = to;
            step *= 2;
        } else if (refused >= to || !is_bad_line(&why)) {
            return error_set(error, why.code, "%s", why.text);
        } else if (refused > from) {
            to = refused;
            continue;
        } else {
            bad_say(bulk, bulk->lines_of[from].number, &why);
            bulk->refused++;
            bulk->good--;
            from++;
            step = BEHIND_REFUSED;
        }
        to = bulk->count - from < step ? bulk->count : from + step;
    }
    return true;
}

static void chunk_clear(struct bulk *bulk) {
    for (size_t i = 0; i < bulk->count; i++)
        engine_spec_clear(&bulk->specs[i]);
    bulk->count = bulk->bytes = 0;
    arena_empty(&bulk->texts);
}

static bool intake_begin(struct bulk *bulk, struct error *error) {
    if (!engine_intake_begin(bulk->engine, &bulk->intake, bulk->good, error))
        return say_nothing(bulk, 0, error);
    bulk->first = bulk->intake.next;
    return true;
}

/* Into the intake, which begins with the first of several chunks. */
static bool chunk_write(struct bulk *bulk, struct error *error) {
    size_t refused = bulk->count;
    if (bulk->count == 0)
        return true;
    if (!bulk->intake.id && !intake_begin(bulk, error))
        return false;
    if (!(bulk->options->skip_bad ? specs_write_good(bulk, error)
                                  : specs_write(bulk, 0, bulk->count, &refused, error)))
        return say_nothing(bulk, refused < bulk->count ? bulk->lines_of[refused].number : 0, error);
    chunk_clear(bulk);
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

/* A chunk that is full is written before the next line is read: its texts go. */
static bool chunk_room(struct bulk *bulk, struct error *error) {
    bool last = bulk->receipt->count + (int64_t)bulk->count >= bulk->good;
    return (last ? bulk->count < JOBS_MAX : !chunk_full(bulk)) || chunk_write(bulk, error);
}

static void line_put(struct bulk *bulk, const struct kept_line *line) {
    bulk->specs[bulk->count] = line->spec;
    bulk->specs[bulk->count].answers = answers_find(&bulk->answers, bulk->again++);
    bulk->lines_of[bulk->count++] = (struct late){line->at, line->size, line->number, 0};
    bulk->bytes += line->size;
}

static bool line_write(struct bulk *bulk, struct error *error) {
    struct kept_line line;
    if (is_blank(bulk->lines.text) || line_is_bad(bulk))
        return true;
    if (!chunk_room(bulk, error))
        return false;
    if (!line_read(bulk, &bulk->texts, &line, error))
        return say_nothing(bulk, bulk->lines.number, error);
    line_put(bulk, &line);
    return true;
}

static bool kept_write(struct bulk *bulk, struct error *error) {
    for (size_t i = 0; i < bulk->kept.count; i++) {
        if (!chunk_room(bulk, error))
            return false;
        line_put(bulk, &bulk->kept.list[i]);
        bulk->kept.list[i].spec = (struct engine_spec){0};
    }
    bulk->bad_passed = bulk->kept.bad;
    return true;
}

static void late_note(struct bulk *bulk, const struct created *created) {
    size_t run = 0, place = 0;
    for (size_t i = 0; i < bulk->late_count; i++)
        receipt_change(bulk->receipt, &run, &place, bulk->late[i].place, &created[i]);
}

static json_t *answer(void *arg, const struct created *created, size_t count) {
    struct bulk *bulk = arg;
    struct error ignored = {0};
    if (bulk->intake.id)
        late_note(bulk, created);
    else if (!receipt_add(bulk->receipt, created, count, &ignored))
        return NULL;
    bulk->receipt->skipped = (int64_t)bulk->bad_count + bulk->refused;
    return receipt_answer(bulk->receipt);
}

/* All there is in one transaction, without an intake. *refused: some spec was. */
static bool write_at_once(struct bulk *bulk, bool *refused, struct error *error) {
    size_t which = bulk->count;
    bool done = engine_enqueue_once(bulk->engine, bulk->specs, bulk->count, bulk->created, &which,
                                    &bulk->request, error);
    *refused = !done && which < bulk->count && is_bad_line(error);
    if (done)
        return bulk->request.asked.key ||
               receipt_add(bulk->receipt, bulk->created, bulk->count, error);
    return say_nothing(bulk, *refused ? bulk->lines_of[which].number : 0, error);
}

/* The lines that replace jobs, read again. */
static bool late_read(struct bulk *bulk, struct error *error) {
    for (size_t i = 0; i < bulk->late_count; i++) {
        const struct late *late = &bulk->late[i];
        char *text = malloc(late->size + 1);
        if (!text)
            return error_no_memory(error);
        bool fine = lines_get(&bulk->lines, late->at, text, late->size, error) &&
                    text_read(bulk, &bulk->texts, text, late->size, &bulk->specs[i], error);
        free(text);
        if (!fine)
            return say_nothing(bulk, late->number, error);
        bulk->count++;
    }
    return true;
}

static bool write_end(struct bulk *bulk, struct error *error) {
    if (!chunk_write(bulk, error) || !late_read(bulk, error))
        return false;
    bool done = engine_intake_end(bulk->engine, &bulk->intake, bulk->specs, bulk->late_count,
                                  bulk->created, &bulk->request, error);
    if (!done)
        return say_nothing(bulk, 0, error);
    if (!bulk->request.asked.key)
        late_note(bulk, bulk->created);
    return true;
}

static bool lines_write(struct bulk *bulk, struct error *error) {
    bool refused = false;
    if (!kept_write(bulk, error))
        return false;
    while (lines_next(&bulk->lines, error))
        if (!line_write(bulk, error))
            return false;
    if (error->code != ERROR_NONE)
        return say_nothing(bulk, 0, error);
    if (bulk->intake.id)
        return write_end(bulk, error);
    if (write_at_once(bulk, &refused, error) || !refused || !bulk->options->skip_bad)
        return error->code == ERROR_NONE;
    error->code = ERROR_NONE;
    return write_end(bulk, error);
}

static void bulk_end(struct bulk *bulk) {
    progress_end(&bulk->progress);
    if (bulk->intake.id)
        engine_intake_abandon(bulk->engine, &bulk->intake);
    json_decref(bulk->request.found);
    lines_close(&bulk->lines);
    chunk_clear(bulk);
    arena_clear(&bulk->texts);
    kept_clear(&bulk->kept);
    answers_clear(&bulk->answers);
    free(bulk->bad);
    free(bulk);
}

/* How it is asked for belongs to what is asked for. */
static void bulk_hash(struct bulk *bulk) {
    const char flags[] = {'f', bulk->options->skip_bad ? '1' : '0',
                          bulk->options->unchecked ? '1' : '0'};
    SHA256Init(&bulk->hash);
    SHA256Update(&bulk->hash, (const uint8_t *)flags, sizeof flags);
}

/* Unless it was asked for before. */
static bool lines_enqueue(struct bulk *bulk, struct error *error) {
    struct engine_request *request = &bulk->request;
    SHA256End(&bulk->hash, bulk->hex);
    request->asked = (struct store_request){.key = bulk->options->request, .hash = bulk->hex};
    request->answer = answer;
    request->arg = bulk;
    if (!engine_request_find(bulk->engine, request, error))
        return false;
    if (!request->found &&
        (!lines_again(&bulk->lines, bulk->kept.end, error) || !lines_write(bulk, error)))
        return false;
    return !request->found || receipt_take(bulk->receipt, request->found, error);
}

bool bulk_enqueue(struct engine *engine, const struct bulk_options *options,
                  struct receipt *receipt, struct error *error) {
    struct bulk *bulk = calloc(1, sizeof *bulk);
    if (!bulk)
        return error_no_memory(error);
    bulk->engine = engine;
    bulk->options = options;
    bulk->receipt = receipt;
    bulk->progress.on = options->interactive;
    bulk_hash(bulk);
    error->code = ERROR_NONE;
    bool fine = lines_open(&bulk->lines, options->path, options->line_max, error) &&
                lines_check(bulk, error) && lines_enqueue(bulk, error);
    if (!bulk->request.found)
        receipt->skipped = (int64_t)bulk->bad_count + bulk->refused;
    bulk_end(bulk);
    return fine;
}
