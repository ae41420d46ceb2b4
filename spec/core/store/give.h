/* give.h - commands as contracts give them: each is one call, its result in `error`. */
#ifndef SPEC_CORE_STORE_GIVE_H
#define SPEC_CORE_STORE_GIVE_H

#include "base/json.h"
#include "store/store.h"

/* Takes `command` over. */
static inline bool give(struct store *store, json_t *command, struct command_run *run, time_ms now,
                        struct error *error) {
    bool done = command ? store_command(store, command, run, now, error) : error_no_memory(error);
    json_decref(run->rest);
    json_decref(command);
    return done;
}

static inline bool give_ids(struct store *store, json_t *command, struct ids ids, time_ms now,
                            struct error *error) {
    struct command_run run = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < ids.count; i++)
        json_array_append_new(list, json_integer(ids.list[i]));
    bool made = list && json_array_size(list) == ids.count;
    made = json_object_set_new(command, "ids", list) == 0 && made;
    if (made)
        return give(store, command, &run, now, error);
    json_decref(command);
    return error_no_memory(error);
}

static inline json_t *verb(const char *name) {
    return json_pack("{ss}", "verb", name);
}

static inline bool give_set_retries(struct store *store, struct ids ids, int retries, bool set_due,
                                    time_ms due, time_ms now, struct error *error) {
    json_t *command = json_pack("{ss,si}", "verb", "set_retries", "retries", retries);
    if (set_due)
        json_put_time(command, "due", due);
    return give_ids(store, command, ids, now, error);
}

static inline bool give_retry(struct store *store, struct ids ids, bool set_due, time_ms due,
                              time_ms now, struct error *error) {
    json_t *command = verb("retry");
    if (set_due)
        json_put_time(command, "due", due);
    return give_ids(store, command, ids, now, error);
}

static inline bool give_set_priority(struct store *store, struct ids ids, int64_t priority,
                                     time_ms now, struct error *error) {
    json_t *command =
        json_pack("{ss,sI}", "verb", "set_priority", "priority", (json_int_t)priority);
    return give_ids(store, command, ids, now, error);
}

static inline bool give_set_due(struct store *store, struct ids ids, time_ms due, bool cascade,
                                time_ms now, struct error *error) {
    json_t *command = json_pack("{ss,sb}", "verb", "set_due", "cascade", (int)cascade);
    json_put_time(command, "due", due);
    return give_ids(store, command, ids, now, error);
}

static inline bool give_recalculate_due(struct store *store, struct ids ids, bool from_creation,
                                        time_ms now, struct error *error) {
    json_t *command =
        json_pack("{ss,sb}", "verb", "recalculate_due", "from_creation", (int)from_creation);
    return give_ids(store, command, ids, now, error);
}

static inline bool give_set_suspended(struct store *store, struct ids ids, bool suspended,
                                      time_ms now, struct error *error) {
    return give_ids(store, verb(suspended ? "suspend" : "activate"), ids, now, error);
}

static inline bool give_delete(struct store *store, struct ids ids, time_ms now,
                               struct error *error) {
    return give_ids(store, verb("delete"), ids, now, error);
}

static inline bool give_cancel(struct store *store, struct ids ids, time_ms now,
                               struct error *error) {
    return give_ids(store, verb("cancel"), ids, now, error);
}

static inline bool give_dead_letter(struct store *store, struct ids ids, time_ms now,
                                    struct error *error) {
    return give_ids(store, verb("dead_letter"), ids, now, error);
}

static inline bool give_drain(struct store *store, const char *who, bool draining, size_t *touched,
                              time_ms now, struct error *error) {
    struct command_run run = {0};
    json_t *command = json_pack("{ss,ss}", "verb", draining ? "drain" : "resume", "executor", who);
    bool done = give(store, command, &run, now, error);
    *touched = run.touched;
    return done;
}

#endif
