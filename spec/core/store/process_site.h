/* process_site.h - a process that is deployed, and what is asked of it. For the contracts of
 * processes.
 */
#ifndef MOONSHIFT_SPEC_STORE_PROCESS_SITE_H
#define MOONSHIFT_SPEC_STORE_PROCESS_SITE_H

#include "contract.h"

#define ORDER                                                                                      \
    "{'key': 'order', 'kind': 'bpmn', 'path': 'processes/order.bpmn', 'hash': '%s', 'timers': "    \
    "[%s], 'events': [%s], 'history_time_to_live': 'P1D'}"

/* Text in which ' stands for ", as JSON. */
static inline json_t *json_of(const char *format, ...) {
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

/* Takes the processes over. */
static inline bool deploy(struct contract *c, const char *hash, json_t *processes, time_ms now) {
    struct definitions none = {0};
    struct store_file file = {"processes/order.bpmn", "<definitions/>", 14};
    struct store_deployment deployment = {.name = "shop",
                                          .hash = hash,
                                          .files = &file,
                                          .file_count = 1,
                                          .definitions = &none,
                                          .processes = processes};
    int64_t id = 0;
    bool done = store_deploy(c->store, &deployment, NULL, now, &id, &c->error);
    json_decref(processes);
    return done;
}

/* The id of the current version of "order"; 0: error. */
static inline int64_t version(struct contract *c) {
    json_t *question = json_of("{'key': 'order'}");
    json_t *found = store_ask(c->store, ASK_VERSION, question, NOW, &c->error);
    int64_t id = json_integer_value(json_object_get(found, "id"));
    json_decref(question);
    json_decref(found);
    return id;
}

static inline int64_t order(struct contract *c) {
    return deploy(c, "a", json_of("[" ORDER "]", "one", "", ""), NOW) ? version(c) : 0;
}

/* How many rows the question has. Takes the filters over. */
static inline int rows(struct contract *c, enum ask_kind kind, json_t *filters) {
    json_t *question = json_pack("{so? si}", "filters", filters, "limit", 1000);
    json_t *found = store_ask(c->store, kind, question, NOW, &c->error);
    int count = found ? (int)json_array_size(found) : -1;
    json_decref(question);
    json_decref(found);
    return count;
}

/* A member of the answer to a question, as text; "" for none. */
static inline const char *answer(struct contract *c, enum ask_kind kind, json_t *question,
                                 const char *key) {
    static char texts[4][256];
    static int at;
    char *text = texts[at++ % 4];
    json_t *found = store_ask(c->store, kind, question, NOW, &c->error);
    json_t *value = json_object_get(found, key);
    snprintf(text, 256, "%s", json_is_string(value) ? json_string_value(value) : "");
    if (json_is_integer(value))
        snprintf(text, 256, "%lld", (long long)json_integer_value(value));
    json_decref(question);
    json_decref(found);
    return text;
}

#endif
