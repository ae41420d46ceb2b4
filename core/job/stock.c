#include "job/stock.h"
#include "base/embedded.h"
#include "base/text.h"
#include "job/job.h"
#include <string.h>

#define NAMES_MAX 32

static const char root[] = "scripts/handlers/", tail[] = ".lua";

/* These act on the machine and beyond it: a payload says what they do. */
static const char *const powerful[] = {"http", "mail", "shell", "webhook", NULL};

bool stock_has(const json_t *asked, const char *handler) {
    size_t i;
    const json_t *name;
    if (!is_one_of(handler, powerful))
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

bool stock_is(const char *handler) {
    struct names names;
    names_fill(&names);
    return is_one_of(handler, names.list);
}

static bool refuse(const struct names *names, const char *name, const char *label,
                   struct error *error) {
    char what[256];
    snprintf(what, sizeof what, "%s: no stock handler", label);
    return error_unknown(error, ERROR_INVALID, what, name, names->list, "expected");
}

bool stock_check(const json_t *asked, const char *label, struct error *error) {
    struct names names;
    size_t i;
    const json_t *name;
    names_fill(&names);
    json_array_foreach(asked, i, name) {
        if (json_is_string(name) && !is_one_of(json_string_value(name), names.list))
            return refuse(&names, json_string_value(name), label, error);
    }
    return true;
}
