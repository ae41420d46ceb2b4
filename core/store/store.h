/* store.h - the verbs every database must offer. They speak of jobs, not of SQL; they are handed
 * the time; they know no Lua and no thread. One struct store belongs to one thread at a time.
 *
 * Writes happen between store_begin and store_commit; what was acknowledged after store_commit
 * returned true is synced to disk. A verb that returns false has filled `error`; the caller then
 * rolls back. ERROR_FULL may be tried again later, ERROR_IO and ERROR_DAMAGED are final. */
#pragma once

#include "base/error.h"
#include "job/acquire.h"
#include "job/ask.h"
#include "job/command.h"
#include "job/outcome.h"
#include "job/settings.h"
#include "store/claim.h"
#include "store/lane.h"

struct store;

/* STORE_MIGRATE: to write, and an earlier schema on a server is brought to this program's version.
 * A file is so whenever it is written. */
enum store_mode { STORE_WRITE, STORE_CREATE, STORE_READ, STORE_MIGRATE };
enum store_kind { STORE_MEMORY, STORE_FILE, STORE_SERVER };

/* Opens "sqlite:PATH" or "sqlite::memory:". STORE_CREATE makes an empty store where there is none;
 * STORE_WRITE and STORE_READ refuse with ERROR_NOT_FOUND. Header, schema version and foreign tables
 * are checked (ERROR_DAMAGED / ERROR_CONFIG), nothing else is read. `settings` must outlive the
 * store. */
struct store *store_open(const char *url, enum store_mode mode, const struct settings *settings,
                         struct error *error);
void store_close(struct store *store); /* leaves (store_leave) if joined; NULL is fine */
/* `hurried` says how often somebody was told to stop. Then a transaction waits a second for other
 * writers, not half a minute. On a connection that only reads, a question ends with an error. */
void store_set_impatient(struct store *store, int (*hurried)(void));
/* Then it waits until this monotonic instant, a tenth of a second at least. Who was told twice
 * waits a second at most. Writers of a server wait in a queue: who gives up begins behind all
 * others. */
void store_budget(struct store *store, time_ms until);

/* How messages call it; a file: its path; NULL: in memory. Owned by the store. */
const char *store_name(const struct store *store);
enum store_kind store_kind(const struct store *store);
/* How many ms the store is behind, if it is a replica; TIME_NONE: it is none. */
time_ms store_lag(struct store *store);

/* True: no commit of the server ends at present, and `why` says what it waits for. */
bool store_stalled(struct store *store, struct error *why);

/* What a transaction is for. Creations that write only what is their own may run beside each other;
 * the others run alone. A turn that reaps, or settles a run with effects, is a command. The end of
 * a hold is not waited for on the disk: what it writes may be lost with the machine. */
enum store_purpose { STORE_TURN, STORE_COMMAND, STORE_CREATION, STORE_HOLD };

/* One write transaction. */
static inline bool store_begin(struct store *store, enum store_purpose purpose,
                               struct error *error);
/* Also rings every other live executor that may want what became ready. */
static inline bool store_commit(struct store *store, struct error *error);
static inline void store_rollback(struct store *store);

/* From now on this clock goes as the one by which leases and due dates are decided: on a server its
 * own. Borrowed; not a virtual one. */
static inline void store_set_clock(struct store *store, struct clock *clock);

/* What an engine does for itself when there is time. */
enum store_chore {
    CHORE_LOG,   /* moves a log that is longer than `limit` pages into its place; 0: all of it */
    CHORE_CACHE, /* gives cached memory back to the system; with nothing else to do */
    CHORE_FILES, /* looks whether the store is still the same, whole, and of this program's schema;
                    false: nothing is written any more */
    CHORE_PURGE, /* about a thousand rows of those left behind */
    CHORE_FILE,  /* files `limit` ended jobs by their number, unless fewer are left */
    CHORE_TIDY   /* files at most `limit`, and purges */
};
/* Does one step; never waits. *more (may be NULL, but for the last two): call again. */
static inline bool store_tend(struct store *store, enum store_chore chore, int limit, bool *more,
                              struct error *error);

/* From now on, until it leaves, the joined executor leaves the rows of jobs that have succeeded
 * behind (rules §1); no question finds them, and they go by whole ranges of ids. */
