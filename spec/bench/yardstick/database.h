/* database.h - the yardstick's table of jobs: every verb is what one transaction needs of it. An
 * error ends the program. */
#ifndef SPEC_BENCH_YARDSTICK_DATABASE_H
#define SPEC_BENCH_YARDSTICK_DATABASE_H

#include <stdint.h>

struct job {
    int64_t id, due;
    int priority, retries, size;
    char *payload;
};

/* A new file in place of what was there; removed with everything beside it. */
void database_open(const char *path);
void database_close(const char *path);

void database_begin(void);
void database_commit(void);
/* One job of a random priority, due at once. */
void database_insert(const char *payload, int size);
void database_delete(int64_t id);
/* Locks the best that are ready, `room` at most; how many. Their payloads are the caller's. */
int database_acquire(struct job *jobs, int room);
int64_t database_count(void);

void die(const char *what, const char *why);

#endif
