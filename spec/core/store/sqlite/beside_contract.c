/* beside_contract.c - what somebody else has laid beside the database: no link is followed, no file
 * but our own is opened, none is given away or emptied. */
#include "../contract.h"
#include "store/rules/fleet/beside.h"
#include "store/store.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { SOMEBODY = 4711, ELSE = 4712 };

static char names[4][160];

/* "<directory>/<name>", in a buffer of its own. */
static const char *file(const struct contract *c, const char *name) {
    static int at;
    char *text = names[at++ % 4];
    snprintf(text, sizeof names[0], "%s/%s", c->directory, name);
    return text;
}

static bool put(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    bool done = out && fputs(text, out) >= 0;
    return out && fclose(out) == 0 && done;
}

static bool is_owned(const char *path, unsigned owner) {
    struct stat is;
    return stat(path, &is) == 0 && is.st_uid == owner;
}

static bool is_as_it_was(const char *path, const char *text, unsigned owner) {
    char found[64] = "";
    FILE *in = fopen(path, "r");
    size_t size = in ? fread(found, 1, sizeof found - 1, in) : 0;
    if (in)
        fclose(in);
    return is_owned(path, owner) && size == strlen(text) && strcmp(found, text) == 0;
}

/* The store is closed and its own file of that name is gone. */
static void clear(struct contract *c, const char *name) {
    store_close(c->store);
    c->store = NULL;
    unlink(file(c, name));
}

static bool opens(struct contract *c) {
    c->store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    return c->store != NULL;
}

static void gate_link(struct contract *c) {
    clear(c, "x.db-gate");
    EXPECT(put(file(c, "other"), "text") && chmod(file(c, "other"), 0600) == 0);
    EXPECT(symlink(file(c, "other"), file(c, "x.db-gate")) == 0);
    EXPECT(!opens(c) && c->error.code == ERROR_IO);
    EXPECT(strstr(c->error.text, "x.db-gate\" is a link (expected a plain file of this store"));
    EXPECT(is_as_it_was(file(c, "other"), "text", geteuid()));
}

static void gate_names(struct contract *c) {
    clear(c, "x.db-gate");
    EXPECT(put(file(c, "other"), "text"));
    EXPECT(link(file(c, "other"), file(c, "x.db-gate")) == 0);
    EXPECT(!opens(c) && strstr(c->error.text, "x.db-gate\" is a file with 2 names"));
}

/* As `cp -al` does. */
static void backup_names(struct contract *c) {
    static const char *const list[] = {"x.db", "x.db-gate", "x.db-wal", "x.db-shm"};
    char copy[160];
    for (size_t i = 0; i < 4; i++) {
        snprintf(copy, sizeof copy, "%s/copy-%zu", c->directory, i);
        EXPECT(link(file(c, list[i]), copy) == 0);
    }
    struct store *second = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(second && create(c, second, (struct job){.handler = "work"}, NOW));
    store_close(second);
}

static void gate_pipe(struct contract *c) {
    clear(c, "x.db-gate");
    EXPECT(mkfifo(file(c, "x.db-gate"), 0600) == 0);
    EXPECT(!opens(c) && strstr(c->error.text, "x.db-gate\" is not a regular file"));
    struct store *reader = store_open(c->url, STORE_READ, &c->settings, &c->error);
    EXPECT(reader);
    store_close(reader);
}

static void log_link(struct contract *c) {
    static const char *const list[] = {"x.db-wal", "x.db-shm", "x.db-journal"};
    store_close(c->store);
    EXPECT(put(file(c, "other"), "text"));
    for (int i = 0; i < 3; i++) {
        unlink(file(c, list[i]));
        EXPECT(symlink(file(c, "other"), file(c, list[i])) == 0);
        EXPECT(!opens(c) && strstr(c->error.text, list[i]) && strstr(c->error.text, "is a link"));
        unlink(file(c, list[i]));
    }
    EXPECT(is_as_it_was(file(c, "other"), "text", geteuid()) && opens(c));
}

static bool enqueues(struct contract *c) {
    struct job_spec spec = completed((struct job_spec){0});
    return store_enqueue(c->store, &spec, NOW, &c->error);
}

static void mailbox_link(struct contract *c) {
    clear(c, "x.db-tray");
    EXPECT(put(file(c, "other"), "text"));
    EXPECT(symlink(file(c, "other"), file(c, "x.db-tray")) == 0);
    EXPECT(opens(c) && !enqueues(c) && c->error.code == ERROR_IO);
    EXPECT(strstr(c->error.text, "x.db-tray\" is a link"));
    EXPECT(is_as_it_was(file(c, "other"), "text", geteuid()));
    unlink(file(c, "x.db-tray"));
    EXPECT(enqueues(c));
}

