#include "store/sqlite/gate.h"
#include "base/crash_point.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAND_BACK 25 /* pauses: 5 ms */

void gate_pause(void) {
    nanosleep(&(struct timespec){0, 200000}, NULL);
}

int gate_open_beside(const char *path, const char *suffix, int flags) {
    char name[PATH_MAX];
    if ((size_t)snprintf(name, sizeof name, "%s%s", path, suffix) >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    struct stat store;
    mode_t mode = stat(path, &store) == 0 ? store.st_mode & 0666 : 0644;
    int file = open(name, flags | O_CLOEXEC, mode);
    /* As SQLite does for its own files: root must not lock the owner out. */
    if (file >= 0 && geteuid() == 0 && (flags & O_CREAT) && stat(path, &store) == 0)
        if (fchown(file, store.st_uid, store.st_gid) != 0)
            errno = 0;
    return file;
}

bool gate_open(struct gate *gate, const char *path, struct error *error) {
    gate->file = gate_open_beside(path, "-gate", O_RDWR | O_CREAT);
    if (gate->file < 0)
        return error_set(error, ERROR_IO, "store \"%s\": cannot open \"%s-gate\": %s", path, path,
                         strerror(errno));
    CRASH_POINT("gate_opened");
    return true;
}

void gate_close(struct gate *gate) {
    if (gate->file >= 0)
        close(gate->file);
    gate->file = -1;
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

void gate_stand_back(const struct gate *gate) {
    for (int i = 0; i < STAND_BACK && !gate_free(gate, GATE_WAITING); i++)
        gate_pause();
}
