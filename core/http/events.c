#include "http/events.h"
#include "base/json.h"
#include "base/log.h"
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

enum {
    EVERY = 1000,        /* ms between two looks */
    CATCH_UP = 20,       /* ms, while one has not come as far as the others */
    LOOKS_MOST = 20,     /* at once, where more happens than one look tells */
    CHECK_EVERY = 10000, /* ms after which a caller has to be known again */
    SILENCE = 15000      /* ms after which something is written, so that a reader's end is seen */
};

struct events {
    struct events_options options;
    /* ---- the thread's ---- */
    struct engine *engine;          /* NULL: nobody reads */
    struct subscriber *subscribers; /* newest first */
    char *place;                    /* of those that share one; NULL: none does */
    time_ms stats_at;               /* monotonic: when the figures are told next */
    bool behind;                    /* one has not come as far as the others */
    /* ---- */
    struct thread thread;
    struct mutex mutex; /* guards what follows */
    struct condition changed;
    struct door *door;
    struct subscriber *added;
    bool ends;
};

struct events *events_new(const struct events_options *options) {
    struct events *events = calloc(1, sizeof *events);
    if (!events)
        return NULL;
    events->options = *options;
    mutex_init(&events->mutex);
    condition_init(&events->changed);
    return events;
}

/* ---- writing ---- */

static void write_text(struct subscriber *to, const struct text *text) {
    if (text->size == 0 || text->failed)
        return;
    stream_write(to->stream, text->data, text->size);
    to->written = clock_monotonic();
}

/* As the wire has an event. Its place is no part of what it tells. */
static void add_event(struct text *out, const json_t *event) {
    json_t *told = json_copy(json_unchanged(event));
    json_object_del(told, "event");
    json_object_del(told, "place");
    char *data = json_write(told, NULL);
    text_add(out, "event: %s\nid: %s\ndata: %s\n\n", json_text(event, "event"),
             json_text(event, "place"), data ? data : "{}");
    free(data);
    json_decref(told);
}

static void tell(struct subscriber *to, const json_t *items) {
    struct text out = {0};
    size_t i;
    const json_t *event;
    json_array_foreach(items, i, event)
        if (subscriber_sees(to, event))
            add_event(&out, event);
    write_text(to, &out);
    text_clear(&out);
}

static const char *place_of(const struct events *events, const struct subscriber *subscriber) {
    return subscriber->shared ? events->place : subscriber->place;
}

/* The place alone: it is where the reader goes on, and no event. */
static void tell_place(const struct events *events, struct subscriber *to, const char *before) {
    struct text out = {0};
    text_add(&out, "%sid: %s\n\n", before, place_of(events, to));
    write_text(to, &out);
    text_clear(&out);
}

/* ---- looks ---- */

/* The kinds that any of them wants; NULL: all. */
static json_t *kinds_wanted(const struct events *events) {
    json_t *kinds = json_array();
    for (const struct subscriber *one = events->subscribers; one; one = one->next) {
        size_t i;
        json_t *kind;
        if (!one->kinds) {
            json_decref(kinds);
            return NULL;
        }
        json_array_foreach(one->kinds, i, kind)
            if (strcmp(json_string_value(kind), SUBSCRIBER_STATS) != 0)
                json_array_append(kinds, kind);
    }
    return kinds;
}

/* NULL: the store does not answer; it is asked again later. */
static json_t *look(struct events *events, const char *after) {
    struct error error = {0};
    json_t *question = json_pack("{ss* so*}", "after", after, "kinds", kinds_wanted(events));
    json_t *found = question ? engine_ask(events->engine, ASK_EVENTS, question, &error) : NULL;
    if (!found)
        log_event(LOG_DEBUG, "no events", "reason:s", error.text);
    json_decref(question);
    return found;
}

static bool go_to(char **place, const json_t *found) {
    char *next = strdup(json_text(found, "next"));
    if (!next)
        return false;
    free(*place);
    *place = next;
    return true;
}

/* More happens than can be told. */
static void skip_shared(struct events *events) {
    static const char gap[] = "event: gap\ndata: {}\n\n";
    json_t *now = look(events, NULL);
    if (now && go_to(&events->place, now))
        for (struct subscriber *one = events->subscribers; one; one = one->next)
            if (one->shared)
                tell_place(events, one, gap);
    json_decref(now);
}

static void look_shared(struct events *events) {
    bool more = events->place != NULL;
    for (int i = 0; more && i < LOOKS_MOST; i++) {
        json_t *found = look(events, events->place);
        more = json_is_true(json_object_get(found, "more"));
        for (struct subscriber *one = events->subscribers; one && found; one = one->next)
            if (one->shared)
                tell(one, json_object_get(found, "items"));
        if (found)
            go_to(&events->place, found);
        json_decref(found);
    }
    if (more)
        skip_shared(events);
}