static void mailbox_text(struct contract *c) {
    clear(c, "x.db-tray");
    EXPECT(put(file(c, "x.db-tray"), "not a tray at all"));
    EXPECT(opens(c) && enqueues(c));
    EXPECT(is_as_it_was(file(c, "x.db-tray"), "not a tray at all", geteuid()));
}

/* A name that only an executor of this number uses, which nobody else has. */
static void slots_link(struct contract *c) {
    struct store_executor next;
    struct stat is;
    EXPECT(put(file(c, "other"), "text"));
    EXPECT(symlink(file(c, "other"), file(c, "x.db-slots-2")) == 0);
    EXPECT(link(file(c, "other"), file(c, "x.db-bell-2")) == 0);
    struct store *store = contract_join(c, "next", NOW, &next);
    EXPECT(store && next.id == 2);
    bool made = lstat(file(c, "x.db-slots-2"), &is) == 0 && S_ISREG(is.st_mode);
    bool rings = lstat(file(c, "x.db-bell-2"), &is) == 0 && S_ISSOCK(is.st_mode);
    store_close(store);
    EXPECT(made && rings && is_as_it_was(file(c, "other"), "text", geteuid()));
}

/* The rest needs another user to be tried with. */
static void owners(struct contract *c) {
    if (geteuid() != 0)
        return;
    clear(c, "x.db-gate");
    EXPECT(chown(file(c, "x.db"), SOMEBODY, SOMEBODY) == 0 && put(file(c, "x.db-gate"), ""));
    EXPECT(chown(file(c, "x.db-gate"), ELSE, ELSE) == 0);
    EXPECT(!opens(c) && strstr(c->error.text, "x.db-gate\" is a file of user 4712"));
    EXPECT(is_as_it_was(file(c, "x.db-gate"), "", ELSE));
    EXPECT(chown(file(c, "x.db-gate"), 0, 0) == 0 && opens(c));
    EXPECT(is_owned(file(c, "x.db-gate"), 0)); /* it was there: it is not given away */
}

static void given(struct contract *c) {
    struct stat is;
    if (geteuid() != 0)
        return;
    clear(c, "x.db-gate");
    EXPECT(chown(file(c, "x.db"), SOMEBODY, SOMEBODY) == 0 && opens(c));
    EXPECT(stat(file(c, "x.db-gate"), &is) == 0 && is.st_uid == SOMEBODY);
}

/* Whoever may write the store as one of its group may make the files beside it. */
static void group(struct contract *c) {
    if (geteuid() != 0)
        return;
    clear(c, "x.db-gate");
    EXPECT(chown(file(c, "x.db"), SOMEBODY, SOMEBODY) == 0 && chmod(file(c, "x.db"), 0660) == 0);
    EXPECT(put(file(c, "x.db-gate"), "") && chown(file(c, "x.db-gate"), ELSE, SOMEBODY) == 0);
    EXPECT(opens(c));
}

static void database_link(struct contract *c) {
    char url[200];
    struct store *store = NULL;
    EXPECT(symlink(file(c, "x.db"), file(c, "own.db")) == 0);
    snprintf(url, sizeof url, "sqlite:%s", file(c, "own.db"));
    EXPECT((store = store_open(url, STORE_WRITE, &c->settings, &c->error)));
    store_close(store);
    EXPECT(access(file(c, "own.db-gate"), F_OK) != 0); /* they lie beside the file itself */
    if (geteuid() != 0)
        return;
    EXPECT(lchown(file(c, "own.db"), SOMEBODY, SOMEBODY) == 0);
    EXPECT(!store_open(url, STORE_WRITE, &c->settings, &c->error) && c->error.code == ERROR_IO);
    EXPECT(strstr(c->error.text, "own.db\": a link of user 4711 to a file that is not theirs"));
    unlink(file(c, "own.db"));
    EXPECT(symlink(file(c, "new.db"), file(c, "own.db")) == 0);
    EXPECT(lchown(file(c, "own.db"), SOMEBODY, SOMEBODY) == 0);
    EXPECT(!store_open(url, STORE_CREATE, &c->settings, &c->error));
    EXPECT(access(file(c, "new.db"), F_OK) != 0);
}

static const struct check checks[] = {
    {"a link in the place of the gate is refused, and the other file is left alone", gate_link},
    {"a gate with more names than the store is refused", gate_names},
    {"a store whose files all have a second name, as in a backup, is used", backup_names},
    {"a pipe in the place of the gate is refused, and stops nobody", gate_pipe},
    {"a link in the place of the log, its index or the journal is refused", log_link},
    {"a link in the place of the mailbox is refused, and nothing is created", mailbox_link},
    {"a file that is no mailbox is not emptied", mailbox_text},
    {"links in the places of the slots and the bell are replaced, not followed", slots_link},
    {"a gate of another user is refused, and one that was there changes no owner", owners},
    {"a gate that root makes belongs to the owner of the store", given},
    {"a file of somebody in the group is taken where the group may write the store", group},
    {"a link to the store is followed only if it is ours or the owner's", database_link},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
