/* mailbox_leader_contract.c - the process that writes for all dies or stops: what it has written is
 * answered, and what it has not is written by another. */
#include "mailbox_crowd.h"
#include <fcntl.h>

struct scene {
    struct crowd *crowd;
    struct mailbox mailbox; /* of the one that leads */
    struct mailbox_request request;
    sqlite3 *writer; /* its transaction, NULL: none */
    pid_t child;
    int tell; /* the child to begin */
};

static void one_call(struct contract *c, struct crowd *crowd, int told) {
    char byte = 0;
    alarm(HANGS);
    struct store *store =
        read(told, &byte, 1) == 1 ? store_open(c->url, STORE_WRITE, &c->settings, &c->error) : NULL;
    if (store)
        call(store, &crowd->calls[0][0], 0, 0);
    store_close(store);
    _exit(store ? 0 : 1);
}

/* Somebody leads. */
static bool scene_open(struct contract *c, struct scene *scene) {
    int pipes[2];
    *scene = (struct scene){.crowd = crowd_new()};
    if (!scene->crowd || !mailbox_open(&scene->mailbox, store_file(c), NULL) ||
        !mailbox_lead(&scene->mailbox) || pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    scene->tell = pipes[1];
    scene->child = fork();
    if (scene->child == 0)
        one_call(c, scene->crowd, pipes[0]);
    close(pipes[0]);
    return scene->child > 0;
}

/* The one that leads writes: who runs out of patience waits for it all the same. */
static bool scene_write(struct contract *c, struct scene *scene) {
    return sqlite3_open(store_file(c), &scene->writer) == SQLITE_OK &&
           sqlite3_exec(scene->writer, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
}

/* Somebody else asks. */
static bool scene_ask(struct scene *scene) {
    time_ms until = clock_monotonic() + HANGS * 1000;
    if (write(scene->tell, "!", 1) != 1 || close(scene->tell) != 0)
        return false;
    for (; clock_monotonic() < until; sqlite_pause())
        for (int i = 0; i < MAILBOX_PLACES; i++)
            if (i != scene->mailbox.place && mailbox_read(&scene->mailbox, i, &scene->request))
                return true;
    return false;
}

/* The one that leads has written an answer under this ticket, and dies before it has told. */
static bool scene_die(struct scene *scene, int64_t ticket) {
    char sql[160];
    snprintf(sql, sizeof sql, "INSERT INTO tray VALUES(%d, %lld, 4711, 0); COMMIT",
             scene->request.place, (long long)ticket);
    bool done = sqlite3_exec(scene->writer, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(scene->writer);
    mailbox_close(&scene->mailbox);
    return done;
}

static void already_done(struct contract *c) {
    struct scene scene;
    EXPECT(scene_open(c, &scene) && scene_write(c, &scene) && scene_ask(&scene));
    EXPECT(scene_die(&scene, scene.request.ticket));
    EXPECT(ended_well(scene.child));
    const struct call *call = &scene.crowd->calls[0][0];
    EXPECT(call->fine && call->id == 4711 && look(c, scene.crowd) && call->times == 0);
    munmap(scene.crowd, sizeof *scene.crowd);
}

static void taken_up(struct contract *c) {
    struct scene scene;
    EXPECT(scene_open(c, &scene) && scene_write(c, &scene) && scene_ask(&scene));
    EXPECT(scene_die(&scene, scene.request.ticket - 1));
    EXPECT(ended_well(scene.child) && look(c, scene.crowd) && all_right(c, scene.crowd));
    EXPECT(scene.crowd->calls[0][0].times == 1);
    munmap(scene.crowd, sizeof *scene.crowd);
}

/* The one that leads has written the job, and not synced it yet. */
static bool scene_hand_on(struct contract *c, struct scene *scene, int64_t *id) {
    struct mailbox_answer *answer = mailbox_answer(&scene->mailbox, scene->request.place);
    *id = create(c, c->store, (struct job){.instance = "0-0"}, NOW);
    *answer =
        (struct mailbox_answer){.created = {*id, CREATION_CREATED}, .writer = scene->mailbox.place};
    mailbox_mark_written(&scene->mailbox, scene->request.place, scene->request.word);
    return *id != 0;
}

static void scene_right(struct contract *c, struct scene *scene, int64_t id) {
    EXPECT(ended_well(scene->child) && look(c, scene->crowd) && all_right(c, scene->crowd));
    const struct call *call = &scene->crowd->calls[0][0];
    EXPECT(call->fine && call->id == id && call->times == 1);
    munmap(scene->crowd, sizeof *scene->crowd);
}

static void dead_before_sync(struct contract *c) {
    struct scene scene;
    int64_t id = 0;
    EXPECT(scene_open(c, &scene) && scene_ask(&scene) && scene_hand_on(c, &scene, &id));
    mailbox_close(&scene.mailbox);
    scene_right(c, &scene, id);
}

static void stopped_before_sync(struct contract *c) {
    struct scene scene;
    int64_t id = 0;
    EXPECT(scene_open(c, &scene) && scene_ask(&scene) && scene_hand_on(c, &scene, &id));
    mailbox_leave(&scene.mailbox);
    scene_right(c, &scene, id);
    mailbox_close(&scene.mailbox);
}

static void stopped(struct contract *c) {
    struct scene scene;
    EXPECT(scene_open(c, &scene) && scene_ask(&scene));
    EXPECT(ended_well(scene.child) && look(c, scene.crowd) && all_right(c, scene.crowd));
    EXPECT(scene.crowd->calls[0][0].times == 1);
    EXPECT(!mailbox_read(&scene.mailbox, scene.request.place, &scene.request));
    mailbox_mark(&scene.mailbox, scene.request.place, scene.request.word);
    mailbox_close(&scene.mailbox);
    munmap(scene.crowd, sizeof *scene.crowd);
}

static const struct check checks[] = {
    {"what a dead writer has committed is not done again", already_done},
    {"what a dead writer has not committed is taken up", taken_up},
    {"what a writer has committed that dies in its sync is answered", dead_before_sync},
    {"what a writer has committed that is stopped in its sync is answered", stopped_before_sync},
    {"a writer that is stopped stops nobody for long", stopped},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
