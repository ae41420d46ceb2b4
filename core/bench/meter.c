#include "bench/meter.h"
#include "base/json.h"
#include "bench/server.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static pid_t measured;

void meter_server(pid_t server) {
    measured = server;
}

struct meter meter_read(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double user = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    double system = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    return (struct meter){.at = clock_monotonic_us(),
                          .cpu = user + system,
                          .server = server_cpu(measured),
                          .writes = store_writes(),
                          .peak = used.ru_maxrss};
}

struct meter meter_since(const struct meter *from) {
    struct meter now = meter_read();
    now.at -= from->at;
    now.cpu -= from->cpu;
    now.server -= from->server;
    now.writes.syncs -= from->writes.syncs;
    now.writes.commits -= from->writes.commits;
    now.writes.log -= from->writes.log;
    return now;
}

double meter_rate(int64_t count, int64_t span) {
    return (double)count * 1e6 / (double)(span > 0 ? span : 1);
}

int64_t meter_memory(const char *statm) {
    long all = 0, resident = 0;
    FILE *file = fopen(statm, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return (int64_t)resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

double meter_part(int64_t *values, size_t count, double part) {
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    size_t at = (size_t)((double)count * part);
    return (double)values[at < count ? at : count - 1] / 1000;
}

bool meter_put(json_t *object, const char *key, double value) {
    double rounded = round(value * 1000) / 1000;
    bool whole = fabs(rounded) >= 100;
    return json_put(object, key, whole ? json_integer(llround(value)) : json_real(rounded));
}

bool meter_put_written(json_t *object, const struct meter *used, double count, const char *server) {
    return server ||
           (meter_put(object, "log_bytes", (double)used->writes.log / count) &&
            meter_put(object, "syncs_per_10000", (double)used->writes.syncs * 1e4 / count));
}
