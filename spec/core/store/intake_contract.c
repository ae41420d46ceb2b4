/* intake_contract.c - many jobs that are written in steps: nobody sees them before they are
 * released, then all of them are there; what a dead creator has left goes. */
#include "contract.h"
#include "store/batch.h"
#include "store/intake.h"

static struct store *other; /* the creator; it may die */

static bool open_other(struct contract *c) {
    other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    return other != NULL;
}

/* So many like `job`, written as one list. */
static bool add(struct contract *c, struct store_intake *intake, struct job job, int count) {
    struct job_spec list[64];
    for (int i = 0; i < count; i++) {
        list[i] = completed((struct job_spec){.job = job});
        list[i].next = i + 1 < count ? &list[i + 1] : NULL;
    }
    return store_intake_add(other, intake, list, NOW, &c->error);
}

static bool release(struct contract *c, struct store_intake *intake) {
    bool more = false;
    bool done = store_begin(other, STORE_COMMAND, &c->error) &&
                store_intake_release(other, intake, &more, NOW, &c->error) &&
                store_commit(other, &c->error);
    while (done && more)
        done = store_intake_step(other, intake, &more, NOW, &c->error);
    store_intake_leave(other, intake);
    return done;
}

static int64_t number(struct contract *c, const char *sql) {
    return contract_number(c, sql);
}

/* Everything that is to be done for those who died. */
static bool clear(struct contract *c) {
    struct store_left left = {.more = true};
    while (left.more)
        if (!store_clear_left(c->store, &left, NOW, &c->error))
            return false;
    return !left.living;
}

static void die(void) {
    store_close(other);
    other = NULL;
}

static void not_seen(struct contract *c) {
    struct store_intake intake;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 20, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){0}, 8) &&
           add(c, &intake, (struct job){.due = NOW + 50}, 8));
    EXPECT(matches(c, "{}") == 0 && acquire_count(c, c->store, NOW + 100) == 0);
    EXPECT(!store_job(c->store, 1, NOW, &c->error) && c->error.code == ERROR_NOT_FOUND);
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 21);
    contract_verify(c);
    EXPECT(!c->failure && release(c, &intake));
    EXPECT(matches(c, "{}") == 17 && number(c, "SELECT count(*) FROM timer") == 8);
    EXPECT(number(c, "SELECT count(*) FROM intake") == 0);
    FIELD(1, "state", NOW, "ready");
    FIELD(16, "state", NOW, "scheduled");
    EXPECT(acquire_count(c, c->store, NOW) == 9);
    die();
}

/* What is too much takes no id, and what needs a look of its own is not forgotten. */
static void announced(struct contract *c) {
    struct store_intake intake;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 4, NOW, &c->error));
    EXPECT(intake.bare && !add(c, &intake, (struct job){0}, 5));
    EXPECT_ERROR("more jobs than were announced");
    EXPECT(add(c, &intake, (struct job){.due = NOW + 50}, 1) && !intake.bare);
    EXPECT(add(c, &intake, (struct job){0}, 3) && !intake.bare);
    EXPECT(!add(c, &intake, (struct job){0}, 1));
    EXPECT_ERROR("more jobs than were announced");
    EXPECT(release(c, &intake) && matches(c, "{}") == 4);
    FIELD(1, "state", NOW, "scheduled");
    FIELD(4, "state", NOW, "ready");
    die();
}

/* Who leaves it to others is not waited for, though the process lives on. */
static void left_alive(struct contract *c) {
    struct store_intake intake;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 4, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){0}, 4));
    store_intake_leave(other, &intake);
    EXPECT(clear(c) && number(c, "SELECT count(*) FROM job") == 0);
    die();
}

