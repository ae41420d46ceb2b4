#include "run/notes.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "run/thread.h"
#include <stdlib.h>
#include <string.h>

enum { IDS_AHEAD = 1024, PROGRESS_WAIT = 200, PROGRESS_TEXT_MAX = 1024 };

enum note_stage { NOTE_WAITS, NOTE_TAKEN, NOTE_DONE };

/* Progress is freed by whoever writes it, an extension lives on its worker's stack. */
struct note {
    struct note *next;
    int64_t job, token;
    bool extends;
    enum note_stage stage;
    time_ms until; /* of an extension */
    bool refused;  /* the same: `error` says why */
    struct error error;
    double fraction; /* of progress */
    char *text;      /* the same; may be NULL */
};

struct range {
    int64_t next, end; /* empty if equal */
};

struct notes {
    struct mutex mutex; /* guards everything below */
    struct condition done;
    void (*wake)(void *arg);
    void *arg;
    struct note *list;  /* waiting, oldest first */
    struct note *taken; /* in the turn's transaction */
    struct range ids, spare;
    int64_t drawn; /* first id reserved by the open transaction; 0: none */
    bool ids_asked, ids_fresh, closed;
    time_ms due;
};

struct notes *notes_new(void (*wake)(void *arg), void *arg) {
    struct notes *notes = calloc(1, sizeof *notes);
    if (!notes)
        return NULL;
    mutex_init(&notes->mutex);
    condition_init(&notes->done);
    notes->wake = wake;
    notes->arg = arg;
    notes->due = TIME_NEVER;
    return notes;
}

static void note_free(struct note *note) {
    free(note->text);
    free(note);
}

/* Extensions belong to their workers, who are gone by now. */
static void list_free(struct note *note) {
    while (note) {
        struct note *next = note->next;
        if (!note->extends)
            note_free(note);
        note = next;
    }
}

void notes_free(struct notes *notes) {
    if (!notes)
        return;
    list_free(notes->list);
    list_free(notes->taken);
    condition_free(&notes->done);
    mutex_free(&notes->mutex);
    free(notes);
}

static bool closed(struct error *error) {
    return error_set(error, ERROR_CLOSED, "the executor is stopping");
}

static void append(struct note **list, struct note *note) {
    while (*list)
        list = &(*list)->next;
    *list = note;
}

/* Something must be written by the monotonic instant `due`. The mutex is held. */
static void ask(struct notes *notes, time_ms due) {
    if (due >= notes->due)
        return;
    notes->due = due;
    notes->wake(notes->arg);
}

static void ask_for_ids(struct notes *notes) {
    if (notes->ids_asked || notes->spare.next != notes->spare.end)
        return;
    notes->ids_asked = true;
    ask(notes, 0);
}

int64_t notes_next_id(struct notes *notes, struct error *error) {
    int64_t id = 0;
    mutex_lock(&notes->mutex);
    while (notes->ids.next == notes->ids.end && !notes->closed) {
        ask_for_ids(notes);
        condition_wait(&notes->done, &notes->mutex);
    }
    if (notes->closed) {
        closed(error);
    } else {
        id = notes->ids.next++;
        if (notes->ids.next == notes->ids.end) {
            notes->ids = notes->spare;
            notes->spare = (struct range){0, 0};
        }
        if (notes->ids.end - notes->ids.next < IDS_AHEAD / 2)
            ask_for_ids(notes);
    }
    mutex_unlock(&notes->mutex);
    return id;
}

static void withdraw(struct note **list, struct note *note) {
    while (*list && *list != note)
        list = &(*list)->next;
    if (*list)
        *list = note->next;
}

bool notes_extend(struct notes *notes, int64_t job, int64_t token, time_ms until,
                  struct error *error) {
    struct note note = {.job = job, .token = token, .extends = true, .until = until};
    mutex_lock(&notes->mutex);
    append(&notes->list, &note);
    ask(notes, 0);
    while (note.stage == NOTE_TAKEN || (note.stage == NOTE_WAITS && !notes->closed))
        condition_wait(&notes->done, &notes->mutex);
    if (note.stage == NOTE_WAITS)
        withdraw(&notes->list, &note);
    mutex_unlock(&notes->mutex);
    if (note.stage == NOTE_WAITS)
        return closed(error);
    if (note.refused && error)
        *error = note.error;
    return !note.refused;
}

