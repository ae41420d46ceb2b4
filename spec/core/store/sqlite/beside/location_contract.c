/* location_contract.c - one database under several names, and what executors that are gone have
 * left beside it. */
#include "../../contract.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char *file(const struct contract *c, const char *name) {
    static char names[4][128];
    static int at;
    char *text = names[at++ % 4];
    snprintf(text, sizeof names[0], "%s/%s", c->directory, name);
    return text;
}

static struct store *open_as(struct contract *c, const char *name, enum store_mode mode) {
    char url[160];
    snprintf(url, sizeof url, "sqlite:%s", file(c, name));
    return store_open(url, mode, &c->settings, &c->error);
}

static bool refuses(struct contract *c, const char *name, const char *because) {
    static const enum store_mode modes[] = {STORE_CREATE, STORE_WRITE, STORE_READ};
    bool fine = true;
    for (int i = 0; i < 3; i++) {
        struct store *store = open_as(c, name, modes[i]);
        fine = fine && !store && c->error.code == ERROR_CONFLICT && strstr(c->error.text, because);
        store_close(store);
    }
    return fine;
}

static int64_t count(struct contract *c, struct store *store) {
    int64_t found = -1;
    json_t *filters = json_object();
    if (!store_jobs_count(store, filters, NOW, &found, &c->error))
        found = -1;
    json_decref(filters);
    return found;
}

static void executor(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(link(file(c, "x.db"), file(c, "y.db")) == 0);
    EXPECT(refuses(c, "y.db", "x.db\", which is in use under that name"));
    EXPECT(count(c, c->store) == 1 && create(c, c->store, (struct job){0}, NOW));
}

static void client(struct contract *c) {
    store_close(c->store);
    EXPECT((c->store = open_as(c, "x.db", STORE_WRITE)));
    EXPECT(link(file(c, "x.db"), file(c, "y.db")) == 0);
    EXPECT(refuses(c, "y.db", "x.db\", which is in use under that name"));
}

/* The first has it open by its name, and the name goes on: nothing speaks against a backup. */
static void backup(struct contract *c) {
    EXPECT(link(file(c, "x.db"), file(c, "y.db")) == 0);
    struct store *second = open_as(c, "x.db", STORE_WRITE);
    EXPECT(second && create(c, second, (struct job){0}, NOW));
    store_close(second);
    struct store_executor self;
    EXPECT((second = contract_join(c, "second", NOW, &self)));
    store_close(second);
}

/* What was committed under the first name stands in the log of that name alone. */
static void in_turn(struct contract *c) {
    store_close(c->store);
    EXPECT((c->store = open_as(c, "x.db", STORE_WRITE)));
    EXPECT(create(c, c->store, (struct job){0}, NOW) && create(c, c->store, (struct job){0}, NOW));
    store_close(c->store);
    c->store = NULL;
    EXPECT(link(file(c, "x.db"), file(c, "y.db")) == 0);
    struct store *second = open_as(c, "y.db", STORE_WRITE);
    EXPECT(second && count(c, second) == 2);
    struct store_executor self = {.name = "second", .workers = 1, .serves = &everything};
    EXPECT(store_join(second, &self, NOW, LEASE, &c->error));
    EXPECT(create(c, second, (struct job){0}, NOW));
    EXPECT(refuses(c, "x.db", "y.db\", which is in use under that name"));
    store_close(second);
    EXPECT((c->store = open_as(c, "x.db", STORE_WRITE)) && count(c, c->store) == 3);
}

/* The log of who was killed is brought home as well. */
static void killed(struct contract *c) {
    store_close(c->store);
    c->store = NULL;
    pid_t child = fork();
    if (child == 0) {
        struct store_executor self;
        struct store *store = contract_join(c, "killed", NOW, &self);
        bool done = store && create(c, store, (struct job){0}, NOW);
        raise(done ? SIGKILL : SIGTERM);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    EXPECT(link(file(c, "x.db"), file(c, "y.db")) == 0);
    EXPECT((c->store = open_as(c, "y.db", STORE_WRITE)) && count(c, c->store) == 1);
}

static void moved(struct contract *c) {
    store_close(c->store);
    EXPECT(rename(file(c, "x.db"), file(c, "y.db")) == 0);
    EXPECT((c->store = open_as(c, "y.db", STORE_WRITE)) &&
           create(c, c->store, (struct job){0}, NOW));
}

static void copied(struct contract *c) {
    char command[300];
    snprintf(command, sizeof command, "cp %s %s", file(c, "x.db"), file(c, "y.db"));
    EXPECT(system(command) == 0);
    struct store *copy = open_as(c, "y.db", STORE_WRITE);
    EXPECT(copy && create(c, copy, (struct job){0}, NOW));
    store_close(copy);
}

/* ---- what is left behind ---- */

static bool leave(struct contract *c, const char *name) {
    int made = open(file(c, name), O_CREAT | O_WRONLY, 0644);
    return made >= 0 && close(made) == 0;
}

static bool is_there(struct contract *c, const char *name) {
    return access(file(c, name), F_OK) == 0;
}

static void leftovers(struct contract *c) {
    static const char *const gone[] = {"x.db-slots-7", "x.db-bell-7", "x.db-slots-99",
                                       "x.db-bell-8"};
    static const char *const kept[] = {"x.db-slots-x", "x.db-slots-", "x.db-bell-07",
                                       "y.db-slots-7", "x.db-slots-7.txt"};
    struct store_executor self;
    for (int i = 0; i < 4; i++)
        EXPECT(leave(c, gone[i]));
    for (int i = 0; i < 5; i++)
        EXPECT(leave(c, kept[i]));
    struct store *second = contract_join(c, "second", NOW, &self);
    EXPECT(second);
    store_close(second);
    for (int i = 0; i < 4; i++)
        EXPECT(!is_there(c, gone[i]));
    for (int i = 0; i < 5; i++)
        EXPECT(is_there(c, kept[i]));
    EXPECT(is_there(c, "x.db-slots-1") && is_there(c, "x.db-bell-1"));
}

/* Whoever is dead and not reaped: its slots tell what it ran. */
static void unburied(struct contract *c) {
    pid_t child = fork();
    if (child == 0) {
        struct store_executor self;
        struct store *store = contract_join(c, "dying", NOW, &self);
        raise(store && self.id == 2 ? SIGKILL : SIGTERM);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    struct store_executor self;
    struct store_reaped reaped;
    struct store *third = contract_join(c, "third", NOW, &self);
    bool kept = third && is_there(c, "x.db-slots-2");
    bool done = kept && store_reap(third, NOW, &reaped, &c->error);
    store_close(third);
    EXPECT(done && !is_there(c, "x.db-slots-2") && !is_there(c, "x.db-bell-2"));
}

static const struct check checks[] = {
    {"a second name is refused while an executor has the first in use", executor},
    {"a second name is refused while a client has the first open", client},
    {"a second name that nobody uses, as of a backup, harms nobody", backup},
    {"two names are used in turn, and neither misses what the other has done", in_turn},
    {"the other name finds what one that was killed has committed", killed},
    {"a store that was moved is at home at its new place", moved},
    {"a copy is a store of its own", copied},
    {"what executors that are gone have left behind goes at the next start", leftovers},
    {"slots of one that is dead and not buried stay until it is", unburied},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