static void not_swept(struct contract *c) {
    struct store_intake intake;
    bool more = true;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 8, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){0}, 8));
    store_purge_behind(c->store);
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO meta(key, value) VALUES('sweep_from', 0), ('sweep_to', 1000)",
                      &c->error));
    while (more)
        EXPECT(store_tend(c->store, CHORE_TIDY, 1000, &more, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM meta WHERE key='sweep_to'") == 0);
    EXPECT(release(c, &intake) && matches(c, "{}") == 8);
    die();
}

static void left_unfinished(struct contract *c) {
    struct store_intake intake;
    struct store_left left;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 1100, NOW, &c->error));
    for (int i = 0; i < 21; i++)
        EXPECT(add(c, &intake, (struct job){0}, 50));
    EXPECT(add(c, &intake, (struct job){.unique_key = "k", .repeat = "R/PT5M"}, 1));
    EXPECT(store_clear_left(c->store, &left, NOW, &c->error) && left.living && !left.more);
    EXPECT(number(c, "SELECT count(*) FROM job") == 1051);
    die();
    EXPECT(clear(c) && number(c, "SELECT count(*) FROM job") == 0);
    EXPECT(number(c, "SELECT (SELECT count(*) FROM unique_key) + (SELECT count(*) FROM cycle)"
                     " + (SELECT count(*) FROM intake)") == 0);
    EXPECT(number(c, "SELECT count FROM operation WHERE verb='remove_unfinished'") == 1051);
}

static void left_released(struct contract *c) {
    struct store_intake intake;
    bool more = false;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 3000, NOW, &c->error));
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO suspended_instance(instance, at) VALUES('s', 1);"
                      "UPDATE meta SET value=value+1 WHERE key='catalog'",
                      &c->error));
    for (int i = 0; i < 50; i++)
        EXPECT(add(c, &intake, (struct job){.instance = i % 2 ? "s" : NULL}, 40));
    EXPECT(store_begin(other, STORE_COMMAND, &c->error) &&
           store_intake_release(other, &intake, &more, NOW, &c->error) && more &&
           store_commit(other, &c->error));
    die();
    EXPECT(number(c, "SELECT released FROM intake") == 1);
    EXPECT(store_clear_opened(c->store, NOW, &c->error));
    EXPECT(matches(c, "{}") == 2000 && matches(c, "{\"suspended\":true}") == 1000);
    EXPECT(number(c, "SELECT count(*) FROM intake") == 0);
}

static void keys_held(struct contract *c) {
    struct store_intake intake;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 10, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){.unique_key = "k"}, 1));
    struct job_spec rival = completed((struct job_spec){.job.unique_key = "k"});
    EXPECT(!store_create(c->store, &rival, 0, NOW, &c->error) &&
           rival.reply.creation == CREATION_REFUSED);
    EXPECT_ERROR("unique \"k\" is held by job 1, which is still being written (try again)");
    EXPECT(add(c, &intake, (struct job){.unique_key = "k"}, 1)); /* kept: its own */
    EXPECT(release(c, &intake) && matches(c, "{}") == 1);
    EXPECT(store_create(c->store, &rival, 0, NOW, &c->error) &&
           rival.reply.creation == CREATION_KEPT);
    die();
}

static void keys_of_the_dead(struct contract *c) {
    struct store_intake intake;
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 10, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){.unique_key = "k"}, 1));
    die();
    struct job_spec rival = completed((struct job_spec){.job.unique_key = "k"});
    EXPECT(store_create(c->store, &rival, 0, NOW, &c->error) &&
           rival.reply.creation == CREATION_CREATED);
    EXPECT(clear(c) && matches(c, "{}") == 1);
}

static void replaced_late(struct contract *c) {
    struct store_intake intake;
    EXPECT(create(c, c->store, (struct job){.unique_key = "k", .priority = 1}, NOW) == 1);
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 10, NOW, &c->error));
    struct job_spec late = completed((struct job_spec){.job = {.unique_key = "k", .priority = 7},
                                                       .on_conflict = ON_CONFLICT_REPLACE});
    struct job_spec again =
        completed((struct job_spec){.job = {.unique_key = "own", .priority = 3}});
    EXPECT(store_intake_add(other, &intake, &late, NOW, &c->error));
    EXPECT(late.reply.creation == CREATION_REPLACED && late.reply.id == 1);
    FIELD(1, "priority", NOW, "1");
    EXPECT(store_intake_add(other, &intake, &again, NOW, &c->error) && again.job.id);
    again.job.id = 0;
    again.job.priority = 9;
    again.on_conflict = ON_CONFLICT_REPLACE;
    int64_t own = intake.next - 1;
    EXPECT(store_intake_add(other, &intake, &again, NOW, &c->error) && again.reply.id == own);
    EXPECT(release(c, &intake));
    FIELD(own, "priority", NOW, "9");
    die();
}

