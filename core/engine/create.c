#include "base/crash_point.h"
#include "engine/engine_state.h"
#include "store/store.h"
#include <stdlib.h>

enum { ROOM_KEPT = 4096 }; /* drafts */

/* The store's word goes before the function, and spares the call. */
static bool spec_priority(struct engine *engine, struct script *script, struct job_spec *draft,
                          struct error *error) {
    int overridden = store_overridden(engine->store, draft->job.handler, error);
    return overridden > 0 || (overridden == 0 && script_priority(script, &draft->job, error));
}

/* Completes a draft so that it can be written. job_spec_clear follows in any case. */
static bool spec_complete(struct engine *engine, struct job_spec *draft,
                          const struct engine_spec *said, time_ms now, struct error *error) {
    struct spec_rules rules = spec_rules(engine->options.settings);
    if (!(said->spec ? job_spec_read(draft, said->spec, &rules, now, error)
                     : job_spec_fast(draft, &said->fast, &rules, now, error)))
        return false;
    struct generation *generation;
    const struct definition *definition;
    const char *handler = draft->job.handler;
    if (!engine_find(engine, handler, &generation, &definition, error))
        return false;
    if (!definition && !generation && !draft->unchecked)
        return engine_unknown(engine, handler, error);
    job_spec_define(draft, definition, &rules);
    if (!job_spec_keyed(draft, error))
        return false;
    if (draft->needs_retries)
        script_retries(generation->script, &draft->job);
    return (!draft->needs_priority || spec_priority(engine, generation->script, draft, error)) &&
           (!draft->needs_unique || script_unique(generation->script, draft, error));
}

static bool write_jobs(struct engine *engine, struct job *jobs, void *arg, struct error *error) {
    (void)arg;
    if (!jobs->next) {
        bool done = store_enqueue(engine->store, jobs, engine_now(engine), error);
        if (done)
            engine_tidy(engine);
        return done;
    }
    return store_begin(engine->store, STORE_TURN, error) &&
           engine_end(engine, store_create(engine->store, jobs, 0, engine_now(engine), error),
                      error);
}

/* Which of them the store refused; `count`: none. */
static size_t refused_of(const struct job_spec *drafts, size_t count) {
    size_t i = 0;
    while (i < count && drafts[i].job.reply.creation != CREATION_REFUSED)
        i++;
    return i;
}

static bool create(struct engine *engine, const struct engine_spec *said, struct job_spec *drafts,
                   size_t count, size_t *refused, engine_writer *write, void *arg,
                   struct error *error) {
    time_ms now = engine_now(engine);
    for (size_t i = 0; i < count; i++) {
        *refused = i;
        if (!spec_complete(engine, &drafts[i], &said[i], now, error))
            return false;
        drafts[i].job.next = i + 1 < count ? &drafts[i + 1].job : NULL;
    }
    engine->ids_left = 0; /* lists by id stay near the order of creation; nothing rests on it */
    bool done = write(engine, &drafts[0].job, arg, error);
    *refused = refused_of(drafts, count);
    if (done)
        CRASH_POINT("enqueue_committed");
    return done;
}

/* The room of the last time, if it is enough: memory is not asked for at every call. */
static struct spec_room room_take(struct engine *engine, size_t count) {
    struct spec_room room = engine->room;
    if (room.count >= count) {
        engine->room = (struct spec_room){0};
        return room;
    }
    room.drafts = calloc(count, sizeof *room.drafts);
    room.count = room.drafts ? count : 0;
    return room;
}

static void room_give(struct engine *engine, struct spec_room room) {
    if (room.count > ROOM_KEPT || room.count <= engine->room.count) {
        free(room.drafts);
        return;
    }
    free(engine->room.drafts);
    engine->room = room;
}

bool engine_create(struct engine *engine, const struct engine_spec *said, size_t count,
                   struct created *created, size_t *refused, engine_writer *write, void *arg,
                   struct error *error) {
    size_t unasked, *wrong = refused ? refused : &unasked;
    *wrong = count;
    if (count == 0)
        return true;
    CRASH_POINT("enqueue_accepted");
    struct spec_room room = room_take(engine, count);
    struct job_spec *drafts = room.drafts;
    if (!drafts)
        return error_set(error, ERROR_FAILED, "out of memory");
    bool ok = create(engine, said, drafts, count, wrong, write, arg, error);
    for (size_t i = 0; i < count; i++) {
        created[i] = drafts[i].job.reply;
        job_spec_clear(&drafts[i]);
    }
    room_give(engine, room);
    return ok;
}

bool engine_enqueue(struct engine *engine, const struct engine_spec *drafts, size_t count,
                    struct created *created, size_t *refused, struct error *error) {
    return engine_create(engine, drafts, count, created, refused, write_jobs, NULL, error);
}

bool engine_check_spec(struct engine *engine, const struct engine_spec *said, struct error *error) {
    struct job_spec draft = {0};
    bool ok = spec_complete(engine, &draft, said, engine_now(engine), error);
    job_spec_clear(&draft);
    return ok;
}
