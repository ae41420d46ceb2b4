#include "http/api/subscriber.h"
#include "base/json.h"
#include "http/api/sight.h"
#include <stdlib.h>
#include <string.h>

#define GAP "event: gap\ndata: {}\n\n"

/* ---- what it wants ---- */

/* The words between commas; NULL: no memory. */
static json_t *words(const char *text) {
    json_t *list = json_array();
    bool done = list != NULL;
    while (done && *text) {
        size_t size = strcspn(text, ",");
        done = json_array_append_new(list, json_stringn(text, size)) == 0;
        text += size + (text[size] == ',');
    }
    return json_kept(list, done);
}

/* Without a filter it is told of all. */
static bool read_filters(struct subscriber *subscriber, const struct call *call) {
    const char *kinds = json_text(call->options, "kinds");
    const char *handler = json_text(call->options, "handler");
    const char *tenant = json_text(call->options, "tenant");
    subscriber->kinds = kinds ? words(kinds) : NULL;
    subscriber->wanted.handlers = handler ? words(handler) : NULL;
    subscriber->wanted.tenant = tenant ? strdup(tenant) : NULL;
    return (!kinds || subscriber->kinds) && (!handler || subscriber->wanted.handlers) &&
           (!tenant || subscriber->wanted.tenant);
}

/* Those that the store has. */
static json_t *stored(const struct subscriber *subscriber) {
    json_t *list = json_array();
    size_t i;
    json_t *kind;
    json_array_foreach(subscriber->kinds, i, kind)
        if (strcmp(json_string_value(kind), SUBSCRIBER_STATS) != 0)
            json_array_append(list, kind);
    return list;
}

/* The store checks the kinds, and the place; without one it says which is now. */
static bool read_place(struct subscriber *subscriber, struct call *call, struct error *error) {
    const char *last = exchange_header(call->exchange, "last-event-id");
    json_t *kinds = subscriber->kinds ? stored(subscriber) : NULL;
    json_t *question = json_pack("{ss* so*}", "after", last && *last ? last : NULL, "kinds", kinds);
    json_t *found = question ? engine_ask(call->engine, ASK_EVENTS, question, error) : NULL;
    const char *place = last && *last ? last : json_text(found, "next");
    subscriber->place = found && place ? strdup(place) : NULL;
    json_decref(question);
    json_decref(found);
    return found && (subscriber->place || error_no_memory(error));
}

/* Keeps what the caller was known by, as it is to be known again later. */
static bool keep_proof(struct subscriber *subscriber, const struct exchange *exchange) {
    static const char *const names[] = {"authorization", "cookie", "x-forwarded-user",
                                        "x-forwarded-groups"};
    struct exchange *proof = &subscriber->proof;
    proof->peer = exchange->peer;
    proof->again = true; /* its request was counted when it came */
    proof->allow_origin = exchange->allow_origin ? "" : NULL; /* it is known by no cookie */
    proof->headers = subscriber->headers;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = exchange_header(exchange, names[i]);
        char *copy = value ? strdup(value) : NULL;
        if (value && !copy)
            return false;
        if (value)
            subscriber->headers[proof->header_count++] = (struct named_text){names[i], copy};
    }
    return true;
}

static bool fill(struct subscriber *subscriber, struct call *call, struct error *error) {
    bool done = read_filters(subscriber, call) && keep_proof(subscriber, call->exchange) &&
                caller_copy(&subscriber->caller, call->caller);
    if (!done || !(subscriber->stream = stream_new(GAP)))
        return error_no_memory(error);
    subscriber->checked = subscriber->written = clock_monotonic();
    return read_place(subscriber, call, error);
}

bool answer_events(struct call *call, struct error *error) {
    struct exchange *exchange = call->exchange;
    struct subscriber *subscriber = calloc(1, sizeof *subscriber);
    if (!subscriber)
        return error_no_memory(error);
    if (!fill(subscriber, call, error)) {
        stream_leave(subscriber->stream);
        subscriber_free(subscriber);
        return false;
    }
    exchange->status = 200;
    exchange->type = "text/event-stream";
    exchange->stream = subscriber->stream;
    exchange->subscriber = subscriber;
    return true;
}

/* ---- what it is told ---- */

bool subscriber_wants(const struct subscriber *subscriber, const char *kind) {
    size_t i;
    const json_t *one;
    json_array_foreach(subscriber->kinds, i, one)
        if (strcmp(json_string_value(one), kind) == 0)
            return true;
    return !subscriber->kinds;
}

static bool is_filtered(const struct caller *caller) {
    return caller->tenant || caller->handlers;
}

bool subscriber_sees_all(const struct subscriber *subscriber) {
    return !is_filtered(&subscriber->caller) && !is_filtered(&subscriber->wanted);
}

/* What has neither a handler nor a process nor a tenant is of the whole store. */
static bool covers(const struct caller *caller, const json_t *event) {
    const struct call call = {.caller = caller};
    return !is_filtered(caller) || sight_sees(&call, event);
}

bool subscriber_sees(const struct subscriber *subscriber, const json_t *event) {
    return subscriber_wants(subscriber, json_text(event, "event")) &&
           covers(&subscriber->caller, event) && covers(&subscriber->wanted, event);
}

void subscriber_free(struct subscriber *subscriber) {
    if (!subscriber)
        return;
    stream_end(subscriber->stream);
    caller_clear(&subscriber->caller);
    caller_clear(&subscriber->wanted);
    json_decref(subscriber->kinds);
    for (size_t i = 0; i < subscriber->proof.header_count; i++)
        free((char *)(uintptr_t)subscriber->headers[i].value);
    free(subscriber->place);
    free(subscriber);
}
