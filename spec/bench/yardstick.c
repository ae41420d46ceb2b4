/* yardstick.c - the least that a durable executor of prioritised jobs with Lua handlers must do on
 * SQLite: what `moonshift bench` is compared with by `make bench`. It has no retries, timers,
 * lanes, history or recovery; what it is told is on disk, and each job runs once.
 *
 *   yardstick [-n jobs] [-m lock] [-b jobs a call] [-p producers] [-w workers] [-y payload bytes]
 *             [-l latency samples] [-f database file] [-q]
 *
 * One thread has the only connection. In each transaction it does all that waits: deletes the jobs
 * that have run, inserts new ones, locks the best of what is ready by writing an owner and an
 * expiry into each row. Workers, a Lua state each, get jobs and give them back many at a time. A
 * producer goes on when the commit with its jobs is synced. Measured are: creating all jobs,
 * running them, both at once, and the time from a call to the start of its handler. -q prints one
 * line of key=value. */
#include "yardstick/database.h"
#include "yardstick/executor.h"
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRODUCERS_MAX = 256, APART = 2000 };

static struct {
    int jobs, rows, producers, workers, payload, samples;
    bool quiet;
    const char *file;
} asked = {100000, 1000, 1, 2, 100, 300, false, "yardstick.db"};

static int64_t cpu_us(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

/* ---- producers ---- */

static void *producer_run(void *arg) {
    int *share = arg;
    struct request request;
    sem_init(&request.synced, 0, 0);
    for (int left = *share; left > 0; left -= asked.rows)
        executor_create(&request, left < asked.rows ? left : asked.rows);
    return NULL;
}

static void produce(void) {
    pthread_t threads[PRODUCERS_MAX];
    int shares[PRODUCERS_MAX];
    for (int i = 0; i < asked.producers; i++) {
        shares[i] = asked.jobs / asked.producers + (i < asked.jobs % asked.producers);
        pthread_create(&threads[i], NULL, producer_run, &shares[i]);
    }
    for (int i = 0; i < asked.producers; i++)
        pthread_join(threads[i], NULL);
}

/* ---- measuring ---- */

struct figure {
    double rate, cpu; /* jobs a second; microseconds a job */
};

static void drain(void) {
    executor_go();
    executor_await();
}

static void both(void) {
    produce();
    executor_await();
}

static struct figure measure(void (*phase)(void)) {
    int64_t from = now_ns(), cpu = cpu_us();
    phase();
    return (struct figure){asked.jobs * 1e9 / (double)(now_ns() - from),
                           (double)(cpu_us() - cpu) / asked.jobs};
}

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Sorted nanoseconds from a call to the start of its handler. */
static int64_t *sample(void) {
    int64_t *spans = calloc((size_t)asked.samples + 1, sizeof *spans);
    struct request request;
    sem_init(&request.synced, 0, 0);
    executor_sample();
    for (int i = 0; i < asked.samples; i++) {
        usleep(APART);
        int64_t from = now_ns();
        executor_create(&request, 1);
        spans[i] = executor_sampled() - from;
    }
    executor_await();
    qsort(spans, (size_t)asked.samples, sizeof *spans, by_value);
    return spans;
}

static void print(struct figure created, struct figure drained, int64_t drain_turns,
                  struct figure at_once, const int64_t *spans) {
    double p50 = (double)spans[asked.samples / 2] / 1000;
    double p99 = (double)spans[asked.samples * 99 / 100] / 1000;
    if (asked.quiet)
        printf("mode=lock sync=FULL n=%d b=%d p=%d w=%d y=%d enqueue=%.0f drain=%.0f both=%.0f"
               " drain_cpu_us=%.2f both_cpu_us=%.2f drain_turns=%lld lat_p50_us=%.0f"
               " lat_p99_us=%.0f\n",
               asked.jobs, asked.rows, asked.producers, asked.workers, asked.payload, created.rate,
               drained.rate, at_once.rate, drained.cpu, at_once.cpu, (long long)drain_turns, p50,
               p99);
    else
        printf("enqueue  %8.0f jobs/s  (%d a call, %d producers)\n"
               "drain    %8.0f jobs/s  (%.2f us CPU a job, %.0f jobs a transaction)\n"
               "both     %8.0f jobs/s  (%.2f us CPU a job)\n"
               "latency  p50 %.0f us, p99 %.0f us\n",
               created.rate, asked.rows, asked.producers, drained.rate, drained.cpu,
               asked.jobs / (double)drain_turns, at_once.rate, at_once.cpu, p50, p99);
}

static int number(const char *text, int most) {
    int value = atoi(text);
    if (value < 0 || value > most)
        die(text, "out of range");
    return value;
}

static void read_options(int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "n:m:b:p:w:y:l:f:q")) != -1;)
        switch (option) {
        case 'n':
            asked.jobs = number(optarg, 100000000);
            break;
        case 'b':
            asked.rows = number(optarg, 1000000);
            break;
        case 'p':
            asked.producers = number(optarg, PRODUCERS_MAX);
            break;
        case 'w':
            asked.workers = number(optarg, WORKERS_MAX);
            break;
        case 'y':
            asked.payload = number(optarg, 1 << 20);
            break;
        case 'l':
            asked.samples = number(optarg, 1000000);
            break;
        case 'f':
            asked.file = optarg;
            break;
        case 'q':
            asked.quiet = true;
            break;
        case 'm':
            if (strcmp(optarg, "lock") == 0)
                break;
            die(optarg, "expected -m lock"); /* fall through */
        default:
            exit(2);
        }
    if (asked.jobs < 1 || asked.rows < 1 || asked.producers < 1 || asked.workers < 1)
        die("-n, -b, -p, -w", "expected 1 at least");
}

static void phases(void) {
    struct figure created = measure(produce);
    int64_t before = executor_turns();
    struct figure drained = measure(drain);
    int64_t drain_turns = executor_turns() - before;
    struct figure at_once = measure(both);
    if (executor_runs() != 2 * (int64_t)asked.jobs)
        die("check", "jobs were lost");
    int64_t *spans = sample();
    print(created, drained, drain_turns, at_once, spans);
    free(spans);
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    char *payload = malloc((size_t)asked.payload + 1);
    memset(payload, 'x', (size_t)asked.payload);
    struct executor_options options = {.workers = asked.workers,
                                       .payload = payload,
                                       .payload_size = asked.payload,
                                       .ids = 2 * (int64_t)asked.jobs + asked.samples + 1};
    database_open(asked.file);
    executor_start(&options);
    phases();
    executor_end();
    if (database_count() != 0)
        die("check", "jobs are left in the table");
    database_close(asked.file);
    free(payload);
    return 0;
}
