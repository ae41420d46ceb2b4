#include "store/sqlite/tray.h"
#include "base/crash_point.h"
#include "store/sqlite/beside.h"
#include "store/sqlite/parcel.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRAY_MAGIC "moonshift tray "
#define ENTER_TRIES 1250 /* pauses: 250 ms */

/* Bytes of the file that are locked: one for each place, and */
enum {
    BYTE_ENTRANCE = TRAY_PLACES, /* held while a place is taken */
    BYTE_LEAD                    /* the right to write for all */
};

/* What becomes of a place's request, in the low bits of its word; the others are the ticket's. */
enum { WORD_FREE, WORD_ASKED, WORD_CALLED, WORD_DONE, WORD_STATES };

struct place {
    int64_t ticket;
    time_ms now;
    uint64_t size;
    struct tray_answer answer;
    unsigned char parcel[TRAY_PARCEL];
};

struct tray_map {
    struct {
        char magic[64];
        _Atomic uint32_t words[TRAY_PLACES];
        char unused[TRAY_PLACE - 64 - TRAY_PLACES * 4];
    } head;
    union {
        struct place place;
        char room[TRAY_PLACE];
    } places[TRAY_PLACES];
};

_Static_assert(sizeof(struct place) <= TRAY_PLACE, "a place has room for its request");
_Static_assert(sizeof(struct tray_map) == (TRAY_PLACES + 1) * TRAY_PLACE, "places are aligned");

/* ---- words ---- */

static _Atomic uint32_t *word_at(const struct tray *tray, int place) {
    return &tray->map->head.words[place];
}

static uint32_t word_of(int64_t ticket, uint32_t state) {
    return (uint32_t)ticket * WORD_STATES + state;
}

static bool word_move(struct tray *tray, int place, uint32_t from, uint32_t state) {
    uint32_t to = from - from % WORD_STATES + state;
    return atomic_compare_exchange_strong(word_at(tray, place), &from, to);
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
    snprintf(magic, 64, TRAY_MAGIC "%d %zu", PARCEL_LAYOUT, sizeof(struct job));
}

/* The room is taken now: a page that finds the disk full later would be a SIGBUS. */
static bool reserve(const struct gate *file, size_t from) {
    return posix_fallocate(file->file, (off_t)from, TRAY_PLACE) == 0;
}

static bool is_deserted(const struct gate *file) {
    for (int i = 0; i < TRAY_PLACES; i++)
        if (!gate_free(file, i))
            return false;
    return true;
}

/* Nothing is emptied that is not a tray, of whatever layout, or one that was never finished. */
static bool is_tray(const struct gate *file) {
    static const char nothing[sizeof TRAY_MAGIC - 1];
    char magic[sizeof nothing];
    ssize_t size = pread(file->file, magic, sizeof magic, 0);
    return size == 0 || (size == sizeof magic && (memcmp(magic, TRAY_MAGIC, sizeof magic) == 0 ||
                                                  memcmp(magic, nothing, sizeof magic) == 0));
}

static bool make(const struct gate *file) {
    char magic[64];
    magic_of(magic);
    return is_tray(file) && ftruncate(file->file, 0) == 0 &&
           ftruncate(file->file, sizeof(struct tray_map)) == 0 && reserve(file, 0) &&
           pwrite(file->file, magic, sizeof magic, 0) == sizeof magic;
}

/* Is it one of this layout? Another version's has another word. */
static bool is_ours(const struct gate *file) {
    char ours[64], magic[64];
    struct stat is;
    magic_of(ours);
    return fstat(file->file, &is) == 0 && is.st_size == sizeof(struct tray_map) &&
           pread(file->file, magic, sizeof magic, 0) == sizeof magic &&
           memcmp(magic, ours, sizeof magic) == 0;
}

static int take_place(struct gate *file) {
    for (int i = 0; i < TRAY_PLACES; i++)
        if (gate_take(file, i, true))
            return i;
    return -1;
}

