/* error_contract.c - every operation on the files fails in its turn, once or from then on, and so
 * does every request for memory. Each verb then fails with the right code. Nothing acknowledged is
 * lost, and what may go on goes on.
 *
 *   build/spec/core/store/sqlite/error_contract [EVERY [SENTENCE]]
 *
 * EVERY 1: every operation and request; the larger it is from 2 on, the closer they are. SENTENCE:
 * what has these words only. */
#include "../folder.h"
#include "base/json.h"
#include "error_memory.h"
#include "power_disk.h"
#include "power_life.h"
#include "power_vfs.h"
#include "power_work.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 30, MORE_STEPS = 6, NEVER = 1 << 30 };

/* What fails, and which codes may say so. */
struct trouble {
    const char *sentence;
    enum power_kind kind;
    int code;   /* 0: out of memory */
    bool fatal; /* the store writes nothing any more */
    enum error_code says, or_says;
};

static const struct trouble troubles[] = {
    {"a write of the log fails", POWER_LOG_WRITE, SQLITE_IOERR_WRITE, false, ERROR_IO, ERROR_IO},
    {"no room for the log", POWER_LOG_WRITE, SQLITE_FULL, false, ERROR_FULL, ERROR_FULL},
    {"a sync of the log fails", POWER_LOG_SYNC, SQLITE_IOERR_FSYNC, true, ERROR_IO, ERROR_IO},
    {"a cut of the log fails", POWER_LOG_CUT, SQLITE_IOERR_TRUNCATE, true, ERROR_IO, ERROR_IO},
    {"a write of the database fails", POWER_DATABASE_WRITE, SQLITE_IOERR_WRITE, true, ERROR_IO,
     ERROR_IO},
    {"no room for the database", POWER_DATABASE_WRITE, SQLITE_FULL, false, ERROR_FULL, ERROR_FULL},
    {"a sync of the database fails", POWER_DATABASE_SYNC, SQLITE_IOERR_FSYNC, true, ERROR_IO,
     ERROR_IO},
    {"a write of the journal fails", POWER_JOURNAL_WRITE, SQLITE_IOERR_WRITE, false, ERROR_IO,
     ERROR_IO},
    {"a sync of the journal fails", POWER_JOURNAL_SYNC, SQLITE_IOERR_FSYNC, false, ERROR_IO,
     ERROR_IO},
    {"a file cannot be removed", POWER_REMOVE, SQLITE_IOERR_DELETE, false, ERROR_IO, ERROR_IO},
    {"a file does not open", POWER_OPEN, SQLITE_CANTOPEN, false, ERROR_IO, ERROR_IO},
    {"a read fails", POWER_READ, SQLITE_IOERR_READ, false, ERROR_IO, ERROR_IO},
    {"a read is short", POWER_READ, SQLITE_IOERR_SHORT_READ, false, ERROR_IO, ERROR_DAMAGED},
    {"a look at a file, its lock or the log's index fails", POWER_OTHER, SQLITE_IOERR, false,
     ERROR_IO, ERROR_IO},
    {"the store gets no memory", POWER_KINDS, 0, false, ERROR_FAILED, ERROR_FAILED},
};

struct run {
    const struct trouble *trouble;
    int nth;
    bool lasting;
    bool struck;
    char root[48];
    struct life life;
    char text[2500]; /* what is wrong */
};

static bool fault(struct run *run, const char *what) {
    snprintf(run->text, sizeof run->text, "%s: %s (%s)", what, run->life.wrong,
             run->life.error.text);
    return false;
}

static bool works(struct life *life, int steps) {
    bool fine = true;
    for (int i = 0; fine && i < steps; i++)
        fine = life_step(life);
    return fine;
}

static void arm(const struct run *run) {
    if (run->trouble->code)
        power_fault(run->trouble->kind, run->nth, run->trouble->code, run->lasting);
    else
        memory_fails(run->nth, run->lasting);
}

static int disarm(const struct run *run) {
    int struck = run->trouble->code ? power_faults() : memory_failures();
    memory_fails(0, false);
    power_on();
    return struck;
}

/* What a failed write may have left is not waited for: nothing more is written. */
static bool refuses(struct life *life) {
    struct error error = {ERROR_NONE, ""};
    if (!store_begin(life->store, STORE_COMMAND, &error))
        return error.code == ERROR_IO;
    store_rollback(life->store);
    return false;
}