/* One by itself, as fast as it reads. */
static void look_alone(struct events *events, struct subscriber *one) {
    if (stream_behind(one->stream) > 0)
        return;
    json_t *found = look(events, one->place);
    const bool more = json_is_true(json_object_get(found, "more"));
    if (found) {
        tell(one, json_object_get(found, "items"));
        go_to(&one->place, found);
    }
    json_decref(found);
    events->behind = events->behind || more;
    if (!found || more)
        return;
    if (!events->place)
        events->place = strdup(one->place);
    one->shared = events->place && strcmp(events->place, one->place) == 0;
}

static void look_stats(struct events *events, time_ms now) {
    struct text out = {0};
    bool wanted = false;
    for (const struct subscriber *one = events->subscribers; one; one = one->next)
        wanted = wanted || (subscriber_wants(one, SUBSCRIBER_STATS) && subscriber_sees_all(one));
    if (!wanted || now < events->stats_at)
        return;
    events->stats_at = now + EVERY;
    json_t *stats = engine_ask(events->engine, ASK_STATS, NULL, NULL);
    char *data = stats ? json_write(stats, NULL) : NULL;
    if (data)
        text_add(&out, "event: " SUBSCRIBER_STATS "\ndata: %s\n\n", data);
    for (struct subscriber *one = events->subscribers; one; one = one->next)
        if (subscriber_wants(one, SUBSCRIBER_STATS) && subscriber_sees_all(one))
            write_text(one, &out);
    free(data);
    json_decref(stats);
    text_clear(&out);
}

/* ---- who is there ---- */

/* A token that was revoked, or a session that has ended, sees no more. Where the store does not say
 * it is known as before. */
static bool is_known(struct events *events, struct subscriber *one, time_ms now) {
    struct caller caller = {0};
    if (now - one->checked < CHECK_EVERY)
        return true;
    one->checked = now;
    enum caller_verdict verdict =
        callers_find(events->options.callers, events->engine, &one->proof, &caller, NULL);
    const bool known = verdict == CALLER_KNOWN || verdict == CALLER_FAILED;
    caller_clear(&caller);
    return known;
}

static void drop_gone(struct events *events, time_ms now) {
    bool shared = false;
    for (struct subscriber **at = &events->subscribers, *one; (one = *at);) {
        if (!stream_gone(one->stream) && is_known(events, one, now)) {
            shared = shared || one->shared;
            at = &one->next;
            continue;
        }
        *at = one->next;
        subscriber_free(one);
    }
    if (shared)
        return;
    free(events->place);
    events->place = NULL;
}

static void look_all(struct events *events) {
    struct error error = {0};
    const time_ms now = clock_monotonic();
    events->behind = false;
    if (!events->engine)
        events->engine = events->options.open(events->options.arg, &error);
    if (!events->engine)
        return;
    drop_gone(events, now);
    look_shared(events);
    for (struct subscriber *one = events->subscribers; one; one = one->next)
        if (!one->shared)
            look_alone(events, one);
    look_stats(events, now);
    for (struct subscriber *one = events->subscribers; one; one = one->next)
        if (now - one->written >= SILENCE)
            tell_place(events, one, "");
}

/* ---- the thread ---- */

/* The mutex is held. */
static void take_added(struct events *events) {
    for (struct subscriber *one = events->added, *next; one; one = next) {
        next = one->next;
        one->next = events->subscribers;
        events->subscribers = one;
        tell_place(events, one, "retry: 1000\n");
    }
    events->added = NULL;
}

static void close_store(struct events *events) {
    engine_close(events->engine);
    events->engine = NULL;
}

/* The mutex is held. */
static void await(struct events *events) {
    const time_ms until = clock_monotonic() + (events->behind ? CATCH_UP : EVERY);
    bool over = false;
    while (!events->added && !events->ends && !over) {
        if (events->subscribers)
            over = !condition_wait_until(&events->changed, &events->mutex, until);
        else
            condition_wait(&events->changed, &events->mutex);
    }
}

static void *run(void *arg) {
    struct events *events = arg;
    mutex_lock(&events->mutex);
    while (!events->ends) {
        take_added(events);
        struct door *door = events->door;
        mutex_unlock(&events->mutex);
        if (events->subscribers) {
            look_all(events);
            door_pour(door);
        }
        if (!events->subscribers)
            close_store(events);
        mutex_lock(&events->mutex);
        await(events);
    }
    mutex_unlock(&events->mutex);
    close_store(events);
    return NULL;
}

void events_add(struct events *events, struct door *door, struct subscriber *subscriber) {
    mutex_lock(&events->mutex);
    events->door = door;
    subscriber->next = events->added;
    events->added = subscriber;
    if (!events->thread.running && !events->ends)
        thread_start(&events->thread, run, events);
    condition_signal(&events->changed);
    mutex_unlock(&events->mutex);
}

static void free_list(struct subscriber *one) {
    for (struct subscriber *next; one; one = next) {
        next = one->next;
        subscriber_free(one);
    }
}

void events_free(struct events *events) {
    if (!events)
        return;
    mutex_lock(&events->mutex);
    events->ends = true;
    condition_signal(&events->changed);
    mutex_unlock(&events->mutex);
    thread_join(&events->thread);
    free_list(events->subscribers);
    free_list(events->added);
    free(events->place);
    condition_free(&events->changed);
    mutex_free(&events->mutex);
    free(events);
}