/* With the entrance held. */
static bool enter(struct tray *tray) {
    struct gate *file = &tray->file;
    if (is_deserted(file) ? !make(file) : !is_ours(file))
        return false;
    tray->place = take_place(file);
    if (tray->place < 0 || !reserve(file, (size_t)(tray->place + 1) * TRAY_PLACE) ||
        getrandom(&tray->ticket, sizeof tray->ticket, 0) != sizeof tray->ticket)
        return false;
    void *map = mmap(NULL, sizeof *tray->map, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    if (map == MAP_FAILED)
        return false;
    tray->map = map;
    tray->ticket &= INT64_MAX >> 1; /* room to count */
    tray_withdraw(tray);
    return true;
}

bool tray_open(struct tray *tray, const char *path, struct error *error) {
    if (tray->map || tray->unusable)
        return tray->map != NULL;
    int file = beside_open(path, "-tray", O_RDWR | O_CREAT, error);
    tray->file.file = file < 0 ? -1 : file;
    tray->foreign = file == BESIDE_FOREIGN;
    if (tray->foreign)
        return false;
    tray->unusable = file < 0;
    int tries = 0;
    while (!tray->unusable && !gate_take(&tray->file, BYTE_ENTRANCE, true)) {
        tray->unusable = ++tries == ENTER_TRIES;
        gate_pause();
    }
    tray->unusable = tray->unusable || !enter(tray);
    if (tray->unusable) {
        gate_close(&tray->file);
        return false;
    }
    gate_drop(&tray->file, BYTE_ENTRANCE);
    CRASH_POINT("tray_entered");
    return true;
}

void tray_close(struct tray *tray) {
    if (!tray->map)
        return;
    tray_withdraw(tray);
    munmap(tray->map, sizeof *tray->map);
    gate_close(&tray->file);
    *tray = (struct tray){0};
}

/* ---- those that ask ---- */

bool tray_ask(struct tray *tray, const struct job *job, time_ms now) {
    struct place *place = &tray->map->places[tray->place].place;
    place->size = parcel_pack(job, place->parcel, sizeof place->parcel);
    place->now = now;
    place->ticket = ++tray->ticket;
    if (!place->size)
        return false;
    atomic_store(word_at(tray, tray->place), word_of(tray->ticket, WORD_ASKED));
    CRASH_POINT("tray_asked");
    return true;
}

bool tray_wait(struct tray *tray, int wait) {
    _Atomic uint32_t *word = word_at(tray, tray->place);
    uint32_t asked = word_of(tray->ticket, WORD_ASKED);
    word_wait(word, asked, wait);
    word_move(tray, tray->place, word_of(tray->ticket, WORD_CALLED), WORD_ASKED);
    return tray_answered(tray);
}

bool tray_answered(const struct tray *tray) {
    return atomic_load(word_at(tray, tray->place)) == word_of(tray->ticket, WORD_DONE);
}

void tray_withdraw(struct tray *tray) {
    atomic_store(word_at(tray, tray->place), word_of(tray->ticket, WORD_FREE));
}

/* ---- the one that leads ---- */

bool tray_lead(struct tray *tray) {
    return gate_take(&tray->file, BYTE_LEAD, true);
}

/* Whoever asks after this look finds that nobody leads. */
static void call(struct tray *tray) {
    for (int i = 1; i < TRAY_PLACES; i++) {
        int place = (tray->place + i) % TRAY_PLACES;
        uint32_t word = atomic_load(word_at(tray, place));
        if (word % WORD_STATES == WORD_CALLED)
            return;
        if (word % WORD_STATES != WORD_ASKED || !word_move(tray, place, word, WORD_CALLED))
            continue;
        word_wake(word_at(tray, place));
        return;
    }
}

void tray_leave(struct tray *tray) {
    gate_drop(&tray->file, BYTE_LEAD);
    call(tray);
}

bool tray_waits(const struct tray *tray, int place, uint32_t word) {
    uint32_t now = atomic_load(word_at(tray, place)), state = now % WORD_STATES;
    return now - state == word - word % WORD_STATES &&
           (state == WORD_ASKED || state == WORD_CALLED);
}

bool tray_read(struct tray *tray, int place, struct tray_request *request) {
    const struct place *from = &tray->map->places[place].place;
    uint32_t word = atomic_load(word_at(tray, place));
    if (!tray_waits(tray, place, word))
        return false;
    if (place != tray->place && gate_free(&tray->file, place)) {
        word_move(tray, place, word, WORD_FREE); /* of a process that is gone */
        return false;
    }
    request->place = place;
    request->word = word;
    request->ticket = from->ticket;
    request->now = from->now;
    request->size = from->size;
    if (request->size > sizeof request->parcel)
        return false;
    memcpy(request->parcel, from->parcel, request->size);
    return tray_waits(tray, place, word) &&
           word_of(request->ticket, 0) == word - word % WORD_STATES;
}

struct tray_answer *tray_answer(struct tray *tray, int place) {
    return &tray->map->places[place].place.answer;
}

void tray_mark(struct tray *tray, int place, uint32_t word) {
    if (!word_move(tray, place, word - word % WORD_STATES + WORD_ASKED, WORD_DONE) &&
        !word_move(tray, place, word - word % WORD_STATES + WORD_CALLED, WORD_DONE))
        return;
    if (place != tray->place)
        word_wake(word_at(tray, place));
}
