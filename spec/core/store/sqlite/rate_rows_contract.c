/* rate_rows_contract.c - what a rate costs in rows: as many as it has starts at most, or, of many,
 * about as many as a window has parts. */
#include "../contract.h"
#include <sqlite3.h>

static struct definition declared;
static struct definitions definitions = {.count = 1, .list = &declared};

static bool deploy(struct contract *c, struct rate rate) {
    static char text[RATE_TEXT_SIZE], name[] = "work", file[] = "handlers/work.lua", hash[] = "h";
    struct store_deployment deployment = {.name = "x", .hash = hash, .definitions = &definitions};
    int64_t id = 0;
    rate_format(&rate, text);
    declared = (struct definition){.name = name, .file = file, .rate_text = text, .rate = rate};
    declared.properties = json_object();
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    return done;
}

static int rows(struct contract *c) {
    char path[128];
    sqlite3 *handle = NULL;
    sqlite3_stmt *statement = NULL;
    int count = -1;
    snprintf(path, sizeof path, "%s/x.db", c->directory);
    if (sqlite3_open(path, &handle) == SQLITE_OK &&
        sqlite3_prepare_v2(handle, "SELECT count(*) FROM rate WHERE definition<>0", -1, &statement,
                           NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return count;
}

/* Starts a job at each of so many instants, `step` apart. */
static bool start(struct contract *c, int count, time_ms step) {
    struct acquire one = everything;
    one.idle = 1;
    for (int i = 0; i < count; i++) {
        struct job *jobs = NULL;
        int found = 0;
        bool more = false;
        time_ms now = NOW + i * step;
        if (!create(c, c->store, (struct job){.handler = "work"}, now) ||
            !store_acquire(c->store, &one, now, &jobs, &found, &more, &c->error))
            return false;
        job_free_list(jobs);
        if (found != 1)
            return false;
    }
    return true;
}

static void exact(struct contract *c) {
    EXPECT(deploy(c, (struct rate){20, 60000}));
    EXPECT(rows(c) == 1);
    EXPECT(start(c, 100, 6000) && rows(c) <= 21);
}

static void in_parts(struct contract *c) {
    EXPECT(deploy(c, (struct rate){5000, 10000}));
    EXPECT(start(c, 600, 37) && rows(c) <= 102 && rows(c) > 50);
}

static const struct check checks[] = {
    {"a rate has a row for each of its latest starts at most", exact},
    {"a rate of thousands has a row for each part of the window", in_parts},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
