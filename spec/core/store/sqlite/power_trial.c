/* power_trial.c - power cuts, and what must be there after each. */
#include "power_trial.h"
#include "../folder.h"
#include "power_disk.h"
#include "power_life.h"
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUTS_A_LIFE = 10, STEPS = 400, TOLD_MAX = 5 };

static struct tally *tally;

const char *phase_name(enum phase phase) {
    static const char *const names[PHASES] = {"new store", "upgrade", "work", "recovery"};
    return names[phase];
}

/* ---- files that SQLite does not write ---- */

static bool is_like(const char *name, const char *part) {
    return strstr(name, part) != NULL;
}

static void copy_changed(const char *from, const char *to, bool noise, uint64_t *seed) {
    unsigned char bytes[4096];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t size = in >= 0 ? read(in, bytes, sizeof bytes) : 0;
    for (ssize_t i = 24; i < size; i++) /* behind the magic word: of an earlier boot */
        if (noise || i < 24 + 36)
            bytes[i] = (unsigned char)chance(seed);
    if (out >= 0 && size > 0 && write(out, bytes, (size_t)size) != size)
        perror(to);
    close(in);
    close(out);
}

/* Gate and slots are there or not; slots may hold anything. */
static void survive_others(const char *from, const char *to, uint64_t seed) {
    char old[400], new[400];
    DIR *list = opendir(from);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        bool slots = is_like(entry->d_name, "-slots-");
        if ((!slots && !is_like(entry->d_name, "-gate")) || !chance_of(&seed, 3))
            continue;
        snprintf(old, sizeof old, "%s/%s", from, entry->d_name);
        snprintf(new, sizeof new, "%s/%s", to, entry->d_name);
        copy_changed(old, new, chance_of(&seed, 2), &seed);
    }
    if (list)
        closedir(list);
}

/* ---- one life ---- */

struct trial {
    struct life life;
    const struct mode *mode;
    uint64_t first; /* its seed */
    uint64_t seed;
    enum phase phase;
    bool compared; /* since the last cut */
    char live[64]; /* the directory as it was when the power went off */
    int cuts;
};

static const char *const verdicts[] = {
    [FINE] = "fine", [LOST] = "lost", [DAMAGED] = "damaged", [STUCK] = "stuck"};

/* A question that fails because the power went off once more says nothing about the store. */
static enum verdict fail(struct trial *trial, enum verdict verdict, const char *what) {
    const struct life *life = &trial->life;
    if (!trial->mode->silent && !power_is_off() &&
        __atomic_add_fetch(&tally->told, 1, __ATOMIC_RELAXED) <= TOLD_MAX)
        printf("# %s, after %d cuts, the last at %s (%s): %s%s%s; last error: %s\n"
               "# again: build/spec/core/store/sqlite/power_contract 1 %llu\n",
               verdicts[verdict], trial->cuts, power_kind_name(power_was_at()),
               phase_name(trial->phase), what, life->wrong[0] ? ": " : "", life->wrong,
               life->error.text, (unsigned long long)trial->first);
    return verdict;
}

/* By turns of every kind, and where chance has it. */
static void arm(struct trial *trial) {
    static const struct {
        enum power_kind kind;
        int within;
    } aims[] = {{POWER_KINDS, 120},         {POWER_LOG_WRITE, 60},    {POWER_LOG_SYNC, 12},
                {POWER_DATABASE_WRITE, 60}, {POWER_DATABASE_SYNC, 2}, {POWER_LOG_CUT, 2},
                {POWER_KINDS, 40},          {POWER_OPEN, 4}};
    int aim = chance_of(&trial->seed, (int)(sizeof aims / sizeof *aims));
    power_cut(aims[aim].kind, 1 + chance_of(&trial->seed, aims[aim].within), chance(&trial->seed));
}

/* The undisturbed files as the power went off: what was in the making, if it was complete. */
static uint64_t live_sum(const struct trial *trial) {
    char path[120];
    snprintf(path, sizeof path, "%s/x.db-shm", trial->live);
    unlink(path);
    snprintf(path, sizeof path, "%s/x.db", trial->live);
    struct witness *witness = witness_open(path);
    uint64_t sum = witness_sum(witness);
    witness_close(witness);
    return sum;
}

/* All tables are what they were when the last transaction was acknowledged, or what the one in the
 * making wanted them to be; and so say the answers of the store. */
