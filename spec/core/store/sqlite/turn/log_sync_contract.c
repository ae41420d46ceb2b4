/* log_sync_contract.c - a commit is synced behind the gate: others write meanwhile, and nobody
 * tells what is not on the disk. */
#include "../../contract.h"
#include "store/request.h"
#include "store/rules/ground/kinds.h"
#include "store/sqlite/db/log_index.h"
#include "store/sqlite/turn/log_sync.h"
#include <errno.h>

/* Watches the syncs of a store's log. */
struct watched {
    struct sqlite3_io_methods own; /* first: the file's table of methods is the start of this */
    const struct sqlite3_io_methods *real;
    struct contract *c;
    void (*during)(struct contract *c); /* called once, before the next sync */
    int syncs, fails;                   /* so many; the next ones fail */
};

static struct watched first, second; /* those of c->store and `other` */
static struct store *other;
static const char *found; /* what `during` expected and did not find */

static int watched_sync(sqlite3_file *file, int flags) {
    struct watched *watched = (struct watched *)file->pMethods;
    void (*during)(struct contract *) = watched->during;
    watched->during = NULL;
    if (during)
        during(watched->c);
    if (watched->fails > 0) {
        watched->fails--;
        return SQLITE_IOERR_FSYNC;
    }
    watched->syncs++;
    file->pMethods = watched->real;
    int code = file->pMethods->xSync(file, flags);
    file->pMethods = &watched->own;
    return code;
}

static void watch(struct contract *c, struct store *store, struct watched *watched) {
    sqlite3_file *log = index_file(store, SQLITE_FCNTL_JOURNAL_POINTER);
    *watched = (struct watched){.own = *log->pMethods, .real = log->pMethods, .c = c};
    watched->own.xSync = watched_sync;
    log->pMethods = &watched->own;
}

static bool both(struct contract *c, enum store_mode mode) {
    found = NULL;
    if (!create(c, c->store, (struct job){0}, NOW))
        return false;
    other = store_open(c->url, mode, &c->settings, &c->error);
    json_t *stats = other ? store_stats(other, NOW, &c->error) : NULL; /* its log is open now */
    if (!stats)
        return false;
    json_decref(stats);
    watch(c, c->store, &first);
    watch(c, other, &second);
    return true;
}

static void leave(void) {
    store_close(other);
    other = NULL;
}

static void require(bool fine, const char *what) {
    if (!fine && !found)
        found = what;
}

static bool counts(struct contract *c, struct store *store, int64_t expected) {
    int64_t count = -1;
    json_t *all = json_object();
    bool done = store_jobs_count(store, all, NOW, &count, &c->error);
    json_decref(all);
    return done && count == expected;
}

/* ---- while a commit is synced ---- */

static void other_creates(struct contract *c) {
    require(create(c, other, (struct job){0}, NOW) != 0, "the other one creates");
    require(second.syncs == 1, "the other one syncs what it creates");
}

static void writes_meanwhile(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    first.during = other_creates;
    EXPECT(create(c, c->store, (struct job){0}, NOW) && !found);
    EXPECT(!first.during && counts(c, c->store, 3));
    leave();
}

static void other_counts(struct contract *c) {
    require(counts(c, other, 2), "the other one sees the commit");
    require(second.syncs == 1, "the other one syncs before it tells");
}

static void asks_meanwhile(struct contract *c, enum store_mode mode) {
    EXPECT(both(c, mode));
    first.during = other_counts;
    EXPECT(create(c, c->store, (struct job){0}, NOW) && !found);
    EXPECT(!first.during && second.syncs == 1);
    EXPECT(counts(c, other, 2) && second.syncs == 1); /* all of it is on the disk */
    leave();
}

static void writer_asks(struct contract *c) {
    asks_meanwhile(c, STORE_WRITE);
}

static void reader_asks(struct contract *c) {
    asks_meanwhile(c, STORE_READ);
}

static void other_writes_nothing(struct contract *c) {
    require(store_begin(other, STORE_TURN, &c->error) && store_commit(other, &c->error),
            "the other one ends a transaction");
    require(second.syncs == 1, "the other one syncs what it has seen");
}

static void writes_nothing(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    first.during = other_writes_nothing;
    EXPECT(create(c, c->store, (struct job){0}, NOW) && !found);
    leave();
}