static inline void store_purge_behind(struct store *store);
static inline bool store_has_pending_purge(const struct store *store); /* some are left */

/* Files at most `limit` ended jobs by their number, so that the log of one job is found at once.
 * *more: there are others. Questions are right in between. */
bool store_file_ended(struct store *store, int limit, bool *more, struct error *error);

/* ---- deployments and definitions ---- */

struct store_file {
    const char *path;
    const char *text;
    size_t size;
};

struct store_deployment {
    const char *name, *hash; /* the same name and hash: the same deployment */
    const json_t *others;    /* names that the folder may have had; NULL: none */
    const struct store_file *files;
    size_t file_count;
    struct definitions *definitions; /* their ids are filled in */
    const json_t *schedules;         /* { name, spec, priority } of each; NULL: none */
    const json_t *processes;         /* of each what version.h says; NULL: none */
    enum deployment_claim claim;
    int64_t known; /* not 0: the store has this deployment; it is registered, no more is written */
    /* out; a deployment is newer if it was seen for the first time later: */
    int64_t left_to;    /* not 0: this other one goes on, so nothing was changed; */
    int64_t taken_back; /* not 0: this newer one counted until now, and no longer does */
    json_t *renamed; /* those that had another name until now, { id = that name }; the caller's */
};

/* In a transaction of its own if none is open. Registers it for `executor_name` (may be NULL). What
 * the folder schedules takes the place of what a folder of that name has scheduled before; a
 * schedule that did not change goes on. ERROR_CONFLICT: it belongs to a folder of another name, or
 * a live executor has one of this name with nothing in common. Others are renamed. An older folder
 * that is known already changes neither definitions nor schedules while a live executor has a newer
 * one of that name. Without such an executor the store goes back to it, with an entry in the
 * operation log. */
bool store_deploy(struct store *store, struct store_deployment *deployment,
                  const char *executor_name, time_ms now, int64_t *id, struct error *error);

/* YES: the deployment of its name that counts has this hash, the same definitions of those given
 * (whose ids are filled in), and the same schedules. Without definitions only the hash is compared.
 * Nothing is written. */
enum answer store_deployed(struct store *store, const struct store_deployment *deployment,
                           int64_t *id, struct error *error);

/* The deployment of this name that counts: the one seen for the first time last, or an older one
 * that was taken back since. */
enum answer store_deployment_current(struct store *store, const char *name, int64_t *id,
                                     struct error *error);
/* *newer: the newest deployment of the same name that another live executor has; 0: no newer one.
 * The answer changes only where store_executors_number does. */
bool store_deployment_newer(struct store *store, int64_t id, time_ms now, int64_t *newer,
                            struct error *error);
/* Grows when an executor comes, goes, or says what it has; as this process saw it last. */
int64_t store_executors_number(const struct store *store);
/* The names of all deployments, at most 1 000, as an array of texts; NULL: error. */
json_t *store_deployment_names(struct store *store, struct error *error);

/* The files of a definition's deployment as [{ path, text }], or NULL with ERROR_NOT_FOUND. */
json_t *store_deployment_files(struct store *store, int64_t deployment, struct error *error);

/* Does a step in the search for a deployment that is not needed. A newer one of its name has been
 * there for a day. No definition comes from it. No executor has it loaded or is registered for it
 * alone. No job of it is left. A step reads a thousand jobs at most. *retired: the one that it has
 * removed; 0: none. *more: call again soon, else the search has come round. */
bool store_retire(struct store *store, int64_t *retired, bool *more, time_ms now,
                  struct error *error);

/* YES: deployments of this name had the handler until `since`; `now` where none is newer. */
enum answer store_lost(struct store *store, const char *handler, const char *name, int64_t now,
                       int64_t *since, struct error *error);
/* YES: the store knows this handler. `deployment` may be NULL. */
enum answer store_knows(struct store *store, const char *handler, int64_t *deployment,
                        struct error *error);

/* ---- creation ---- */

/* Writes a list of jobs in order; fills in the reply, and the id, definition, stream, created and
 * state of the job. Applies an override of the definition (unless priority_given), definition and
 * instance suspension. A job whose unique key is held creates nothing (see enum creation), or is
 * refused with ERROR_CONFLICT, as is one beyond a backlog limit. `deployment` 0: that of each job's
 * definition. An id that is not 0 is kept: it must come from store_reserve_ids. After a rollback
 * the ids filled in are void: set them to 0 again. */
