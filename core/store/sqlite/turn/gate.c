#include "store/sqlite/turn/gate.h"
#include "base/clock.h"
#include "base/crash_point.h"
#include "store/rules/fleet/beside.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STAND_BACK 5000 /* microseconds */

static const struct timespec pause_span = {0, 200000};

static void gate_map(struct gate *gate, int rights) {
    void *map = mmap(NULL, sizeof *gate->page, rights, MAP_SHARED, gate->file, 0);
    gate->page = map == MAP_FAILED ? NULL : map;
}

bool gate_open(struct gate *gate, const char *path, struct error *error) {
    int file = beside_open(path, "-gate", O_RDWR | O_CREAT, error);
    gate->file = file < 0 ? -1 : file;
    if (file < 0)
        return false;
    /* Its room is taken now: a page that finds the disk full later would be a SIGBUS. */
    if (posix_fallocate(gate->file, 0, sizeof *gate->page) == 0)
        gate_map(gate, PROT_READ | PROT_WRITE);
    CRASH_POINT("gate_opened");
    return true;
}

void gate_look(struct gate *gate, const char *path) {
    struct stat is;
    if (gate->file >= 0)
        return;
    int file = beside_open(path, "-gate", O_RDONLY, NULL);
    gate->file = file < 0 ? -1 : file;
    gate->reads = true;
    if (file >= 0 && fstat(file, &is) == 0 && is.st_size >= (off_t)sizeof *gate->page)
        gate_map(gate, PROT_READ);
}

void gate_close(struct gate *gate) {
    if (gate->page)
        munmap(gate->page, sizeof *gate->page);
    if (gate->file >= 0)
        close(gate->file);
    *gate = (struct gate){.file = -1};
}

static struct flock gate_range(int64_t byte, int type) {
    return (struct flock){
        .l_type = (short)type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
}

bool gate_take(struct gate *gate, int64_t byte, bool exclusive) {
    struct flock range = gate_range(byte, exclusive ? F_WRLCK : F_RDLCK);
    return gate->file < 0 || fcntl(gate->file, F_OFD_SETLK, &range) == 0;
}

void gate_drop(struct gate *gate, int64_t byte) {
    struct flock range = gate_range(byte, F_UNLCK);
    if (gate->file >= 0)
        fcntl(gate->file, F_OFD_SETLK, &range);
}

bool gate_free(const struct gate *gate, int64_t byte) {
    struct flock range = gate_range(byte, F_WRLCK);
    if (gate->file < 0)
        return true;
    /* A test that fails proves nothing: the byte counts as held. */
    return fcntl(gate->file, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

uint32_t gate_turn(const struct gate *gate) {
    return gate->page ? atomic_load(&gate->page->turn) : 0;
}

void gate_wait(const struct gate *gate, uint32_t turn) {
    if (!gate->page) {
        sqlite_pause();
        return;
    }
    atomic_store(&gate->page->sleeping, 1); /* before the kernel compares the turn */
    syscall(SYS_futex, &gate->page->turn, FUTEX_WAIT, turn, &pause_span, NULL, 0);
}

void gate_ended(const struct gate *gate) {
    if (!gate->page)
        return;
    atomic_fetch_add(&gate->page->turn, 1);
    if (atomic_load(&gate->page->sleeping) && atomic_exchange(&gate->page->sleeping, 0))
        syscall(SYS_futex, &gate->page->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gate_queue(struct gate *gate) {
    if (gate->page)
        atomic_store(&gate->page->waiting, 1);
    gate->waits = gate_take(gate, GATE_WAITING, false);
}

void gate_unqueue(struct gate *gate) {
    if (gate->waits)
        gate_drop(gate, GATE_WAITING);
    gate->waits = false;
}

/* The page alone proves that none waits: the byte is asked for only if one has come since it was
 * free. One that comes while that is noted comes again in 0.2 ms. */
static bool is_queue_empty(const struct gate *gate) {
    if (gate->page && !atomic_load(&gate->page->waiting))
        return true;
    const bool empty = gate_free(gate, GATE_WAITING);
    if (gate->page && empty)
        atomic_store(&gate->page->waiting, 0);
    return empty;
}

bool gate_stand_back(const struct gate *gate) {
    int64_t until = 0;
    for (;;) {
        uint32_t turn = gate_turn(gate);
        if (is_queue_empty(gate))
            return until != 0;
        int64_t now = clock_monotonic_us();
        until = until ? until : now + STAND_BACK;
        if (now >= until)
            return true;
        gate_wait(gate, turn);
    }
}