static bool agrees(struct run *run) {
    struct life *life = &run->life;
    char text[300];
    bool agrees =
        ledger_agrees(&life->acked, life->store, life->now, text, sizeof text, &life->error);
    if (!agrees && life->committing) {
        ledger_copy(&life->acked, &life->pending);
        agrees =
            ledger_agrees(&life->acked, life->store, life->now, text, sizeof text, &life->error);
    }
    life->committing = false;
    if (!agrees)
        snprintf(life->wrong, sizeof life->wrong, "%s", text);
    json_t *found = agrees ? store_verify(life->store, NULL, &life->error) : NULL;
    if (json_array_size(found))
        snprintf(life->wrong, sizeof life->wrong, "%s",
                 json_string_value(json_array_get(found, 0)));
    bool whole = found && json_array_size(found) == 0;
    json_decref(found);
    return whole || fault(run, "afterwards");
}

/* What is missing of a page reads as zeros: statements may contradict each other until the page is
 * read again. */
static bool is_short(const struct trouble *trouble) {
    return trouble->code == SQLITE_IOERR_SHORT_READ;
}

/* Room or memory is there again: the same process goes on. Else the next one. */
static bool goes_on(struct run *run, bool failed) {
    struct life *life = &run->life;
    enum error_code said = run->life.error.code;
    bool again = said == ERROR_FULL || (said == ERROR_FAILED && !is_short(run->trouble));
    if (failed && life->store && again) {
        life->committing = false;
        if (!works(life, MORE_STEPS))
            return fault(run, "does not go on");
    }
    life_drop(life);
    return (life_open(life) || fault(run, "does not open again")) && agrees(run) &&
           (life_join(life) || fault(run, "does not join again")) &&
           (life_finish(life) || fault(run, "does not end"));
}

static bool run_through(struct run *run) {
    struct life *life = &run->life;
    const struct trouble *trouble = run->trouble;
    arm(run);
    bool fine = life_open(life) && life_join(life) && works(life, STEPS);
    enum error_code said = life->error.code;
    run->struck = disarm(run) > 0;
    if (!fine && !run->struck)
        return fault(run, "fails without cause");
    if (!fine && said != trouble->says && said != trouble->or_says &&
        !(said == ERROR_FAILED && is_short(trouble)))
        return fault(run, "says another code than expected");
    if (!fine && trouble->fatal && life->store && !refuses(life))
        return fault(run, "writes on");
    return goes_on(run, !fine);
}

/* False: it went wrong. run->struck: the operation was there. */
static bool run_once(struct run *run) {
    struct life *life = &run->life;
    *life = (struct life){.unwatched = true, .mortal = true};
    run->text[0] = 0;
    disk_forget();
    power_on();
    power_seed(1);
    bool fine = life_begin(life, run->root, 4) ? run_through(run) : fault(run, "no directory");
    life_end(life);
    folder_remove(life->directory);
    return fine;
}

static int every = 12; /* the further in, the larger the steps: by this part of the way */
static int passed, failed;

static void try_trouble(struct run *run, bool lasting) {
    int runs = 0, faults = 0;
    run->lasting = lasting;
    run->struck = true;
    for (run->nth = 1; run->struck && run->nth < NEVER;
         run->nth += every == 1 ? 1 : 1 + run->nth / every) {
        runs++;
        if (run_once(run))
            continue;
        if (++faults <= 3)
            printf("# operation %d: %s\n", run->nth, run->text);
    }
    faults += runs < 2; /* the first one was not met */
    printf("%s - %s%s: %d runs\n", faults ? "not ok" : "ok", run->trouble->sentence,
           lasting ? ", and all after it" : "", runs);
    *(faults ? &failed : &passed) += 1;
    fflush(stdout);
}

int main(int count, char **arguments) {
    static struct run run;
    if (count > 1)
        every = (int)strtol(arguments[1], NULL, 10);
    snprintf(run.root, sizeof run.root, "%s/moonshift-error-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (every < 1 || !memory_install() || !power_install() || !mkdtemp(run.root))
        return 2;
    json_object_seed(1);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        run.trouble = &troubles[i];
        if (count > 2 && !strstr(run.trouble->sentence, arguments[2]))
            continue;
        if (!is_short(run.trouble)) /* a file that ends too early does so for good */
            try_trouble(&run, false);
        try_trouble(&run, true);
    }
    disk_forget();
    rmdir(run.root);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
