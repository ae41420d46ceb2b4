#include "store/sqlite/beside/mailbox.h"
#include "base/crash_point.h"
#include "store/rules/fleet/beside.h"
#include "store/sqlite/beside/unit_letter.h"
#include "store/sqlite/db/codec.h"
#include "store/sqlite/db/rules_pack.h"
#include "store/sqlite/turn/gate.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAILBOX_MAGIC "moonshift tray "
#define ENTER_TRIES 1250 /* pauses: 250 ms */

/* Bytes of the file that are locked: one for each place, and */
enum {
    BYTE_ENTRANCE = MAILBOX_PLACES, /* held while a place is taken */
    BYTE_LEAD                       /* the right to write for all */
};

/* What becomes of a place's request, in the low bits of its word; the others are the ticket's. */
enum { WORD_FREE, WORD_ASKED, WORD_CALLED, WORD_WRITTEN, WORD_DONE, WORD_STATES = 8 };

struct place {
    int64_t ticket;
    time_ms now;
    uint64_t size;
    enum mailbox_kind kind;
    struct mailbox_answer answer;
    unsigned char letter[MAILBOX_LETTER];
};

struct mailbox_map {
    struct {
        char magic[64];
        _Atomic uint32_t words[MAILBOX_PLACES];
        char unused[MAILBOX_PLACE - 64 - MAILBOX_PLACES * 4];
    } head;
    union {
        struct place place;
        char room[MAILBOX_PLACE];
    } places[MAILBOX_PLACES];
};

_Static_assert(sizeof(struct place) <= MAILBOX_PLACE, "a place has room for its request");
_Static_assert(sizeof(struct mailbox_map) == (MAILBOX_PLACES + 1) * MAILBOX_PLACE,
               "places are aligned");

/* ---- words ---- */

static _Atomic uint32_t *word_at(const struct mailbox *mailbox, int place) {
    return &mailbox->map->head.words[place];
}

static uint32_t word_of(int64_t ticket, uint32_t state) {
    return (uint32_t)ticket * WORD_STATES + state;
}

static bool word_move(struct mailbox *mailbox, int place, uint32_t from, uint32_t state) {
    uint32_t to = from - from % WORD_STATES + state;
    return atomic_compare_exchange_strong(word_at(mailbox, place), &from, to);
}

