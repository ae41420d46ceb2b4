#include "bench/commands.h"
#include "base/text.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include "bench/place.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 16, SETTLING = 1250000, WATCHED = 1000000 }; /* microseconds */

/* ---- processes ---- */

static void forget_settings(void) {
    static const char prefix[] = "MOONSHIFT_";
    extern char **environ;
    for (char **at = environ; *at;)
        if (strncmp(*at, prefix, sizeof prefix - 1) == 0)
            for (char **next = at; (*next = next[1]); next++)
                ;
        else
            at++;
}

static _Noreturn void become(char *const *words) {
    int nothing = open("/dev/null", O_RDWR);
    place_leave_signals();
    forget_settings();
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    execv("/proc/self/exe", words);
    _exit(127);
}

pid_t command_start(const char *const *words, struct error *error) {
    const char *all[WORDS] = {"moonshift"};
    for (int i = 0; words[i] && i + 2 < WORDS; i++)
        all[i + 1] = words[i];
    pid_t pid = fork();
    if (pid == 0)
        become((char *const *)all);
    if (pid < 0)
        error_set(error, ERROR_FAILED, "the system gives no process: %s", strerror(errno));
    return pid;
}

void command_end(pid_t pid) {
    kill(pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- enqueue --from ---- */

static bool write_lines(struct rig *rig, const char *path, int64_t jobs, struct error *error) {
    FILE *file = fopen(path, "w");
    const char *text = json_string_value(rig->payload);
    for (int64_t i = 0; file && i < jobs; i++) {
        fprintf(file, "{\"handler\":\"noop\",\"priority\":%d",
                rig_priority(rig, &rig->bench->random));
        fprintf(file, text ? ",\"payload\":\"%s\"}\n" : "}\n", text);
    }
    bool fine = file && !ferror(file);
    fine = file && fclose(file) == 0 && fine;
    return fine || error_set(error, ERROR_IO, "bench: \"%s\": %s", path, strerror(errno));
}

struct from {
    struct rig *rig;
    char path[PATH_MAX];
};

/* In a process of its own, as a user starts one. */
static bool enqueue_from(void *arg, struct error *error) {
    struct from *from = arg;
    bool fine = rig_engine(from->rig, error) &&
                from->rig->bench->options->enqueue_from(from->rig->engine, from->path, error);
    rig_release(from->rig);
    return fine;
}

bool phase_from(struct bench *bench, struct error *error) {
    struct rig rig;
    struct meter unused;
    struct from from = {.rig = &rig};
    int64_t jobs = bench->options->jobs;
    place_file(&bench->place, "jobs.jsonl", from.path);
    bool fine = rig_open(&rig, bench, jobs, error) && write_lines(&rig, from.path, jobs, error);
    rig_release(&rig);
    rig_tell(&rig, "enqueueing from a file", 0, 0);
    int64_t began = clock_monotonic_us();
    fine = fine && client_group_alone(enqueue_from, &from, error);
    double rate = meter_rate(jobs, clock_monotonic_us() - began);
    fine = fine &&
           (meter_put(bench->report, "enqueue_from_per_second", rate) || error_no_memory(error)) &&
           rig_drain(&rig, "draining", bench->options->workers, jobs, &unused, error);
    rig_close(&rig);
    return fine;
}

/* ---- an executor with nothing to do ---- */

struct idle {
    int64_t memory, cpu, wakes; /* KB; nanoseconds; times that a thread went on */
};

/* Sums a number of each thread up: the first of the file, or the one behind `name`. */
static int64_t sum(pid_t pid, const char *what, const char *name) {
    char path[512], line[256];
    int64_t total = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)pid, entry->d_name, what);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        size_t size = strlen(name);
        while (file && fgets(line, sizeof line, file))
            if (strncmp(line, name, size) == 0)
                total += strtoll(line + size, NULL, 10);
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return total;
}

static struct idle idle_read(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    return (struct idle){.memory = meter_memory(path),
                         .cpu = sum(pid, "schedstat", ""),
                         .wakes = sum(pid, "status", "voluntary_ctxt_switches:")};
}

static bool put_idle(struct bench *bench, const struct idle *from, const struct idle *to,
                     double seconds) {
    json_t *report = bench->report;
    return meter_put(report, "idle_kb", (double)to->memory) &&
           meter_put(report, "idle_cpu_percent", (double)(to->cpu - from->cpu) / 1e7 / seconds) &&
           meter_put(report, "idle_wakes_per_second", (double)(to->wakes - from->wakes) / seconds);
}

static bool watch(struct rig *rig, pid_t pid, int64_t scale, struct error *error) {
    rig_pause(SETTLING / scale);
    struct idle from = idle_read(pid);
    int64_t at = clock_monotonic_us();
    rig_pause(WATCHED / scale);
    struct idle to = idle_read(pid);
    double seconds = (double)(clock_monotonic_us() - at) / 1e6;
    if (to.memory == 0)
        return error_set(error, ERROR_FAILED, "idle: the executor has ended (see above)");
    return put_idle(rig->bench, &from, &to, seconds) || error_no_memory(error);
}

bool phase_idle(struct bench *bench, struct error *error) {
    struct rig rig;
    char workers[32];
    int64_t scale = bench->options->jobs < 10000 ? 5 : 1;
    bool fine = rig_open(&rig, bench, 1, error);
    rig_release(&rig);
    snprintf(workers, sizeof workers, "%d", bench->options->workers);
    const char *words[] = {"run",          bench->place.path, "--store",     rig.settings.store,
                           "--workers",    workers,           "--log-level", "error",
                           "--log-format", "logfmt",          NULL};
    pid_t pid = fine ? command_start(words, error) : -1;
    rig_tell(&rig, "watching an idle executor", 0, 0);
    fine = pid > 0 && watch(&rig, pid, scale, error);
    if (pid > 0)
        command_end(pid);
    rig_close(&rig);
    return fine;
}