bool store_create(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                  struct error *error);

/* As store_create of one job with id 0, in a transaction of its own; on disk when it returns. Of
 * several processes that ask meanwhile one writes for all (rules §1): only the reply is filled in.
 * After an error the job is not there, unless that was the disk's. */
static inline bool store_enqueue(struct store *store, struct job_spec *spec, time_ms now,
                                 struct error *error);

/* Hands out `count` ids ahead of a commit, so that job:enqueue can return them: 0 on error. Ids
 * that are never written are simply skipped. In a transaction of its own if none is open. */
int64_t store_reserve_ids(struct store *store, int count, struct error *error);

/* ---- executors, leases, crashes ---- */

struct store_executor {
    int64_t id;                   /* out; the proof that it lives is held until store_leave */
    const char *name;             /* "node-1" */
    int workers;                  /* crash slots wanted */
    const struct acquire *serves; /* published for the gap watch and doorbells */
};

bool store_join(struct store *store, struct store_executor *executor, time_ms now, time_ms lease,
                struct error *error);
/* Gives every lock back that this executor still holds, and leaves. In a transaction of its own. */
bool store_leave(struct store *store, struct error *error);
bool store_renew(struct store *store, time_ms now, time_ms lease, struct error *error);

/* Its sign of life, for lists: costs no write of the database. No effect in memory stores. */
static inline void store_alive(struct store *store, time_ms now);

/* Says what the joined executor is and serves: { handlers: [names] (absent: any), acquisition, … }.
 * Incidents of type missingHandler for those handlers end. */
bool store_publish(struct store *store, const json_t *settings, time_ms now, struct error *error);
/* Says for lists that the joined executor's turns have failed since then, and why; NULL: they do
 * not any more. */
bool store_failing(struct store *store, const char *reason, time_ms since, struct error *error);
/* Opens one incident of type missingHandler for every handler that has had ready jobs for `grace`
 * ms (as far as this store has looked) and is not served. A handler is served by `serves` or by a
 * live executor. Ends the incidents of earlier calls that no longer apply. *next: when to look
 * again, TIME_NEVER: nothing is known to wait. Cheap where every handler is served. */
bool store_missing(struct store *store, const struct acquire *serves, time_ms now, time_ms grace,
                   time_ms *next, struct error *error);
/* Some handler that jobs were created for is served by no executor: worth a call of store_missing.
 * As the last transaction saw it; reads nothing. */
bool store_misses(const struct store *store, const struct acquire *serves);

/* True if some other executor is provably dead or its lease has run out at `now`, as far as an
 * engine knows without reading the database. A file costs two system calls for each executor. */
bool store_sees_dead(struct store *store, time_ms now);
/* True if a command may have died with the lane of an instance. */
bool store_sees_held(const struct store *store);

struct store_reaped {
    int freed;    /* locks given back */
    int suspects; /* of them, as their executor vanished with its machine */
    struct job
        *worker_died; /* jobs at crash_limit now: dead with an incident; owned by the caller */
    int crashed;      /* jobs whose crashes went up, those included */
    int turn;         /* rows of a turn in which an executor has died, the fewest; 0: in none */
};
/* Frees the locks of executors that are dead or overdue; counts crashes by their slots. */
bool store_reap(struct store *store, time_ms now, struct store_reaped *reaped, struct error *error);

/* A turn begins that deals with so many rows; 0: it has ended. With one row, the row is noted in
 * the crash slot `slot`. */
void store_care(struct store *store, int rows, int slot);
/* The job that the turn deals with next, and the one that it dealt with last; 0: none. */
void store_touch(struct store *store, int64_t job);
int64_t store_touched(const struct store *store);
/* True if the database itself was met damaged. */
bool store_is_corrupt(const struct store *store);
/* A job that is where none can be: it has no row, or two places. Reads all places. */
enum answer store_misplaced(struct store *store, int64_t *job, const char **why,
                            struct error *error);
/* Takes a job that no turn can deal with out of all places: it is dead, with an incident that says
 * why, even if its row cannot be read. `outcome`: of its run, which cannot be written; may be NULL.
 */
bool store_set_aside(struct store *store, int64_t job, const struct outcome *outcome,
                     const char *why, time_ms now, struct error *error);