static enum verdict compare(struct trial *trial) {
    struct life *life = &trial->life;
    char text[300];
    life->witness = witness_open(life->path);
    uint64_t sum = witness_sum(life->witness);
    bool same = !life->sum || sum == life->sum;
    if (!sum)
        return fail(trial, DAMAGED, "the witness cannot read");
    if (!same && sum != live_sum(trial))
        return fail(trial, LOST, "the tables are neither as acknowledged nor as in the making");
    bool agrees =
        ledger_agrees(&life->acked, life->store, life->now, text, sizeof text, &life->error);
    if (!agrees && (!same || !life->sum) && life->committing) {
        ledger_copy(&life->acked, &life->pending);
        agrees =
            ledger_agrees(&life->acked, life->store, life->now, text, sizeof text, &life->error);
    }
    if (!same)
        COUNT(tally->in_flight);
    life->committing = false;
    life->sum = sum;
    return agrees ? FINE : fail(trial, LOST, text);
}

static enum verdict verify(struct trial *trial) {
    struct life *life = &trial->life;
    json_t *found = store_verify(life->store, NULL, &life->error);
    size_t count = json_array_size(found);
    if (count)
        error_set(&life->error, ERROR_DAMAGED, "%s", json_string_value(json_array_get(found, 0)));
    json_decref(found);
    return found && !count ? FINE : fail(trial, DAMAGED, "check --store");
}

static bool power_lost(struct trial *trial, enum phase phase) {
    if (!power_is_off())
        return false;
    COUNT(tally->hits[phase][power_was_at()]);
    COUNT(tally->cuts);
    trial->cuts++;
    return true;
}

/* The machine starts again. */
static enum verdict boot(struct trial *trial) {
    struct life *life = &trial->life;
    char old[sizeof life->directory];
    memcpy(old, life->directory, sizeof old);
    life_drop(life);
    if (!life_next_directory(life) || !disk_survive(life->directory, chance(&trial->seed)))
        return fail(trial, STUCK, "no room for another try");
    survive_others(old, life->directory, chance(&trial->seed));
    if (trial->compared || !trial->live[0]) {
        if (trial->live[0])
            folder_remove(trial->live);
        memcpy(trial->live, old, sizeof old);
    } else
        folder_remove(old);
    trial->compared = false;
    power_on();
    if (chance_of(&trial->seed, 10) < 3)
        power_cut(POWER_KINDS, 1 + chance_of(&trial->seed, 30), chance(&trial->seed));
    return FINE;
}

/* *again: the power went off once more. */
static enum verdict reopen(struct trial *trial, bool *again) {
    struct life *life = &trial->life;
    *again = false;
    if (!life_open(life)) {
        *again = power_is_off();
        return *again ? FINE : fail(trial, DAMAGED, "the store does not open");
    }
    enum verdict verdict = compare(trial);
    if (verdict == FINE)
        verdict = verify(trial);
    *again = power_is_off();
    if (*again)
        return FINE;
    trial->compared = true;
    if (verdict != FINE || life_join(life))
        return verdict;
    *again = power_is_off();
    return *again ? FINE : fail(trial, STUCK, "it does not go on");
}

static enum verdict recover(struct trial *trial) {
    bool again = true;
    enum verdict verdict = FINE;
    while (verdict == FINE && again) {
        verdict = boot(trial);
        if (verdict == FINE)
            verdict = reopen(trial, &again);
        if (again && verdict == FINE && !power_lost(trial, PHASE_RECOVERY))
            return fail(trial, STUCK, "no power");
    }
    power_on();
    return verdict;
}

/* Works until the power goes off, or long enough. */
static enum verdict work(struct trial *trial) {
    struct life *life = &trial->life;
    bool fine = life->store || (life_open(life) && life_join(life));
    for (int i = 0; fine && i < STEPS; i++)
        fine = life_step(life);
    if (power_lost(trial, trial->phase))
        return recover(trial);
    power_on();
    return fine ? FINE : fail(trial, STUCK, "a step failed with the power on");
}

/* ---- one life ---- */

struct told_golden {
    int version;
    int64_t done[9], alive[11], dead, suspended[3];
};

