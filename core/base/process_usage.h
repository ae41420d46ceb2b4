/* process_usage.h - what this process uses of the machine, as the system tells it. */
#pragma once

#include <stdint.h>

struct process_usage {
    double cpu, started; /* seconds; `started`: since 1970 */
    int64_t memory;      /* bytes that are resident */
    int64_t files;       /* descriptors that are open, … */
    int64_t files_most;  /* … and that may be */
};

/* What the system does not tell is 0. */
struct process_usage process_usage(void);
