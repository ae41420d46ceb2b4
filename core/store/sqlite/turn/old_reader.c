#include "store/sqlite/turn/old_reader.h"
#include "base/json.h"
#include "store/sqlite/db/log_index.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { FRAMES_USUAL = 3000 }; /* a busy executor's checkpoints are so far apart */

struct reader {
    int place;
    int64_t frames; /* that it holds back; 0: there is none */
};

/* The times of a file are not asked for: see intact.c. */
static bool file_look(const struct store *store, const char *suffix, struct statx *is) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s", sqlite_of(store)->path, suffix);
    return statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_SIZE, is) == 0;
}

/* Who reads no frame sees the database, into which nothing can be put meanwhile. */
static int64_t frames_held(const struct index_head *head, const struct index_readers *readers,
                           int place) {
    uint32_t seen = place == 0 ? readers->filed : readers->marks[place];
    return seen < head->frames ? (int64_t)head->frames - seen : 0;
}

static struct reader reader_find(struct store *store, const struct index_head *head) {
    struct index_readers readers;
    struct reader found = {0};
    if (!index_readers(store, &readers))
        return found;
    for (int i = 0; i < READERS; i++) {
        int64_t frames = frames_held(head, &readers, i);
        if (frames > FRAMES_USUAL && frames > found.frames && index_is_held(store, i))
            found = (struct reader){i, frames};
    }
    return found;
}

/* The process that has locked this byte of the index, as the system lists it; 0: not known. */
static int process_find(const struct store *store, int byte) {
    struct statx is;
    FILE *locks = fopen("/proc/locks", "r");
    char line[256];
    int found = 0;
    bool known = locks && file_look(store, "-shm", &is);
    while (known && !found && fgets(line, sizeof line, locks)) {
        unsigned major, minor;
        unsigned long long inode;
        long long from, to;
        int process;
        if (sscanf(line, "%*d: POSIX %*s READ %d %x:%x:%llu %lld %lld", &process, &major, &minor,
                   &inode, &from, &to) == 6 &&
            major == is.stx_dev_major && minor == is.stx_dev_minor && inode == is.stx_ino &&
            from <= byte && byte <= to)
            found = process;
    }
    if (locks)
        fclose(locks);
    return found;
}

static bool put_process(json_t *log, int process) {
    char name[64], text[64] = "";
    snprintf(name, sizeof name, "/proc/%d/comm", process);
    FILE *file = process > 0 ? fopen(name, "r") : NULL;
    if (file && fgets(text, sizeof text, file))
        text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
    return json_put(log, "process", process > 0 ? json_integer(process) : NULL) &&
           json_put_text(log, "program", text[0] ? text : NULL);
}

/* Monotonic: since when no checkpoint of a live executor came to its end; 0: not known. */
static bool since_find(struct store *store, time_ms *since, struct error *error) {
    struct row *rows = db_query(&store->db, error, "SELECT id FROM executor WHERE state<>?1", "n",
                                (int)EXECUTOR_GONE);
    enum answer step = FAILED;
    *since = 0;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        int64_t id = row_int(rows, 0);
        bool lives = id == store->self.id || !store->engine->has_died(store, id);
        struct slots_name slots = slots_beside(sqlite_of(store)->path, id);
        if (!*since && lives)
            *since = slots_held(&slots);
    }
    return step == NO;
}

static bool put_reader(struct store *store, const struct reader *reader, int64_t page, json_t *log,
                       struct error *error) {
    time_ms since;
    if (!since_find(store, &since, error))
        return false;
    int64_t bytes = reader->frames * (page + FRAME_HEAD);
    double age = (double)(clock_monotonic() - since) / 1000;
    return (json_put(log, "held_bytes", json_integer(bytes)) &&
            json_put(log, "held_age", since ? json_real(age) : NULL) &&
            put_process(log, process_find(store, index_lock(reader->place)))) ||
           db_no_memory(&store->db, error);
}

json_t *held_tell(struct store *store, struct error *error) {
    struct statx is = {0};
    struct index_head head;
    if (!sqlite_of(store)->path)
        return json_null();
    json_t *log = json_object();
    file_look(store, "-wal", &is);
    if (!log || !json_put(log, "bytes", json_integer((json_int_t)is.stx_size))) {
        json_decref(log);
        return error_null(db_no_memory(&store->db, error));
    }
    struct reader reader = {0};
    if (index_read(store, &head))
        reader = reader_find(store, &head);
    if (reader.frames == 0 || put_reader(store, &reader, index_page(&head), log, error))
        return log;
    json_decref(log);
    return NULL;
}
