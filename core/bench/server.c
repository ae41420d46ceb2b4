#include "bench/server.h"
#include "job/store_url.h"
#include "store/provision.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the schema ---- */

char *server_url(const char *url) {
    static int count;
    char schema[64];
    snprintf(schema, sizeof schema, STORE_SCRATCH "%d_%d", (int)getpid(), ++count);
    return store_url_in(url, schema, strlen(schema));
}

bool server_make(const struct settings *settings, struct error *error) {
    struct store_schema schema;
    char shown[STORE_SHOWN];
    if (!store_provision(settings, true, &schema, error))
        return false;
    return schema.was == 0 ||
           error_set(
               error, ERROR_CONFLICT,
               "store \"%s\": is there already (expected none: another bench runs, or one that"
               " was killed has left it; drop its schema then)",
               store_url_show(settings->store, shown));
}

bool server_drop(const struct settings *settings, struct error *error) {
    struct store *store = store_open(settings->store, STORE_WRITE, settings, error);
    return store && store_drop(store, error);
}

/* ---- its processor ---- */

struct used {
    pid_t parent;
    double own, ended; /* seconds; of its children that have ended */
};

/* False: there is no such process, or it is not PostgreSQL's. */
static bool read_process(pid_t pid, struct used *used) {
    char path[64], name[32] = "";
    unsigned long times[4] = {0};
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    int found = file ? fscanf(file,
                              "%*d (%31[^)]) %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
                              " %lu %lu %lu %lu",
                              name, &parent, &times[0], &times[1], &times[2], &times[3])
                     : 0;
    if (file)
        fclose(file);
    const double second = (double)sysconf(_SC_CLK_TCK);
    *used = (struct used){parent, (double)(times[0] + times[1]) / second,
                          (double)(times[2] + times[3]) / second};
    return found == 6 && strncmp(name, "postgres", strlen("postgres")) == 0;
}

pid_t server_process(struct store *store) {
    struct used used;
    const pid_t backend = (pid_t)store_backend(store);
    return backend && read_process(backend, &used) ? used.parent : 0;
}

double server_cpu(pid_t server) {
    struct used used;
    if (!server || !read_process(server, &used))
        return 0;
    double seconds = used.own + used.ended;
    DIR *list = opendir("/proc");
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(atoi(entry->d_name), &used) &&
            used.parent == server)
            seconds += used.own;
    if (list)
        closedir(list);
    return seconds;
}
