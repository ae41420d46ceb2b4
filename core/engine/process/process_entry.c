#include "engine/process/process_entry.h"
#include "base/calendar.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 500 }; /* bytes of values in an entry; larger ones are named alone */

static void name_instance(struct process_entry *entry, const struct process_cause *cause) {
    snprintf(entry->entity, sizeof entry->entity, "instance \"%lld\"", (long long)cause->instance);
}

static char *words(const char *what, const char *at, const char *name) {
    struct text text = {0};
    text_add(&text, "%s%s%s", what, *name ? at : "", name);
    return text.data;
}

/* ---- variables ---- */

static int name_order(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The same values in the order of their names. NULL: no memory. */
static json_t *sorted(const json_t *values) {
    size_t count = 0;
    json_t *list = json_object(), *value;
    const char *name, **names = calloc(json_object_size(values), sizeof *names);
    json_object_foreach(json_unchanged(values), name, value) {
        if (names)
            names[count++] = name;
    }
    if (count)
        qsort(names, count, sizeof *names, name_order);
    for (size_t i = 0; i < count; i++)
        json_object_set(list, names[i], json_object_get(values, names[i]));
    free(names);
    return list;
}

/* "days, notes" */
static char *names_of(const json_t *values) {
    struct text text = {0};
    const char *name;
    json_t *value;
    json_object_foreach(json_unchanged(values), name, value) {
        text_add(&text, "%s%s", text.size ? ", " : "", name);
    }
    return text.data;
}

/* The values as JSON, or their names if that is long; NULL: there are none. */
static char *values_of(const json_t *values) {
    size_t size = 0;
    json_t *list = json_object_size(values) ? sorted(values) : NULL;
    char *text = list ? json_write(list, &size) : NULL;
    if (text && size > VALUES_MAX) {
        free(text);
        text = names_of(list);
    }
    json_decref(list);
    return text;
}

/* ---- commands ---- */

static void start(struct process_entry *entry, const struct process_cause *cause,
                  const json_t *command, const json_t *before) {
    char number[32];
    (void)command, (void)before;
    snprintf(entry->entity, sizeof entry->entity, "process \"%s\"", cause->key);
    snprintf(number, sizeof number, "%lld", (long long)cause->instance);
    entry->after = words("instance ", "", number);
}

static void complete(struct process_entry *entry, const struct process_cause *cause,
                     const json_t *command, const json_t *before) {
    (void)before;
    snprintf(entry->entity, sizeof entry->entity, "task %lld",
             (long long)json_int(command, "task"));
    entry->before = words("open", "", "");
    entry->after = words("completed", " at ", cause->activity);
}

static void assign(struct process_entry *entry, const struct process_cause *cause,
                   const json_t *command, const json_t *before) {
    const char *assignee = json_text(cause->object, "assignee");
    const char *had = json_text(before, "assignee");
    snprintf(entry->entity, sizeof entry->entity, "task %lld",
             (long long)json_int(command, "task"));
    entry->before = had ? words(had, "", "") : NULL;
    entry->after = assignee ? words(assignee, "", "") : NULL;
}

/* What a task ends with, or escalates. */
static void raise_code(struct process_entry *entry, const struct process_cause *cause,
                       const json_t *command, const json_t *before) {
    complete(entry, cause, command, before);
    free(entry->after);
    entry->after = words(json_text(command, "kind"), " ", json_text(command, "code"));
}

/* "received by 3" */
static char *receivers_of(const struct process_cause *cause) {
    char count[32];
    snprintf(count, sizeof count, "%zu", cause->receivers);
    return cause->receivers > SIGNAL_MOST ? words("given by jobs", "", "")
                                          : words("received", " by ", count);
}

static void correlate(struct process_entry *entry, const struct process_cause *cause,
                      const json_t *command, const json_t *before) {
    (void)before;
    snprintf(entry->entity, sizeof entry->entity, "message \"%.255s\"",
             json_text(command, "message"));
    if (cause->keeps) {
        char until[TIME_TEXT_SIZE];
        time_format(cause->keeps, until);
        entry->after = words("kept", " until ", until);
        return;
    }
    entry->after =
        cause->broadcast ? receivers_of(cause) : words("received", " at ", cause->activity);
}

static void signal_given(struct process_entry *entry, const struct process_cause *cause,
                         const json_t *command, const json_t *before) {
    (void)before;
    snprintf(entry->entity, sizeof entry->entity, "signal \"%.255s\"",
             json_text(command, "signal"));
    entry->after = receivers_of(cause);
}

/* `before` has the instances that were started. */
static void conditions(struct process_entry *entry, const struct process_cause *cause,
                       const json_t *command, const json_t *before) {
    char count[32];
    const char *process = json_text(command, "process");
    (void)cause;
    snprintf(entry->entity, sizeof entry->entity, process ? "process \"%.255s\"" : "processes",
             process);
    snprintf(count, sizeof count, "%zu", json_array_size(before));
    entry->before = values_of(json_object_get(command, "variables"));
    entry->after = words("started", " ", count);
}

static void trigger(struct process_entry *entry, const struct process_cause *cause,
                    const json_t *command, const json_t *before) {
    (void)command, (void)before;
    name_instance(entry, cause);
    entry->after = words("triggered", " at ", cause->activity);
}

static void cancel(struct process_entry *entry, const struct process_cause *cause,
                   const json_t *command, const json_t *before) {
    const char *reason = json_text(command, "reason");
    (void)before;
    name_instance(entry, cause);
    entry->before = words(cause->suspended ? "suspended" : "active", "", "");
    entry->after = words("cancelled", ": ", reason ? reason : "");
}

static void set(struct process_entry *entry, const struct process_cause *cause,
                const json_t *command, const json_t *before) {
    name_instance(entry, cause);
    entry->before = values_of(before);
    entry->after = values_of(json_object_get(command, "variables"));
}

/* The old instance, and the new one. */
static void restart(struct process_entry *entry, const struct process_cause *cause,
                    const json_t *command, const json_t *before) {
    start(entry, cause, command, before);
    snprintf(entry->entity, sizeof entry->entity, "instance \"%lld\"",
             (long long)json_int(command, "instance"));
    entry->before = json_write(json_object_get(command, "operations"), NULL);
}

/* The table of the command itself. */
static void modify(struct process_entry *entry, const struct process_cause *cause,
                   const json_t *command, const json_t *before) {
    (void)before;
    name_instance(entry, cause);
    entry->after = json_write(json_object_get(command, "operations"), NULL);
}

/* The versions, and the plan as it was given. */
static void migrate(struct process_entry *entry, const struct process_cause *cause,
                    const json_t *command, const json_t *before) {
    const char *source = json_text(cause->object, "source_name");
    (void)before;
    name_instance(entry, cause);
    entry->before = words(source ? source : "", "", "");
    entry->after = json_write(json_object_get(command, "plan"), NULL);
}

static const struct {
    const char *kind, *verb;
    void (*make)(struct process_entry *entry, const struct process_cause *cause,
                 const json_t *command, const json_t *before);
} makers[] = {
    {"start", "start", start},
    {"complete", "complete", complete},
    {"throw", "throw", raise_code},
    {"escalate", "escalate", raise_code},
    {"message", "correlate", correlate},
    {"signal", "signal", signal_given},
    {"conditions", "conditions", conditions},
    {"trigger", "trigger", trigger},
    {"cancel", "cancel_instance", cancel},
    {"set", "set_variables", set},
    {"modify", "modify_instance", modify},
    {"migrate", "migrate_instance", migrate},
    {"restart", "restart_instance", restart},
    {"assign", "set_assignee", assign},
};

bool process_entry_make(struct process_entry *entry, const struct process_cause *cause,
                        const json_t *command, const json_t *before, struct error *error) {
    const char *kind = json_text(command, "kind");
    *entry = (struct process_entry){0};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(makers[i].kind, kind) == 0) {
            entry->verb = makers[i].verb;
            makers[i].make(entry, cause, command, before);
            return true;
        }
    return error_set(error, ERROR_FAILED, "%s: no code writes its entry", kind);
}

void process_entry_clear(struct process_entry *entry) {
    free(entry->before);
    free(entry->after);
    *entry = (struct process_entry){0};
}
