#include "base/crash_point.h"
#include "engine/engine_state.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_KEPT = 4096 }; /* specs */

static enum answer spec_overridden(struct engine *engine, const char *handler,
                                   struct engine_check *check, struct error *error) {
    if (strcmp(check->handler, handler) == 0)
        return check->overridden ? YES : NO;
    enum answer overridden = store_overridden(engine->store, handler, error);
    if (overridden == FAILED)
        return FAILED;
    check->overridden = overridden == YES;
    snprintf(check->handler, sizeof check->handler, "%s", handler);
    return overridden;
}

/* The store's word goes before the function, and spares the call. */
static bool spec_priority(struct engine *engine, struct script *script, struct job_spec *spec,
                          struct engine_check *check, struct error *error) {
    enum answer overridden = spec_overridden(engine, spec->job.handler, check, error);
    return overridden == YES || (overridden == NO && script_priority(script, spec, error));
}

/* Asks the functions of its definition. */
static bool spec_ask(struct engine *engine, struct script *script, struct job_spec *spec,
                     struct engine_check *check, struct error *error) {
    if (spec->needs_retries)
        script_retries(script, spec);
    return (!spec->needs_priority || spec_priority(engine, script, spec, check, error)) &&
           (!spec->needs_unique || script_unique(script, spec, error));
}

/* They have been asked before. */
static void spec_answer(struct job_spec *spec, const struct engine_answers *answers) {
    if (spec->needs_retries)
        spec->job.retries = answers->retries;
    if (spec->needs_priority)
        spec->job.priority = answers->priority;
    if (spec->needs_unique)
        spec->job.unique_key = answers->unique;
}

static bool spec_read(struct engine *engine, struct job_spec *spec, const struct engine_spec *said,
                      time_ms now, struct error *error) {
    struct spec_rules rules = spec_rules(&engine->options.settings->write);
    now = said->at ? said->at : now;
    return said->object ? job_spec_read(spec, said->object, &rules, now, error)
                        : job_spec_fast(spec, &said->fast, &rules, now, error);
}

/* NO, with an error: an engine without scripts knows of its folder alone, and calls no function. */
static enum answer spec_without(const char *handler, struct error *error) {
    error_set(error, ERROR_CONFIG, "handler \"%s\": a script is to be asked, and none is loaded",
              handler);
    return NO;
}

static bool is_loaded(const struct engine *engine, const char *handler) {
    const struct generations *generations = engine->generations;
    return generations && definitions_find(&generations->served, handler);
}

/* Fills in what the definition decides. */
static enum answer spec_define(struct engine *engine, struct job_spec *spec,
                               const struct job *creator, struct generation **generation,
                               struct error *error) {
    struct spec_rules rules = spec_rules(&engine->options.settings->write);
    const struct definition *definition;
    const char *handler = spec->job.handler;
    const bool bare = engine->options.checks_only;
    if (bare && !is_loaded(engine, handler))
        return spec_without(handler, error);
    if (!engine_find(engine, handler, generation, &definition, error))
        return FAILED;
    if (!definition && !*generation && !spec->unchecked && !job_topic(handler)) {
        engine_unknown(engine, handler, error);
        return FAILED;
    }
    if (creator)
        job_spec_inherit(spec, creator);
    job_spec_define(spec, definition, &rules);
    if (!job_spec_keyed(spec, error))
        return FAILED;
    const bool asks = spec->needs_priority || spec->needs_unique || spec->needs_retries;
    return bare && asks ? spec_without(handler, error) : YES;
}

/* Completes a spec so that it can be written; job_spec_clear follows in any case. NO: as
 * engine_complete. */