/* Looks one step further for what nothing would ever move, as the store was changed by hand: jobs
 * in places that no executor takes, and instances that wait for rows that are gone. Each becomes an
 * incident, once, and what stands behind it goes on. A job without a place gets it. Writes only if
 * it finds some. */
struct store_strays {
    int64_t lane, job, instance; /* the next step begins behind these */
    int step;                    /* jobs and instances that are looked at */
    int found;                   /* by this step */
    bool more; /* in and out: there is more to look at; else the next step begins anew */
};
bool store_find_strays(struct store *store, struct store_strays *strays, time_ms now,
                       struct error *error);

/* The joined executor was told to drain: it takes nothing more, ends what it has and stays until it
 * is stopped. As known since the last transaction began. */
bool store_draining(const struct store *store);

/* The crash slot of worker `index` (of this joined executor): set before the handler, clear after
 * it; `now` is when the run began. Any thread, no lock: each worker writes its own slot. No effect
 * in memory stores. */
static inline void store_slot_set(struct store *store, int index, int64_t job, int64_t token,
                                  time_ms now);
static inline void store_slot_clear(struct store *store, int index);

/* The doorbell: a file descriptor readable when it was rung (-1: none), made by store_join;
 * store_bell_empty must be called before reading the store. False: rows of the outbox alone have
 * rung it (store/outbox.h). */
static inline int store_bell(const struct store *store);
static inline bool store_bell_empty(struct store *store);
/* Something may have become ready since the last question, other than in a turn with a capacity:
 * the bell was rung (it is emptied), or a verb of this store did it. */
static inline bool store_has_changes(struct store *store);

/* ---- the turn ---- */

/* What an executor knows of the ready jobs between two turns. */
struct ready_hint {
    bool look;            /* something may be ready: acquire */
    bool blind;           /* what is ready is not known: nothing is pre-locked */
    bool left;            /* something ready was left behind by the last acquisition: */
    struct sort_key best; /* the best of it */
};

/* Says what the joined executor can begin at once. A job that a settled run creates is inserted
 * locked for that executor (rules §4) in two cases. It is a follow-up in the lane of the run; or it
 * is pre-locked, where there is room and nothing ready stands before it. Any other job is inserted
 * ready. */
struct capacity {
    const struct acquire *acquire; /* the executor's question; `want` does not matter */
    int room;                      /* places; counted down */
    int64_t bytes;                 /* of payloads; counted down; 0: any number */
    int follows;                   /* follow-ups that the run being settled may have */
    struct ready_hint ready;       /* out: as the transaction has changed it */
    struct job *jobs;              /* out: pre-locked, best first; the caller's */
};

/* Says the capacity until the open transaction ends. store_acquire in the same transaction takes it
 * back and says anew what is left behind. */
void store_set_capacity(struct store *store, struct capacity *capacity);

/* Before a list of outcomes is settled in the open transaction, all or none of it: says the way of
 * each, and gives the locks of plain successes back many at a time. What they write to the history
 * follows with the commit: they must stay until then. */
bool store_settle_bulk(struct store *store, struct outcome *outcomes, struct error *error);

/* Writes one outcome with everything the job created, and does the verbs it asked for (its
 * effects); fenced by id, owner and token. With a capacity outcome->follows are those that
 * run next in its lane, which is then not released. An outcome of which something is refused says
 * that it is `undone` and leaves the transaction as it was: settle it again as a failure. */
bool store_settle(struct store *store, struct outcome *outcome, time_ms now, enum settled *settled,
                  struct error *error);
/* Behind the last outcome, before anything else is asked of the store: writes what plain successes
 * created, which is kept back with a capacity; and removes what can go at once of rows left behind.
 * The outcomes must stay until then. */
bool store_settle_end(struct store *store, struct error *error);

/* What the operation log says of a command to an instance of a process. */
struct store_entry {
    const char *verb, *entity;
    const char *before, *after; /* NULL: none */
    int64_t instance;
    struct lane_hold holds[LANES_AT_ONCE]; /* go with the unit; zero: none */
};
/* Writes what a command to a process did, an outcome without a job's id, and its entry: in the open
 * transaction, or in one of its own. Of several processes that ask meanwhile one writes for all, as
 * with store_enqueue. NO: another change came first, and nothing was written. */