static void word_wait(_Atomic uint32_t *word, uint32_t value, int wait) {
    struct timespec most = {wait / 1000, wait % 1000 * 1000000L};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void word_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- opening ---- */

static void magic_of(char magic[64]) {
    memset(magic, 0, 64);
    snprintf(magic, 64, MAILBOX_MAGIC "%u %u %u %zu", codec_layout(), unit_letter_layout(),
             rules_layout(), offsetof(struct place, letter));
}

/* The room is taken now: a page that finds the disk full later would be a SIGBUS. */
static bool reserve(const struct gate *file, size_t from) {
    return posix_fallocate(file->file, (off_t)from, MAILBOX_PLACE) == 0;
}

static bool is_deserted(const struct gate *file) {
    for (int i = 0; i < MAILBOX_PLACES; i++)
        if (!gate_free(file, i))
            return false;
    return true;
}

/* Nothing is emptied that is not a mailbox, of whatever layout, or one that was never finished. */
static bool is_mailbox(const struct gate *file) {
    static const char nothing[sizeof MAILBOX_MAGIC - 1];
    char magic[sizeof nothing];
    ssize_t size = pread(file->file, magic, sizeof magic, 0);
    return size == 0 || (size == sizeof magic && (memcmp(magic, MAILBOX_MAGIC, sizeof magic) == 0 ||
                                                  memcmp(magic, nothing, sizeof magic) == 0));
}

static bool make(const struct gate *file) {
    char magic[64];
    magic_of(magic);
    return is_mailbox(file) && ftruncate(file->file, 0) == 0 &&
           ftruncate(file->file, sizeof(struct mailbox_map)) == 0 && reserve(file, 0) &&
           pwrite(file->file, magic, sizeof magic, 0) == sizeof magic;
}

/* Is it one of this layout? Another version's has another word. */
static bool is_ours(const struct gate *file) {
    char ours[64], magic[64];
    struct stat is;
    magic_of(ours);
    return fstat(file->file, &is) == 0 && is.st_size == sizeof(struct mailbox_map) &&
           pread(file->file, magic, sizeof magic, 0) == sizeof magic &&
           memcmp(magic, ours, sizeof magic) == 0;
}

static int take_place(struct gate *file) {
    for (int i = 0; i < MAILBOX_PLACES; i++)
        if (gate_take(file, i, true))
            return i;
    return -1;
}

/* With the entrance held. */
static bool enter(struct mailbox *mailbox) {
    struct gate *file = &mailbox->file;
    if (is_deserted(file) ? !make(file) : !is_ours(file))
        return false;
    mailbox->place = take_place(file);
    if (mailbox->place < 0 || !reserve(file, (size_t)(mailbox->place + 1) * MAILBOX_PLACE) ||
        getrandom(&mailbox->ticket, sizeof mailbox->ticket, 0) != sizeof mailbox->ticket)
        return false;
    void *map = mmap(NULL, sizeof *mailbox->map, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    if (map == MAP_FAILED)
        return false;
    mailbox->map = map;
    mailbox->ticket &= INT64_MAX >> 1; /* room to count */
    mailbox_withdraw(mailbox);
    return true;
}

bool mailbox_open(struct mailbox *mailbox, const char *path, struct error *error) {
    if (mailbox->map || mailbox->unusable)
        return mailbox->map != NULL;
    int file = beside_open(path, "-tray", O_RDWR | O_CREAT, error);
    mailbox->file.file = file < 0 ? -1 : file;
    mailbox->foreign = file == BESIDE_FOREIGN;
    if (mailbox->foreign)
        return false;
    mailbox->unusable = file < 0;
    int tries = 0;
    while (!mailbox->unusable && !gate_take(&mailbox->file, BYTE_ENTRANCE, true)) {
        mailbox->unusable = ++tries == ENTER_TRIES;
        sqlite_pause();
    }
    mailbox->unusable = mailbox->unusable || !enter(mailbox);
    if (mailbox->unusable) {
        gate_close(&mailbox->file);
        return false;
    }
    gate_drop(&mailbox->file, BYTE_ENTRANCE);
    CRASH_POINT("tray_entered");
    return true;
}

void mailbox_close(struct mailbox *mailbox) {
    if (!mailbox->map)
        return;
    mailbox_withdraw(mailbox);
    munmap(mailbox->map, sizeof *mailbox->map);
    gate_close(&mailbox->file);
    *mailbox = (struct mailbox){0};
}

/* ---- those that ask ---- */

static struct place *own_place(const struct mailbox *mailbox) {
    return &mailbox->map->places[mailbox->place].place;
}

static struct packer letter_begin(const struct mailbox *mailbox, const struct write_rules *rules) {
    struct place *place = own_place(mailbox);
    struct packer to = {(char *)place->letter, sizeof place->letter, false};
    rules_pack(&to, rules);
    return to;
}

/* The letter is written. */
static bool letter_ask(struct mailbox *mailbox, enum mailbox_kind kind, const struct packer *letter,
                       time_ms now) {
    struct place *place = own_place(mailbox);
    place->kind = kind;
    place->size = sizeof place->letter - letter->left;
    place->now = now;
    place->ticket = ++mailbox->ticket;
    if (letter->full)
        return false;
    atomic_store(word_at(mailbox, mailbox->place), word_of(mailbox->ticket, WORD_ASKED));
    CRASH_POINT("tray_asked");
    return true;
}

bool mailbox_ask(struct mailbox *mailbox, const struct job_spec *spec,
                 const struct write_rules *rules, time_ms now) {
    struct packer letter = letter_begin(mailbox, rules);
    codec_pack(&letter, spec);
    return letter_ask(mailbox, MAILBOX_JOB, &letter, now);
}

bool mailbox_ask_unit(struct mailbox *mailbox, const struct outcome *outcome,
                      const struct store_entry *entry, const struct write_rules *rules,
                      time_ms now) {
    struct packer letter = letter_begin(mailbox, rules);
    unit_letter_pack(&letter, outcome, entry);
    return letter_ask(mailbox, MAILBOX_UNIT, &letter, now);
}

bool mailbox_wait(struct mailbox *mailbox, int wait) {
    uint32_t state = mailbox_written(mailbox) ? WORD_WRITTEN : WORD_ASKED;
    word_wait(word_at(mailbox, mailbox->place), word_of(mailbox->ticket, state), wait);
    word_move(mailbox, mailbox->place, word_of(mailbox->ticket, WORD_CALLED), WORD_ASKED);
    return mailbox_answered(mailbox);
}

static bool is_own_word(const struct mailbox *mailbox, uint32_t state) {
    return atomic_load(word_at(mailbox, mailbox->place)) == word_of(mailbox->ticket, state);
}

bool mailbox_answered(const struct mailbox *mailbox) {
    return is_own_word(mailbox, WORD_DONE);
}

bool mailbox_asks(const struct mailbox *mailbox) {
    return mailbox_waits(mailbox, mailbox->place, word_of(mailbox->ticket, WORD_ASKED));
}

bool mailbox_written(const struct mailbox *mailbox) {
    return is_own_word(mailbox, WORD_WRITTEN);
}

bool mailbox_orphaned(const struct mailbox *mailbox) {
    int writer = own_place(mailbox)->answer.writer;
    return mailbox_written(mailbox) && writer != mailbox->place &&
           gate_free(&mailbox->file, writer);
}

void mailbox_withdraw(struct mailbox *mailbox) {
    atomic_store(word_at(mailbox, mailbox->place), word_of(mailbox->ticket, WORD_FREE));
}

/* ---- the one that leads ---- */

bool mailbox_lead(struct mailbox *mailbox) {
    return gate_take(&mailbox->file, BYTE_LEAD, true);
}

/* Calls one process that asks. A process that asks after this look finds that none leads. */
static void call(struct mailbox *mailbox) {
    for (unsigned i = 1; i < MAILBOX_PLACES; i++) {
        int place = (int)(((unsigned)mailbox->place + i) % MAILBOX_PLACES);
        uint32_t word = atomic_load(word_at(mailbox, place));
        if (word % WORD_STATES == WORD_CALLED)
            return;
        if (word % WORD_STATES != WORD_ASKED || !word_move(mailbox, place, word, WORD_CALLED))
            continue;
        word_wake(word_at(mailbox, place));
        return;
    }
}

void mailbox_leave(struct mailbox *mailbox) {
    gate_drop(&mailbox->file, BYTE_LEAD);
    call(mailbox);
}

bool mailbox_waits(const struct mailbox *mailbox, int place, uint32_t word) {
    uint32_t now = atomic_load(word_at(mailbox, place)), state = now % WORD_STATES;
    return now - state == word - word % WORD_STATES &&
           (state == WORD_ASKED || state == WORD_CALLED);
}

int mailbox_next(const struct mailbox *mailbox, int place) {
    for (; place < MAILBOX_PLACES; place++) {
        uint32_t state = atomic_load(word_at(mailbox, place)) % WORD_STATES;
        if (state == WORD_ASKED || state == WORD_CALLED)
            break;
    }
    return place;
}

bool mailbox_read(struct mailbox *mailbox, int place, struct mailbox_request *request) {
    const struct place *from = &mailbox->map->places[place].place;
    uint32_t word = atomic_load(word_at(mailbox, place));
    if (!mailbox_waits(mailbox, place, word))
        return false;
    if (place != mailbox->place && gate_free(&mailbox->file, place)) {
        word_move(mailbox, place, word, WORD_FREE); /* of a process that is gone */
        return false;
    }
    request->place = place;
    request->word = word;
    request->ticket = from->ticket;
    request->now = from->now;
    request->kind = from->kind;
    request->size = from->size;
    if (request->size > sizeof request->letter)
        return false;
    memcpy(request->letter, from->letter, request->size);
    return mailbox_waits(mailbox, place, word) &&
           word_of(request->ticket, 0) == word - word % WORD_STATES;
}

struct mailbox_answer *mailbox_answer(struct mailbox *mailbox, int place) {
    return &mailbox->map->places[place].place.answer;
}

void mailbox_mark_written(struct mailbox *mailbox, int place, uint32_t word) {
    uint32_t free = word - word % WORD_STATES;
    if (!word_move(mailbox, place, free + WORD_ASKED, WORD_WRITTEN))
        word_move(mailbox, place, free + WORD_CALLED, WORD_WRITTEN);
}

void mailbox_mark(struct mailbox *mailbox, int place, uint32_t word) {
    mailbox_mark_written(mailbox, place, word);
    if (word_move(mailbox, place, word - word % WORD_STATES + WORD_WRITTEN, WORD_DONE) &&
        place != mailbox->place)
        word_wake(word_at(mailbox, place));
}