static void other_rolls_back(struct contract *c) {
    require(store_begin(other, STORE_TURN, &c->error), "the other one begins");
    store_rollback(other);
    require(second.syncs == 1, "the other one syncs what a refusal may rest on");
}

static void rolls_back(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    first.during = other_rolls_back;
    EXPECT(create(c, c->store, (struct job){0}, NOW) && !found);
    leave();
}

static const struct store_request asked = {.key = "k", .hash = "h"};

static void other_finds(struct contract *c) {
    json_t *answer = NULL;
    require(store_request_find(other, &asked, &answer, NOW, &c->error) == YES,
            "the other one finds the answer");
    require(second.syncs == 1, "the other one syncs before it gives the answer");
    json_decref(answer);
}

static bool keeps(struct contract *c) {
    json_t *answer = json_array();
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_request_keep(c->store, &asked, answer, NOW, &c->error) &&
                store_commit(c->store, &c->error);
    json_decref(answer);
    return done;
}

static void asks_again(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    first.during = other_finds;
    EXPECT(keeps(c) && !first.during && !found);
    leave();
}

/* ---- what handlers of a command rest on ---- */

static bool sees(struct store *store, struct error *error) {
    bool own = false;
    if (!store_look(store, &own, error))
        return false;
    store_look_end(store, own);
    return true;
}

/* A commit of c->store that changes these. */
static bool changes(struct contract *c, int64_t instance, bool common) {
    bool done = store_begin(c->store, STORE_HOLD, &c->error);
    if (instance)
        changed_note(c->store, instance);
    if (common)
        changed_note_common(c->store);
    c->store->meta.next_id++;
    return done && store_commit(c->store, &c->error);
}

static void only_its_own(struct contract *c) {
    EXPECT(both(c, STORE_WRITE) && changes(c, 7, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 8, &c->error) && second.syncs == 0);
    EXPECT(store_seen_of(other, 7, &c->error) && second.syncs == 1);
    EXPECT(changes(c, 7, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 8, &c->error) && second.syncs == 1);
    EXPECT(store_seen(other, &c->error) && second.syncs == 2);
    EXPECT(store_seen_of(other, 7, &c->error) && store_seen(other, &c->error));
    EXPECT(second.syncs == 2);
    leave();
}

static void what_all_share(struct contract *c) {
    EXPECT(both(c, STORE_WRITE) && changes(c, 0, true) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 8, &c->error) && second.syncs == 1);
    EXPECT(changes(c, 9, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 0, &c->error) && second.syncs == 1);
    leave();
}

/* The writer has ended in its commit, or is there still. */
static void under_way(struct contract *c) {
    EXPECT(both(c, STORE_WRITE) && changes(c, 7, false));
    EXPECT(create(c, c->store, (struct job){0}, NOW)); /* synced */
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error));
    changed_note(c->store, 7);
    log_sync_mark(c->store);
    store_rollback(c->store);
    int before = second.syncs;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(changes(c, 0, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 7, &c->error) && second.syncs == before + 1);
    EXPECT(changes(c, 7, false) && create(c, c->store, (struct job){0}, NOW));
    EXPECT(changes(c, 0, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 7, &c->error) && second.syncs == before + 1);
    leave();
}

/* What stood in a log that was moved into the database is on the disk. */
static void moved(struct contract *c) {
    EXPECT(both(c, STORE_WRITE) && changes(c, 7, false) && sees(other, &c->error));
    EXPECT(store_seen_of(other, 7, &c->error));
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    EXPECT(changes(c, 9, false) && sees(other, &c->error));
    int before = second.syncs;
    EXPECT(store_seen_of(other, 7, &c->error) && second.syncs == before);
    EXPECT(store_seen_of(other, 9, &c->error) && second.syncs == before + 1);
    leave();
}

/* ---- how often ---- */

static void once(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    EXPECT(create(c, c->store, (struct job){0}, NOW) && first.syncs == 1);
    EXPECT(counts(c, c->store, 2) && first.syncs == 1);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error) && store_commit(c->store, &c->error));
    EXPECT(first.syncs == 1);
    EXPECT(create(c, c->store, (struct job){0}, NOW) && first.syncs == 2);
    leave();
}