enum answer store_unit(struct store *store, struct outcome *outcome,
                       const struct store_entry *entry, time_ms now, struct error *error);

/* Makes at most `limit` due timers ready; *count of them. */
bool store_promote(struct store *store, time_ms now, int limit, int *count, struct error *error);

/* Locks the best jobs for the joined executor. *jobs: a list in acquisition command; jobs of one
 * lane stand in one run, their lane_id equal; free with job_free_list. *more: ready jobs were left
 * behind. With acquire->unread some have only what their place says, marked `unread`. */
bool store_acquire(struct store *store, const struct acquire *acquire, time_ms now,
                   struct job **jobs, int *count, bool *more, struct error *error);

/* Reads the rows of unread jobs after the commit, outside of a transaction: each is replaced by the
 * whole job. A job whose row is gone stays unread, as all do that come after an error. */
static inline bool store_read_taken(struct store *store, struct job **jobs, size_t count,
                                    struct error *error);
/* True if others want to write as well: a transaction had to wait for another one in the last
 * second. Then what can be done outside of a transaction is better done there. */
bool store_contended(const struct store *store);

/* The best ready job that store_acquire would begin with; *found: there is one. Writes nothing. */
bool store_best(struct store *store, const struct acquire *acquire, time_ms now,
                struct sort_key *best, bool *found, struct error *error);
/* Another live executor takes jobs like this one, as far as this store has been told: it has the
 * handler, and range and categories let it. */
bool store_shared(const struct store *store, const struct job *job, time_ms now);

/* Changes whenever a definition does, as the last transaction saw it. */
int64_t store_definitions_number(const struct store *store);
/* A limit or a rate decides when a job like this one starts. */
bool store_bounded(const struct store *store, const struct job *job);

/* What the last store_acquire met beside jobs. */
struct store_acquire_stats {
    int lock_failures; /* candidates that another writer changed meanwhile */
    int levels;        /* priority levels compared, where levels are compared one by one */
    bool starved;      /* a job with a rate could start, but no worker is idle for it */
    bool held;         /* asked by acquire.drains: only a limit or a rate kept something ready */
};
struct store_acquire_stats store_acquire_stats(const struct store *store);

/* Takes one job whatever its due date, suspension, lock or retries (by hand). ERROR_CONFLICT while
 * another job of its lane runs, unless `force`. */
bool store_take(struct store *store, int64_t id, bool force, time_ms now, struct job **job,
                struct error *error);

/* Moves a running job's own lock expiry to `until`; ERROR_CONFLICT if the lock is lost. */
bool store_extend(struct store *store, int64_t job, int64_t token, time_ms until,
                  struct error *error);

/* YES: the run still holds its lock; NO: it is lost (suspended, cancelled, taken over, expired: the
 * run cannot commit and may be cut off). */
enum answer store_holds(struct store *store, int64_t job, int64_t token, struct error *error);
/* The lock of one run or waiting job. */
struct store_claim {
    int64_t job, token;
    bool lost; /* out: see store_holds */
};
/* Asks the same about many locks of this executor at once. The claims are sorted by job. False:
 * error, nothing is known. */
bool store_ask_lost(struct store *store, struct store_claim *claims, size_t count,
                    struct error *error);
/* Changes whenever a verb, of whatever process, takes the lock of a run: a reason to ask whether
 * one's own runs still hold theirs. As the last transaction saw it, or asked for now. */
int64_t store_cuts(struct store *store, bool ask);

/* The earliest instant at which something may change without anybody ringing: next due date, next
 * lease or lock expiry of others. TIME_NEVER: nothing scheduled. Reads; call inside the turn. */
bool store_next(struct store *store, time_ms now, time_ms *at, struct error *error);

/* Progress and log lines of running jobs; not part of the job's transaction. */
bool store_progress(struct store *store, int64_t job, double fraction, const char *text,
                    time_ms now, struct error *error);
bool store_line(struct store *store, int64_t job, int32_t attempt, const char *text, time_ms now,
                struct error *error);

/* ---- questions (also on STORE_READ connections) ---- */

struct store_page {
    const char *sort; /* a field of what is asked for, NULL: id */
    bool descending;
    int64_t after; /* ids above this one only (paging by id); 0: from the start */
    int64_t offset;
    bool ids;  /* of lists that have an id: nothing else */
    int limit; /* rows at most */
};

