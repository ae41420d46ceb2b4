#include "job/stock.h"
#include "base/embedded.h"
#include "base/text.h"
#include "job/job.h"
#include <string.h>

#define NAMES_MAX 32

static const char root[] = "scripts/handlers/", tail[] = ".lua";

/* These act on the machine: a payload says what they do. */
static const char *const powerful[] = {"shell", NULL};

static bool is_powerful(const char *handler) {
    for (const char *const *name = powerful; *name; name++)
        if (strcmp(*name, handler) == 0)
            return true;
    return false;
}

bool stock_has(const json_t *asked, const char *handler) {
    size_t i;
    const json_t *name;
    if (!is_powerful(handler))
        return true;
    json_array_foreach(asked, i, name) {
        if (strcmp(json_string_value(name), handler) == 0)
            return true;
    }
    return false;
}

/* ---- which there are ---- */

struct names {
    char texts[NAMES_MAX][JOB_NAME_MAX + 1];
    const char *list[NAMES_MAX + 1]; /* NULL-terminated */
};

static void names_fill(struct names *names) {
    size_t count = 0;
    *names = (struct names){0};
    for (const struct embedded *file = embedded_files; file->path && count < NAMES_MAX; file++) {
        const char *name = file->path + strlen(root);
        bool handler = strncmp(file->path, root, strlen(root)) == 0;
        if (!handler || job_reserved(name) || strlen(name) > JOB_NAME_MAX)
            continue;
        strcpy(names->texts[count], name);
        names->texts[count][strlen(name) - strlen(tail)] = '\0';
        names->list[count] = names->texts[count];
        count++;
    }
}

static bool is_listed(const struct names *names, const char *name) {
    for (const char *const *known = names->list; *known; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

static bool refuse(const struct names *names, const char *name, const char *label,
                   struct error *error) {
    struct text known = {0};
    const char *const *all = names->list, *meant = suggest(name, all);
    if (meant)
        return error_set(error, ERROR_INVALID,
                         "%s: no stock handler \"%.100s\" (did you mean \"%s\"?)", label, name,
                         meant);
    for (; *all; all++)
        text_add(&known, "%s%s", known.size ? ", " : "", *all);
    error_set(error, ERROR_INVALID, "%s: no stock handler \"%.100s\" (expected %s)", label, name,
              known.data ? known.data : "another");
    text_clear(&known);
    return false;
}

bool stock_check(const json_t *asked, const char *label, struct error *error) {
    struct names names;
    size_t i;
    const json_t *name;
    names_fill(&names);
    json_array_foreach(asked, i, name) {
        if (json_is_string(name) && !is_listed(&names, json_string_value(name)))
            return refuse(&names, json_string_value(name), label, error);
    }
    return true;
}