static const struct told_golden goldens[] = {
    {1, {1}, {2, 3, 4, 5, 6}, 2, {6}},
    {2, {2, 4}, {1, 3, 5, 6, 7, 8, 9, 10}, 3, {10}},
    {3, {2, 4}, {1, 3, 5, 6, 7, 8, 9, 10, 11, 12}, 3, {9, 10, 11}},
    {4, {2, 4, 13, 14, 15, 16, 17, 18}, {1, 3, 5, 6, 7, 8, 9, 10, 11, 12}, 3, {9, 10, 11}},
};

static void golden_told(struct ledger *told, const struct told_golden *golden) {
    const struct told_job alive = {.told = TOLD_ALIVE, .ours = true, .key = -1, .retries = 3};
    for (int i = 0; golden->done[i]; i++)
        *ledger_job(told, golden->done[i]) = (struct told_job){.told = TOLD_DONE, .key = -1};
    for (int i = 0; golden->alive[i]; i++)
        *ledger_job(told, golden->alive[i]) = alive;
    *ledger_job(told, golden->dead) = (struct told_job){
        .told = TOLD_ALIVE, .ours = true, .key = -1, .failures = 2, .priority = 5};
    for (int i = 0; i < 3 && golden->suspended[i]; i++)
        ledger_job(told, golden->suspended[i])->suspended = true;
    if (golden->version >= 2)
        ledger_job(told, 5)->priority = 9;
}

static bool golden_make(const char *path, const char *sql, bool log) {
    sqlite3 *handle = NULL;
    bool done =
        sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix") ==
            SQLITE_OK &&
        sqlite3_exec(handle, "PRAGMA synchronous=OFF", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK &&
        (!log || sqlite3_exec(handle, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
    return done && disk_open(path, false);
}

/* The store of an earlier version, as its program wrote it. */
static bool golden(struct trial *trial) {
    static char sql[1 << 16];
    char name[64];
    const struct told_golden *golden = &goldens[chance_of(&trial->seed, 4)];
    snprintf(name, sizeof name, "spec/core/store/sqlite/golden/v%d.sql", golden->version);
    FILE *file = fopen(name, "rb");
    size_t size = file ? fread(sql, 1, sizeof sql - 1, file) : 0;
    sql[size] = 0;
    if (file)
        fclose(file);
    golden_told(&trial->life.acked, golden);
    trial->life.endless = golden->version >= 2; /* a schedule, a cycle */
    return size > 0 && golden_make(trial->life.path, sql, chance_of(&trial->seed, 2));
}

static enum verdict live(struct trial *trial) {
    enum verdict verdict = FINE;
    int kind = chance_of(&trial->seed, 10);
    trial->phase = kind <= 1 ? PHASE_UPGRADE : PHASE_NEW;
    if (kind <= 1 && !golden(trial))
        return fail(trial, STUCK, "no golden store");
    if (kind > 4)
        trial->phase = PHASE_WORK;
    else
        power_cut(POWER_KINDS, 1 + chance_of(&trial->seed, kind & 1 ? 10 : 150),
                  chance(&trial->seed));
    if (kind > 4 && (!life_open(&trial->life) || !life_join(&trial->life)))
        return fail(trial, STUCK, "no store");
    for (int i = 0; verdict == FINE && i < CUTS_A_LIFE; i++) {
        if (trial->phase == PHASE_WORK)
            arm(trial);
        verdict = work(trial);
        trial->phase = PHASE_WORK;
    }
    if (verdict != FINE)
        return verdict;
    if (!life_finish(&trial->life))
        return fail(trial, STUCK, "the end");
    return verify(trial);
}

void trial_run(const char *root, const struct mode *mode, uint64_t seed, struct tally *counts) {
    static struct trial trial;
    tally = counts;
    trial = (struct trial){.mode = mode, .first = seed, .seed = seed, .compared = true};
    trial.life.early = mode->early;
    trial.life.tells = !mode->early;
    power_on();
    power_lie(mode->lies);
    power_careless(mode->careless);
    power_seed(seed);
    disk_forget();
    enum verdict verdict = FINE;
    if (!life_begin(&trial.life, root, chance(&trial.seed)))
        verdict = fail(&trial, STUCK, "no directory");
    else
        verdict = live(&trial);
    power_on();
    power_cut(POWER_KINDS, 1, 0); /* nothing more is written */
    life_end(&trial.life);
    folder_remove(trial.life.directory);
    if (trial.live[0])
        folder_remove(trial.live);
    COUNT(tally->verdicts[verdict]);
    COUNT(tally->lives);
}