/* A new beginning of the log has another salt: its frames are not taken for those before. */
static void begins_anew(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    for (int i = 0; i < 20; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    int before = first.syncs;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(first.syncs > before); /* SQLite syncs the head of a new log as well */
    leave();
}

/* Without room for the page each sync is done by the store that wants it. */
static void no_page(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    struct gate_page *page = sqlite_of(c->store)->gate.page;
    sqlite_of(c->store)->gate.page = NULL;
    EXPECT(create(c, c->store, (struct job){0}, NOW) && first.syncs == 1);
    EXPECT(counts(c, c->store, 2) && first.syncs == 2);
    sqlite_of(c->store)->gate.page = page;
    leave();
}

/* ---- a sync that fails ---- */

static bool refused(struct contract *c, struct store *store, const char *expected) {
    bool begun = store_begin(store, STORE_COMMAND, &c->error);
    return !begun && c->error.code == ERROR_IO && strstr(c->error.text, expected);
}

static bool fails(struct contract *c) {
    first.fails = 1;
    bool done = create(c, c->store, (struct job){0}, NOW);
    return !done && c->error.code == ERROR_IO && strstr(c->error.text, "log cannot be synced");
}

static void end(struct contract *c) {
    store_close(c->store);
    c->store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
}

static void failed(struct contract *c) {
    EXPECT(both(c, STORE_WRITE) && fails(c));
    EXPECT(refused(c, c->store, "closed for writing"));
    EXPECT(refused(c, other, "a sync of its log has failed"));
    EXPECT(!counts(c, c->store, 2) && !counts(c, other, 2) && c->error.code == ERROR_IO);
    EXPECT(!store_tend(other, CHORE_LOG, 0, NULL, &c->error));
    leave();
    end(c);
    EXPECT(c->store && create(c, c->store, (struct job){0}, NOW));
}

/* As long as another one reads the log, it cannot be moved. */
static void failed_and_held(struct contract *c) {
    bool own;
    EXPECT(both(c, STORE_READ) && create(c, c->store, (struct job){0}, NOW));
    EXPECT(look_begin(other, &own, &c->error) && fails(c));
    end(c);
    EXPECT(c->store && refused(c, c->store, "a sync of its log has failed"));
    look_end(other, own);
    leave();
    end(c);
    EXPECT(c->store && create(c, c->store, (struct job){0}, NOW));
}

static void question_fails(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    sqlite_of(other)->gate.page->synced = 0;
    second.fails = 1;
    EXPECT(!counts(c, other, 1) && c->error.code == ERROR_IO);
    leave();
    end(c);
    EXPECT(c->store != NULL);
}

/* One that was long says little, many say what it takes, and a short one counts at once. */
static void took(struct contract *c) {
    int64_t known = log_sync_took(0, 40);
    EXPECT(known == 40 && log_sync_took(known, 4000) < 500);
    for (int i = 0; i < 16; i++)
        known = log_sync_took(known, 1000);
    EXPECT(known > 500 && known < 1000);
    for (int i = 0; i < 200; i++)
        known = log_sync_took(known, 1000);
    EXPECT(known == 1000 && log_sync_took(known, 40) == 40);
}

/* What one store measures, another one finds. */
static void took_elsewhere(struct contract *c) {
    EXPECT(both(c, STORE_WRITE));
    sqlite_of(other)->gate.page->sync_took = 0;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(sqlite_of(other)->gate.page->sync_took > 0);
    leave();
}

static const struct check checks[] = {
    {"another store writes while a commit is synced", writes_meanwhile},
    {"a store that could write syncs what it reads before it tells", writer_asks},
    {"a store that only reads does so, too", reader_asks},
    {"a transaction that writes nothing syncs what it has seen", writes_nothing},
    {"a transaction that is rolled back does so, too", rolls_back},
    {"the answer to an earlier request is synced before it is given again", asks_again},
    {"a command waits for its own instance, and for no other", only_its_own},
    {"… and for what all instances share", what_all_share},
    {"a change whose commit came to no end is nowhere on the disk", under_way},
    {"a log that was moved into the database is waited for no more", moved},
    {"what is on the disk is not synced again", once},
    {"a log that begins anew is synced anew", begins_anew},
    {"a gate without room for its page costs syncs alone", no_page},
    {"nobody tells of a sync that failed, or writes behind it, until the store is opened again",
     failed},
    {"… and nothing that was read hinders that", failed_and_held},
    {"what a sync takes rises slowly and falls at once", took},
    {"all stores on a file know what a sync takes", took_elsewhere},
    {"a question fails if it cannot be synced what it would tell", question_fails},
};

int main(void) {
    return contract_run_of_file(checks, sizeof checks / sizeof *checks, false);
}
