#include "job/suspension.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

static const char *const names[SUSPENSIONS] = {"job",      "definition", "instance", "batch",
                                               "schedule", "process",    "caller"};

int suspension_find(const char *name) {
    for (int i = 0; name && i < SUSPENSIONS; i++)
        if (strcmp(name, names[i]) == 0)
            return 1 << i;
    return 0;
}

void suspension_text(int reasons, char text[SUSPENSION_TEXT]) {
    size_t size = 0;
    text[0] = '\0';
    for (int i = 0; i < SUSPENSIONS; i++)
        if (reasons & 1 << i)
            size += (size_t)snprintf(text + size, SUSPENSION_TEXT - size, "%s%s", size ? ", " : "",
                                     names[i]);
}

json_t *suspension_to_json(int reasons) {
    json_t *list = reasons ? json_array() : json_null();
    for (int i = 0; list && i < SUSPENSIONS; i++)
        if (reasons & 1 << i && json_array_append_new(list, json_string(names[i])) != 0)
            return json_kept(list, false);
    return list;
}

void held_add(struct held *held, int reasons) {
    held->jobs += reasons != 0;
    for (int i = 0; i < SUSPENSIONS; i++)
        held->by[i] += (reasons & 1 << i) != 0;
}

void held_text(const struct held *held, char text[HELD_TEXT]) {
    size_t size = 0;
    text[0] = '\0';
    if (!held->jobs)
        return;
    size += (size_t)snprintf(text, HELD_TEXT, "%lld %s suspended", (long long)held->jobs,
                             held->jobs == 1 ? "stays" : "stay");
    for (int i = 0, shown = 0; i < SUSPENSIONS; i++)
        if (held->by[i])
            size += (size_t)snprintf(text + size, HELD_TEXT - size, "%s%s %lld",
                                     shown++ ? ", " : ": ", names[i], (long long)held->by[i]);
}

json_t *held_to_json(const struct held *held) {
    json_t *object = json_object();
    bool fine = object && json_put(object, "jobs", json_integer(held->jobs));
    for (int i = 0; fine && i < SUSPENSIONS; i++)
        fine = !held->by[i] || json_put(object, names[i], json_integer(held->by[i]));
    return json_kept(object, fine);
}

void held_from_json(struct held *held, const json_t *object) {
    held->jobs = json_integer_value(json_object_get(object, "jobs"));
    for (int i = 0; i < SUSPENSIONS; i++)
        held->by[i] = json_integer_value(json_object_get(object, names[i]));
}