static void backlog_counts(struct contract *c) {
    struct store_intake intake;
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO definition(name, properties, waiting) VALUES('work',"
                      " '{\"backlog\":5}', 0); UPDATE meta SET value=value+1 WHERE key='catalog'",
                      &c->error));
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 10, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){0}, 4) && !add(c, &intake, (struct job){0}, 2));
    EXPECT(strstr(c->error.text, "backlog of \"work\" is full"));
    contract_verify(c);
    EXPECT(!c->failure && number(c, "SELECT waiting FROM definition WHERE name='work'") == 4);
    die();
    EXPECT(clear(c) && number(c, "SELECT waiting FROM definition WHERE name='work'") == 0);
}

static void turns(struct contract *c) {
    struct store_intake intake;
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO meta(key, value) VALUES('fair_by', 1), ('turn', 0)", &c->error));
    EXPECT(open_other(c) && store_intake_begin(other, &intake, 10, NOW, &c->error));
    EXPECT(add(c, &intake, (struct job){.tenant = "a"}, 3));
    EXPECT(create(c, c->store, (struct job){.tenant = "b"}, NOW) && release(c, &intake));
    EXPECT(number(c, "SELECT max(place) FROM ready") == 3);
    EXPECT(number(c, "SELECT place FROM job WHERE tenant='b'") == 1);
    die();
}

static void batch_left(struct contract *c) {
    int64_t id = 0, kept = 0;
    struct store_batch batch = {.type = "mark"};
    struct store_left left;
    json_t *ids = json_pack("[i, i]", 1, 2);
    EXPECT(open_other(c) && store_batch_begin(other, &batch, NOW, &id, &c->error));
    EXPECT(store_batch_begin(c->store, &batch, NOW, &kept, &c->error));
    bool filled = store_batch_add(other, id, ids, &c->error) &&
                  store_batch_add(c->store, kept, ids, &c->error);
    json_decref(ids);
    EXPECT(filled && store_clear_left(c->store, &left, NOW, &c->error) && left.living);
    EXPECT(number(c, "SELECT count(*) FROM batch") == 2);
    die();
    EXPECT(store_clear_left(c->store, &left, NOW, &c->error) && left.batch == id);
    EXPECT(number(c, "SELECT count(*) FROM batch") == 1);
    EXPECT(number(c, "SELECT count(*) FROM batch_part") == 1);
    EXPECT(number(c, "SELECT count FROM operation WHERE verb='remove_unfinished'") == 2);
    EXPECT(store_batch_start(c->store, kept, NOW, &c->error));
    EXPECT(store_clear_left(c->store, &left, NOW, &c->error) && !left.living && !left.more);
    EXPECT(!c->store->engine->sign_alive(c->store, SIGN_BATCH(id)) &&
           !c->store->engine->sign_alive(c->store, SIGN_BATCH(kept)));
}

static void large_batch_left(struct contract *c) {
    int64_t id = 0;
    struct store_batch batch = {.type = "mark"};
    bool filled = open_other(c) && store_batch_begin(other, &batch, NOW, &id, &c->error);
    for (int i = 0; filled && i < 250; i++) {
        json_t *ids = json_pack("[i]", i + 1);
        filled = store_batch_add(other, id, ids, &c->error);
        json_decref(ids);
    }
    filled = filled && number(c, "SELECT count(*) FROM batch_part") == 250;
    die();
    EXPECT(filled && clear(c) && number(c, "SELECT count(*) FROM batch") == 0);
    EXPECT(number(c, "SELECT count(*) FROM batch_part") == 0);
}

static const struct check checks[] = {
    {"jobs that are not released are not seen, and then all are", not_seen},
    {"what a dead creator left goes, that of a living one stays", left_unfinished},
    {"more than was announced is refused, and ids are given once", announced},
    {"what a process leaves is removed while it lives", left_alive},
    {"what a dead creator has released gets its places, suspended or not", left_released},
    {"a key of a job that is still being written is neither held nor free", keys_held},
    {"a key of a job that will never be there is free", keys_of_the_dead},
    {"what replaces a visible job is left for the end", replaced_late},
    {"jobs that are not released count against a backlog", backlog_counts},
    {"tenants take turns as the jobs are released", turns},
    {"a batch whose creator died goes, another one stays", batch_left},
    {"of a large one that was left no part stays", large_batch_left},
};

static const struct check file_checks[] = {
    {"jobs that are not released are not swept away", not_swept},
};

int main(void) {
    int failed = contract_run(checks, sizeof checks / sizeof *checks, false);
    return failed |
           contract_run_of_file(file_checks, sizeof file_checks / sizeof *file_checks, false);
}
