#include "time/zone.h"
#include "base/text.h"
#include "time/tzif.h"
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_SIZE 64
#define FILE_MAX_SIZE (1 << 20)
#define PATH_SIZE 1024

struct zone {
    struct zone *next;
    struct tzif tzif;
    char name[NAME_MAX_SIZE + 1];
};

/* A list that only grows at its head: readers need no lock. */
static _Atomic(struct zone *) zones;
static const struct zone utc = {.name = "UTC"};

static const char *folder(void) {
    const char *path = getenv("TZDIR");
    return path && *path ? path : "/usr/share/zoneinfo";
}

/* Words of letters, digits, _ + - between slashes: such a name cannot leave the folder. */
static bool name_is_sane(const char *name) {
    size_t size = strlen(name);
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    return size <= NAME_MAX_SIZE && strspn(name, set) == size && name[0] != '/' &&
           name[size - 1] != '/' && !strstr(name, "//");
}

/* The names that tzdata knows, for a suggestion. */
struct names {
    const char **list; /* NULL-terminated */
    size_t count, room;
};

static void names_add(struct names *names, const char *name) {
    if (names->count + 1 >= names->room) {
        size_t room = names->room ? names->room * 2 : 256;
        const char **list = realloc(names->list, room * sizeof *list);
        if (!list)
            return;
        names->list = list;
        names->room = room;
    }
    char *copy = strdup(name);
    if (copy)
        names->list[names->count++] = copy;
    names->list[names->count] = NULL;
}

/* Other views of the same zones, and the machine's own choice. */
static bool is_alias(const char *name) {
    static const char *const others[] = {"posix", "right", "localtime", "posixrules",
                                         "leapseconds"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return true;
    return false;
}

static void names_collect(struct names *names, const char *below, int depth) {
    char path[PATH_SIZE], name[PATH_SIZE];
    struct stat what;
    if (snprintf(path, sizeof path, "%s/%s", folder(), below) >= (int)sizeof path)
        return;
    DIR *entries = opendir(path);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        if (!name_is_sane(name) || is_alias(name) ||
            fstatat(dirfd(entries), entry->d_name, &what, 0))
            continue;
        if (S_ISREG(what.st_mode))
            names_add(names, name);
        else if (S_ISDIR(what.st_mode) && depth < 3)
            names_collect(names, name, depth + 1);
    }
    closedir(entries);
}

static void names_clear(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free((void *)(uintptr_t)names->list[i]);
    free(names->list);
}

void zone_each(void (*visit)(const char *name, void *arg), void *arg) {
    struct names names = {0};
    names_collect(&names, "", 0);
    for (size_t i = 0; i < names.count; i++)
        visit(names.list[i], arg);
    names_clear(&names);
}

/* "berlin" and "europe/berlin" mean Europe/Berlin. */
static const char *names_meant(const struct names *names, const char *word) {
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->list[i], *last = strrchr(name, '/');
        if (!strcasecmp(name, word) || (last && !strcasecmp(last + 1, word)))
            return name;
    }
    return suggest(word, names->list);
}

static bool refuse_unknown(const char *name, struct error *error) {
    struct names names = {0};
    names_collect(&names, "", 0);
    const char *meant = names.count > 0 ? names_meant(&names, name) : NULL;
    if (names.count == 0)
        error_set(error, ERROR_INVALID, "zone \"%.64s\": unknown (no time zones in %.500s)", name,
                  folder());
    else if (meant)
        error_set(error, ERROR_INVALID, "zone \"%.64s\": unknown (did you mean \"%s\"?)", name,
                  meant);
    else
        error_set(error, ERROR_INVALID,
                  "zone \"%.64s\": unknown (expected a name such as \"Europe/Berlin\")", name);
    names_clear(&names);
    return false;
}

/* The file's bytes, malloc'ed. */
static char *read_bytes(const char *name, size_t *size, struct error *error) {
    char path[PATH_SIZE];
    struct stat what;
    if (snprintf(path, sizeof path, "%s/%s", folder(), name) >= (int)sizeof path)
        errno = ENAMETOOLONG;
    else if (stat(path, &what) == 0 && S_ISREG(what.st_mode)) {
        char *data = what.st_size > FILE_MAX_SIZE ? NULL : file_read(path, size);
        if (!data)
            error_set(error, ERROR_IO, "zone \"%s\": %s cannot be read: %s", name, path,
                      what.st_size > FILE_MAX_SIZE ? "too large" : strerror(errno));
        return data;
    }
    refuse_unknown(name, error);
    return NULL;
}