static enum answer spec_complete(struct engine *engine, struct job_spec *spec,
                                 const struct engine_spec *said, struct engine_check *check,
                                 time_ms now, struct error *error) {
    struct generation *generation = NULL;
    if (said->whole) {
        *spec = *said->whole;
        return YES;
    }
    if (!spec_read(engine, spec, said, now, error))
        return FAILED;
    enum answer defined = spec_define(engine, spec, said->creator, &generation, error);
    if (defined != YES)
        return defined;
    if (said->answers)
        spec_answer(spec, said->answers);
    else if (!spec_ask(engine, generation ? generation->script : NULL, spec, check, error))
        return FAILED;
    return YES;
}

static bool write_jobs(struct engine *engine, struct job_spec *specs, void *arg,
                       struct error *error) {
    (void)arg;
    time_ms now = engine_now(engine);
    bool done = specs->next ? store_create(engine->store, specs, 0, now, error)
                            : store_enqueue(engine->store, specs, now, error);
    if (done)
        engine_tidy(engine);
    return done;
}

/* Which of them the store refused; `count`: none. */
static size_t refused_of(const struct job_spec *specs, size_t count) {
    size_t i = 0;
    while (i < count && specs[i].reply.creation != CREATION_REFUSED)
        i++;
    return i;
}

static bool create(struct engine *engine, const struct engine_spec *said, struct job_spec *specs,
                   size_t count, size_t *refused, engine_writer *write, void *arg,
                   struct error *error) {
    struct engine_check check = {0};
    time_ms now = engine_now(engine);
    for (size_t i = 0; i < count; i++) {
        *refused = i;
        if (spec_complete(engine, &specs[i], &said[i], &check, now, error) != YES)
            return false;
        specs[i].next = i + 1 < count ? &specs[i + 1] : NULL;
    }
    engine_ids_drop(engine);
    bool done = write(engine, specs, arg, error);
    *refused = refused_of(specs, count);
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
    room.specs = calloc(count, sizeof *room.specs);
    room.count = room.specs ? count : 0;
    return room;
}

static void room_give(struct engine *engine, struct spec_room room) {
    if (room.count > ROOM_KEPT || room.count <= engine->room.count) {
        free(room.specs);
        return;
    }
    free(engine->room.specs);
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
    struct job_spec *specs = room.specs;
    if (!specs)
        return error_no_memory(error);
    bool ok = create(engine, said, specs, count, wrong, write, arg, error);
    for (size_t i = 0; i < count; i++) {
        created[i] = specs[i].reply;
        job_spec_clear(&specs[i]);
    }
    room_give(engine, room);
    return ok;
}

bool engine_enqueue(struct engine *engine, const struct engine_spec *specs, size_t count,
                    struct created *created, size_t *refused, struct error *error) {
    return engine_create(engine, specs, count, created, refused, write_jobs, NULL, error);
}

bool engine_check_spec(struct engine *engine, const struct engine_spec *said,
                       struct engine_check *check, struct error *error) {
    struct job_spec spec = {0};
    bool ok = spec_complete(engine, &spec, said, check, engine_now(engine), error) == YES;
    bool asked = ok && (spec.needs_priority || spec.needs_unique || spec.needs_retries);
    check->answers = (struct engine_answers){.known = asked};
    if (asked) {
        check->answers.priority = spec.job.priority;
        check->answers.retries = spec.job.retries;
        check->answers.unique = spec.unique;
        spec.unique = NULL;
    }
    job_spec_clear(&spec);
    return ok;
}

enum answer engine_complete(struct engine *engine, struct engine_spec *said,
                            struct engine_check *check, struct error *error) {
    struct job_spec spec = {0};
    enum answer done = spec_complete(engine, &spec, said, check, engine_now(engine), error);
    if (done == YES && !said->whole)
        said->whole = job_spec_copy(&spec);
    job_spec_clear(&spec);
    if (done == YES && !said->whole) {
        error_no_memory(error);
        return FAILED;
    }
    return done;
}

struct job_spec *engine_draft(struct engine *engine, const struct engine_spec *said,
                              struct error *error) {
    struct engine_check check = {0};
    struct engine_spec own = *said;
    return engine_complete(engine, &own, &check, error) == YES ? own.whole : NULL;
}