/* Jobs that match the filters, as job_to_json objects in an array. Unknown
 * filter: ERROR_INVALID with "did you mean". A new reference or NULL. */
json_t *store_jobs(struct store *store, const json_t *filters, const struct store_page *page,
                   time_ms now, struct error *error);
bool store_jobs_count(struct store *store, const json_t *filters, time_ms now, int64_t *count,
                      struct error *error);
/* The questions since the last call have left jobs out: their payloads are nested deeper than
 * JSON_DEPTH, older versions let them in. `check --store` names them. */
bool store_passed_over(struct store *store);
#define STORE_PASSED_OVER                                                                          \
    "jobs with payloads nested deeper than 100 were left out (check --store names them)"
/* One job with `stack`, `progress`; NULL with ERROR_NOT_FOUND. */
json_t *store_job(struct store *store, int64_t id, time_ms now, struct error *error);
json_t *store_definitions(struct store *store, const json_t *filters, const struct store_page *page,
                          time_ms now, struct error *error);
/* What is new in the log, from time to time. */
struct store_tail;

/* From now on; *last: the newest entries before, at most `count`, oldest first (the caller's). The
 * filters are borrowed. NULL: error. */
struct store_tail *store_tail_new(struct store *store, const json_t *filters, int count,
                                  json_t **last, time_ms now, struct error *error);
/* The entries that have come since the last call, oldest first: each once, though the results of
 * runs that overlap may be written out of order. An array, maybe empty; NULL: error. */
json_t *store_tail_next(struct store_tail *tail, time_ms now, struct error *error);
void store_tail_free(struct store_tail *tail);

/* Questions end after so many ms (5000 unless told), with an error. */
void store_set_budget(struct store *store, time_ms budget);
/* From here to its end, questions see one state of the store, which is told after store_seen
 * (lane.h). On a server they wait less. *own false: it is seen already, and another ends it. */
bool store_look(struct store *store, bool *own, struct error *error);
/* Where one is under way: what is asked from here on may take as long as a question of its own. */
void store_look_on(struct store *store);
void store_look_end(struct store *store, bool own);
/* Answers any question: the one way in for every face. The members of a question:
 *   - of rows: filters, sort, descending, after, offset, limit; of a walk through the log also key;
 *   - of a job, a batch, an instance, why or why_instance: id;
 *   - of schedules and dates: name, count; of where instances stand: name, the key of a process;
 *   - of executors: all;
 *   - of a frame: instance, token, at; of a version: id, or key and one of number, tag, deployment;
 *     of the receivers of a message: name, key, instance, token, business_key, starts; of those of
 *     a signal: signal, tenant, instance; of a message to all also message, key, business_key; of
 *     start events with a condition: conditions, process;
 *   - of any: budget. From now on questions end after so many ms.
 * A new reference or NULL. */
json_t *store_ask(struct store *store, enum ask_kind kind, const json_t *question, time_ms now,
                  struct error *error);
/* The answers to many questions of one kind, in their order. True: they cost a few waits together,
 * where each alone would be one. */
json_t *store_ask_many(struct store *store, enum ask_kind kind, const json_t *questions,
                       time_ms now, struct error *error);
bool store_asks_many(const struct store *store);
/* The kind's name and the columns of its rows. */
const struct ask_table *store_ask_table(enum ask_kind kind);
/* ASK_KINDS: there is none of this name. */
enum ask_kind store_ask_find(const char *name);
/* What no live executor would ever take: [{ kind, text, count, more, … }], `more` if there are more
 * than 10 000. */
json_t *store_unserved(struct store *store, time_ms now, struct error *error);
/* Jobs that have failed, or met a conflict, and wait for the date of their retry. Looked for among
 * the first timers and the newest failures. Only reads. */
enum { STORE_RETRIES_LOOKED = 4000 };
struct store_retries {
    int64_t count;
    time_ms first; /* TIME_NEVER: none */
    bool more;     /* there are other timers: perhaps more wait */
};
bool store_retries_wait(struct store *store, struct store_retries *waiting, struct error *error);
/* `moonshift check --store`: integrity_check and "every job is in exactly one place". Array of
 * texts. `heard` is told how many of the questions have been asked; it may be NULL. */
struct store_heard {
    void (*tell)(void *arg, int64_t done, int64_t of);
    void *arg;
};
json_t *store_verify(struct store *store, const struct store_heard *heard, struct error *error);

