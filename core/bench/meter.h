/* meter.h - what something takes: time, processor, syncs. */
#pragma once

#include "store/store.h"
#include <sys/types.h>

struct meter {
    int64_t at;    /* microseconds */
    double cpu;    /* seconds, user and system, of all threads */
    double server; /* the same of the server, see meter_server; 0: there is none here */
    struct store_writes writes;
    int64_t peak; /* kilobytes: the most memory that this process has had so far */
};

/* From here on the processor of this server is measured; 0: of none. Children inherit it. */
void meter_server(pid_t server);

struct meter meter_read(void);
/* What has been used up since `from`. */
struct meter meter_since(const struct meter *from);

/* So many a second, `span` in microseconds. */
double meter_rate(int64_t count, int64_t span);

/* Kilobytes in memory now, of the process whose /proc/…/statm this is (0: it has ended). */
int64_t meter_memory(const char *statm);

/* Sorts microseconds and reads one of them in milliseconds: part 0.5 is the median, 1 the most. */
double meter_part(int64_t *values, size_t count, double part);

/* Puts a number: a whole one from 100 on, else with three digits behind the point. */
bool meter_put(json_t *object, const char *key, double value);

/* Puts what was written to the log, and how often it was synced, by each of so many. A server
 * writes by itself: nothing is put. */
bool meter_put_written(json_t *object, const struct meter *used, double count, const char *server);
