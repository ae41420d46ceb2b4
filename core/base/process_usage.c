#include "base/process_usage.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first line of the file that begins with `start`, behind that, into `text`; "": none. */
static void line_read(const char *path, const char *start, char *text, size_t size) {
    char line[1024];
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    while (file && !text[0] && fgets(line, sizeof line, file))
        if (strncmp(line, start, strlen(start)) == 0)
            snprintf(text, size, "%s", line + strlen(start));
    if (file)
        fclose(file);
}

static double cpu_used(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The name of the program may have blanks; behind it stand the state and numbers. */
static double started_at(void) {
    enum { BEHIND_NAME = 20 }; /* which number of those it is, in clock ticks since the boot */
    char stat[1024], boot[64];
    long long ticks = 0, booted = 0;
    line_read("/proc/self/stat", "", stat, sizeof stat);
    line_read("/proc/stat", "btime ", boot, sizeof boot);
    const char *at = strrchr(stat, ')');
    for (int i = 0; at && i < BEHIND_NAME; i++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%lld", &ticks) != 1 || sscanf(boot, "%lld", &booted) != 1)
        return 0;
    return (double)booted + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static int64_t memory_used(void) {
    char text[256];
    long long pages = 0;
    line_read("/proc/self/statm", "", text, sizeof text);
    return sscanf(text, "%*d %lld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

/* Without ".", ".." and the one that looks. */
static int64_t files_open(void) {
    int64_t count = -3;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count > 0 ? count : 0;
}

struct process_usage process_usage(void) {
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    return (struct process_usage){.cpu = cpu_used(),
                                  .started = started_at(),
                                  .memory = memory_used(),
                                  .files = files_open(),
                                  .files_most = (int64_t)files.rlim_cur};
}