/* ---- commands: each writes its operation-log entry ---- */

/* From now on the entries name this one, who is borrowed; NULL: rules->who. */
void store_act_as(struct store *store, const char *who);

/* YES: the definition of this name has a priority of the store's. */
enum answer store_overridden(struct store *store, const char *handler, struct error *error);

/* Any command of job/command.h: the one way in for people, jobs and dates. At most 1 000 jobs are
 * all or nothing; of more, each transaction is, and the verb has one entry in the log with their
 * sum. With run->dry_run only counts, in no transaction. */
bool store_command(struct store *store, const json_t *command, struct command_run *run, time_ms now,
                   struct error *error);

/* In the open transaction, before these units are written: what each needs to be judged by is asked
 * for at once, where a question is a wait. */
bool store_units_ahead(struct store *store, struct outcome *const *outcomes, size_t count,
                       struct error *error);
/* Writes the entry of a command that leaves no unit, in the open transaction. */
bool store_note(struct store *store, const struct store_entry *entry, time_ms now,
                struct error *error);

/* A command to a process that is walked by a job. */
struct store_order {
    const char *key;      /* of the process */
    int64_t instance;     /* 0: it begins one */
    const char *activity; /* of the instance, that it is about; or NULL */
    int32_t retries;      /* 0: as configured */
    bool beside;          /* it does not wait for what runs in the lane of the instance */
    const json_t *cause;  /* the payload: what the walk begins from */
    const char *trace;    /* of its job; NULL: none */
    const struct unit_message *message; /* that its job brings, a row if it is kept; NULL: none */
    int64_t job;                        /* out */
};
/* Creates the job, in the open transaction. */
bool store_order(struct store *store, struct store_order *order, time_ms now, struct error *error);

/* Keeps messages for the next that waits for each, until its date. NO: something waits for one by
 * now. In a transaction. *at: how far it came. */
enum answer store_messages_keep(struct store *store, const struct unit_message *list, size_t count,
                                size_t *at, time_ms now, struct error *error);

/* Creates the jobs that give a signal to a page of what waits for it, and one more that goes on
 * behind that; or the job for the one that is named. `unit` has thrown it; NULL: a command gives
 * it. In a transaction. */
bool store_signal(struct store *store, const struct unit_signal *one, const struct unit *unit,
                  time_ms now, struct error *error);

/* ---- history (rules §18) ---- */

/* Makes, changes or drops the jobs that clean the history in its window, as the settings say. As an
 * executor starts; nothing happens where nothing is to change. */
bool store_prepare_cleanup(struct store *store, time_ms now, struct error *error);

/* ---- metrics ---- */
enum metric {
    METRIC_ACQUISITIONS,
    METRIC_ACQUIRED,
    METRIC_LOCK_FAILURES,
    METRIC_REJECTED,
    METRIC_SUCCESSFUL,
    METRIC_FAILED,
    METRIC_LOCKED_EXCLUSIVE,
    METRIC_STALE_COMMITS,
    METRIC_REMOVED_JOBS, /* from history, as the next three: in the order of enum history_kind */
    METRIC_REMOVED_INCIDENTS,
    METRIC_REMOVED_BATCHES,
    METRIC_REMOVED_OPERATIONS,
    METRIC_CONFLICTS,
    METRIC_REMOVED_INSTANCES,
    METRIC_SKIPPED,
    METRIC_COUNT
};
const char *metric_name(enum metric metric);
/* Adds to the stored counters of this executor; definition 0 is the total. In the turn, at most
 * once a second. */
bool store_metric_add(struct store *store, int64_t definition, enum metric metric, int64_t value,
                      struct error *error);

/* ---- measuring ---- */

/* What the stores of this process have written, all connections together. */
struct store_writes {
    int64_t syncs;   /* calls that made the system put data on the disk */
    int64_t commits; /* transactions that changed something */
    int64_t writes;  /* calls that wrote to a file */
    int64_t log;     /* bytes that went to the write-ahead logs */
};
/* Every store that is opened from now on is counted; nothing is counted before. Each of its syncs
 * takes so many milliseconds longer than the disk needs. */
bool store_writes_start(int64_t longer, struct error *error);
struct store_writes store_writes(void);

#include "store/ops.h"
