/* mailbox_crowd.h - processes that create one job at a time, what each was answered, and whether
 * that is so. For the contracts of the mailbox. */
#ifndef MOONSHIFT_SPEC_MAILBOX_CROWD_H
#define MOONSHIFT_SPEC_MAILBOX_CROWD_H

#include "../../contract.h"
#include "store/sqlite/beside/mailbox.h"
#include "store/store.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { CROWD = 16, CALLS = 200, LIVES = 80, LARGE = 7000, HANGS = 600, SLOW = 5000, FAST = 20 };

/* What a client knows of one call. */
struct call {
    bool made, answered, fine;
    enum creation creation;
    enum error_code code;
    int64_t id;     /* of the job, or of the one that has the key */
    int64_t there;  /* read from the store: the job's id */
    int times;      /* and how many of it there are */
    char text[120]; /* of the error */
};

/* Memory that all processes share. */
struct crowd {
    struct call calls[LIVES][CALLS];
};

static inline struct crowd *crowd_new(void) {
    void *map =
        mmap(NULL, sizeof(struct crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static inline bool is_keyed(int call) {
    return call % 4 == 1 || call % 4 == 3;
}

static inline void call(struct store *store, struct call *call, int life, int number) {
    static char large[LARGE];
    char instance[32], key[32], payload[32];
    struct error error = {ERROR_NONE, ""};
    snprintf(instance, sizeof instance, "%d-%d", life, number);
    snprintf(key, sizeof key, "k%d", number);
    snprintf(payload, sizeof payload, "{\"n\":%d}", number);
    memset(large, '1', sizeof large);
    bool is_large = number % 8 == 6;
    struct job_spec spec = {
        .job = {.handler = number % 16 == 4 ? instance : "work", /* a stream of its own */
                .instance = instance,
                .retries = 3,
                .due = TIME_NONE,
                .unique_key = is_keyed(number) ? key : NULL,
                .payload = is_large ? large : payload,
                .payload_size = is_large ? LARGE : strlen(payload)},
        .on_conflict = number % 4 == 1 ? ON_CONFLICT_KEEP : ON_CONFLICT_REFUSE};
    call->made = true;
    call->fine = store_enqueue(store, &spec, NOW, &error);
    call->creation = spec.reply.creation;
    call->code = error.code;
    call->id = spec.reply.id;
    snprintf(call->text, sizeof call->text, "%.100s", error.text);
    call->answered = true;
}

/* Each sync of it takes so many ms longer. */
static inline pid_t client(struct contract *c, struct crowd *crowd, int life, int64_t longer) {
    pid_t child = fork();
    if (child != 0)
        return child;
    alarm(HANGS);
    if (longer && !store_writes_start(longer, &c->error))
        _exit(1);
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    for (int i = 0; store && i < CALLS; i++)
        call(store, &crowd->calls[life][i], life, i);
    store_close(store);
    _exit(store ? 0 : 1);
}

/* ---- what is there ---- */

static inline const char *store_file(const struct contract *c) {
    return c->url + sizeof "sqlite:" - 1;
}

static inline bool look(struct contract *c, struct crowd *crowd) {
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    bool fine =
        sqlite3_open(store_file(c), &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT id, instance FROM job", -1, &rows, NULL) == SQLITE_OK;
    while (fine && sqlite3_step(rows) == SQLITE_ROW) {
        int life = 0, number = 0;
        fine = sscanf((const char *)sqlite3_column_text(rows, 1), "%d-%d", &life, &number) == 2;
        if (!fine || life >= LIVES || number >= CALLS)
            break;
        crowd->calls[life][number].there = sqlite3_column_int64(rows, 0);
        crowd->calls[life][number].times++;
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return fine;
}

/* The job that has the key of this call; 0: none. */
static inline int64_t holder(const struct crowd *crowd, int number) {
    int64_t id = 0;
    for (int life = 0; life < LIVES; life++)
        if (crowd->calls[life][number].times)
            id = id ? -1 : crowd->calls[life][number].there;
    return id;
}

static inline bool is_right(const struct crowd *crowd, int life, int number) {
    const struct call *call = &crowd->calls[life][number];
    char refusal[120];
    if (!call->made)
        return call->times == 0;
    if (!call->answered) /* killed */
        return call->times <= 1;
    if (call->fine && call->creation == CREATION_CREATED)
        return call->times == 1 && call->there == call->id;
    if (call->fine)
        return is_keyed(number) && call->creation == CREATION_KEPT && call->times == 0 &&
               call->id == holder(crowd, number);
    snprintf(refusal, sizeof refusal, "unique \"k%d\" of \"work\" is held by job %lld", number,
             (long long)holder(crowd, number));
    return number % 4 == 3 && call->times == 0 && call->code == ERROR_CONFLICT &&
           strcmp(call->text, refusal) == 0;
}

static inline bool all_right(struct contract *c, const struct crowd *crowd) {
    for (int life = 0; life < LIVES; life++)
        for (int number = 0; number < CALLS; number++)
            if (!is_right(crowd, life, number)) {
                const struct call *call = &crowd->calls[life][number];
                error_set(&c->error, ERROR_FAILED,
                          "call %d of %d: answered %d, fine %d, creation %d, id %lld, there %d, "
                          "holder %lld: %s",
                          number, life, call->answered, call->fine, (int)call->creation,
                          (long long)call->id, call->times, (long long)holder(crowd, number),
                          call->text);
                return false;
            }
    return true;
}

static inline bool ended_well(pid_t child) {
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

#endif