static struct note *progress_of(struct notes *notes, int64_t job) {
    for (struct note *note = notes->list; note; note = note->next)
        if (note->job == job && !note->extends)
            return note;
    struct note *note = calloc(1, sizeof *note);
    if (note)
        append(&notes->list, note);
    return note;
}

bool notes_progress(struct notes *notes, int64_t job, double fraction, const char *text,
                    struct error *error) {
    char *copy = text ? utf8_clean(text, strlen(text), PROGRESS_TEXT_MAX) : NULL;
    mutex_lock(&notes->mutex);
    struct note *note = notes->closed ? NULL : progress_of(notes, job);
    bool refused = notes->closed;
    if (note) {
        note->job = job;
        note->fraction = fraction;
        free(note->text);
        note->text = copy;
        ask(notes, clock_monotonic() + PROGRESS_WAIT);
    }
    mutex_unlock(&notes->mutex);
    if (note)
        return true;
    free(copy);
    return refused ? closed(error) : error_set(error, ERROR_FAILED, "out of memory");
}

time_ms notes_due(struct notes *notes) {
    mutex_lock(&notes->mutex);
    time_ms due = notes->due;
    mutex_unlock(&notes->mutex);
    return due;
}

static bool write_note(struct note *note, struct store *store, time_ms now, struct error *error) {
    if (!note->extends)
        return store_progress(store, note->job, note->fraction, note->text, now, error);
    struct error refusal = {0};
    note->refused = !store_extend(store, note->job, note->token, note->until, &refusal);
    note->error = refusal;
    if (!note->refused || refusal.code == ERROR_CONFLICT || refusal.code == ERROR_INVALID)
        return true;
    return error_set(error, refusal.code, "%s", refusal.text);
}

bool notes_write(struct notes *notes, struct store *store, time_ms now, struct error *error) {
    mutex_lock(&notes->mutex);
    struct note *note = notes->taken = notes->list;
    bool ids_asked = notes->ids_asked;
    notes->list = NULL;
    notes->due = TIME_NEVER;
    for (struct note *each = note; each; each = each->next)
        each->stage = NOTE_TAKEN;
    mutex_unlock(&notes->mutex);
    for (; note; note = note->next)
        if (!write_note(note, store, now, error) || !CRASH_POINT("note_written"))
            return false;
    if (ids_asked)
        notes->drawn = store_reserve_ids(store, IDS_AHEAD, error);
    return !ids_asked || notes->drawn > 0;
}

static void add_ids(struct notes *notes) {
    struct range drawn = {notes->drawn, notes->drawn + IDS_AHEAD};
    if (notes->ids.next == notes->ids.end)
        notes->ids = drawn;
    else
        notes->spare = drawn;
    notes->ids_asked = false;
    notes->ids_fresh = true;
}

/* Puts the taken ones back in front, so that the next turn writes them first. */
static void put_back(struct notes *notes) {
    struct note *newer = notes->list;
    for (struct note *note = notes->taken; note; note = note->next)
        note->stage = NOTE_WAITS;
    notes->list = notes->taken;
    append(&notes->list, newer);
    notes->due = 0;
}

static void finish(struct notes *notes) {
    struct note *next;
    for (struct note *note = notes->taken; note; note = next) {
        next = note->next;
        note->stage = NOTE_DONE;
        if (!note->extends)
            note_free(note);
    }
}

void notes_done(struct notes *notes, bool committed) {
    mutex_lock(&notes->mutex);
    if (!committed && (notes->taken || notes->ids_asked))
        put_back(notes);
    if (committed)
        finish(notes);
    if (committed && notes->drawn > 0)
        add_ids(notes);
    notes->taken = NULL;
    notes->drawn = 0;
    condition_broadcast(&notes->done);
    mutex_unlock(&notes->mutex);
}

void notes_tick(struct notes *notes) {
    mutex_lock(&notes->mutex);
    if (!notes->ids_fresh)
        notes->ids = notes->spare = (struct range){0, 0};
    notes->ids_fresh = false;
    mutex_unlock(&notes->mutex);
}

void notes_close(struct notes *notes) {
    mutex_lock(&notes->mutex);
    notes->closed = true;
    condition_broadcast(&notes->done);
    mutex_unlock(&notes->mutex);
}
