/* watch_contract.c - work that does not end is left behind, at most eight times. */
#include "base/thread.h"
#include "script/watch.h"
#include <stdatomic.h>
#include <stdio.h>

enum { MOST = 8 };

static int passed, failed;
static _Atomic int begun, left;
static struct semaphore end;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static void work(void *arg) {
    atomic_fetch_add(&begun, 1);
    if (arg)
        semaphore_wait(&end);
}

static void *caller(void *arg) {
    if (!watch_run(work, arg, 0))
        atomic_fetch_add(&left, 1);
    return NULL;
}

/* That many wait for their work at the same time. */
static void leave(int count) {
    struct thread threads[MOST];
    for (int i = 0; i < count; i++)
        thread_start(&threads[i], caller, &end);
    for (int i = 0; i < count; i++)
        thread_join(&threads[i]);
}

/* Each takes its thread off as it ends. */
static bool works_again(void) {
    const time_ms until = clock_monotonic() + 60000;
    bool works = false;
    for (int i = 0; i < MOST; i++)
        semaphore_post(&end);
    while (!works && clock_monotonic() < until)
        works = watch_run(work, NULL, 60000);
    return works;
}

int main(void) {
    semaphore_init(&end);
    check("work that ends is waited for", watch_run(work, NULL, 60000) && begun == 1);
    leave(MOST - 1);
    check("work that does not end is left behind", left == MOST - 1 && begun == MOST);
    leave(1);
    check("so is the eighth", left == MOST && begun == MOST + 1);
    check("a ninth does not begin", !watch_run(work, NULL, 60000) && begun == MOST + 1);
    check("it does once the others have ended", works_again() && begun == MOST + 2);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