static struct zone *load(const char *name, struct error *error) {
    size_t size;
    char *data = read_bytes(name, &size, error);
    if (!data)
        return NULL;
    struct zone *zone = calloc(1, sizeof *zone);
    const char *problem = zone ? tzif_read(&zone->tzif, data, size) : "out of memory";
    free(data);
    if (problem) {
        error_set(error, ERROR_IO, "zone \"%s\": its file in %.500s %s", name, folder(), problem);
        free(zone);
        return NULL;
    }
    memcpy(zone->name, name, strlen(name) + 1);
    return zone;
}

static const struct zone *known(const struct zone *head, const char *name) {
    while (head && strcmp(head->name, name))
        head = head->next;
    return head;
}

const struct zone *zone_find(const char *name, struct error *error) {
    if (!name || !*name || !strcmp(name, utc.name))
        return &utc;
    struct zone *head = atomic_load_explicit(&zones, memory_order_acquire);
    const struct zone *found = known(head, name);
    if (found)
        return found;
    if (!name_is_sane(name))
        return error_null(error_set(
            error, ERROR_INVALID,
            "zone \"%.64s\": expected a name such as \"Europe/Berlin\" or \"UTC\"", name));
    struct zone *zone = load(name, error);
    if (!zone)
        return NULL;
    do { /* another thread may have been faster */
        if ((found = known(head, name))) {
            tzif_clear(&zone->tzif);
            free(zone);
            return found;
        }
        zone->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&zones, &head, zone, memory_order_acq_rel,
                                                    memory_order_acquire));
    return zone;
}

const char *zone_name(const struct zone *zone) {
    return zone->name;
}

/* Far enough away for every calendar, near enough to add days without overflow. */
static time_ms bound(time_ms time) {
    return time_add(time, 0);
}

static struct tzif_stretch stretch_at(const struct zone *zone, time_ms at) {
    return tzif_at(&zone->tzif, divide_down(at, 1000));
}

int zone_offset(const struct zone *zone, time_ms at) {
    return stretch_at(zone, at).offset;
}

time_ms zone_local(const struct zone *zone, time_ms at) {
    at = bound(at);
    return at + zone_offset(zone, at) * INT64_C(1000);
}

/* Local time runs on within a stretch; the instant lies in the first that reaches it. */
time_ms zone_instant(const struct zone *zone, time_ms local) {
    time_ms at = local - TZIF_OFFSET_MAX * INT64_C(1000);
    for (;;) {
        struct tzif_stretch stretch = stretch_at(zone, at);
        time_ms candidate = local - stretch.offset * INT64_C(1000);
        if (candidate < at)
            candidate = at;
        if (divide_down(candidate, 1000) < stretch.until)
            return candidate;
        at = stretch.until * 1000;
    }
}

time_ms zone_reached(const struct zone *zone, time_ms at) {
    at = bound(at);
    struct tzif_stretch stretch = stretch_at(zone, at);
    time_ms reached = at + stretch.offset * INT64_C(1000);
    int64_t past = divide_down(at, 1000) - (TZIF_OFFSET_MAX - TZIF_OFFSET_MIN);
    while (stretch.from > past) {
        time_ms last = stretch.from * 1000 - 1;
        stretch = stretch_at(zone, last);
        last += stretch.offset * INT64_C(1000);
        if (last > reached)
            reached = last;
    }
    return reached;
}

time_ms zone_change(const struct zone *zone, time_ms at) {
    int64_t until = stretch_at(zone, bound(at)).until;
    return until > TIME_LAST / 1000 ? TIME_NEVER : until * 1000;
}

time_ms zone_add(const struct zone *zone, time_ms from, const struct span *span) {
    if (span->months || span->days) {
        struct span calendar = {span->months, span->days, 0};
        time_ms local = span_add(zone_local(zone, from), &calendar);
        from = local < TIME_LAST ? zone_instant(zone, local) : TIME_LAST;
    }
    return time_add(from, span->ms);
}
