#include "engine/process/process_lane.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "time/span.h"
#include <poll.h>
#include <stdlib.h>

enum { PAUSE_FIRST = 2, PAUSE_MOST = 50 }; /* ms between two looks */
enum { HOLD_LEAST = 1000 };                /* ms for which a lane is held at least */

int64_t process_lane_of(const struct engine *engine, const struct process_instance *of) {
    bool by_root = engine->options.settings->lane_of_root && of->root;
    return job_instance_lane(by_root ? of->root : of->id);
}

/* Where the first one stands whose number is not below this one. A list of commands goes through
 * them in their order, so the search begins where the one before has ended. */
static struct process_lane **place_of(struct engine *engine, int64_t lane) {
    struct process_lane **at = &engine->lanes;
    if (engine->lane_near && engine->lane_near->lane < lane)
        at = &engine->lane_near->next;
    for (; *at && (*at)->lane < lane; at = &(*at)->next)
        engine->lane_near = *at;
    return at;
}

static struct process_lane *find(struct engine *engine, int64_t lane) {
    struct process_lane *one = *place_of(engine, lane);
    return one && one->lane == lane ? one : NULL;
}

/* Takes the first one out. */
static void drop_first(struct engine *engine) {
    struct process_lane *one = engine->lanes;
    engine->lanes = one->next;
    engine->lane_near = NULL;
    free(one);
}

static struct lane_hold hold_of(struct engine *engine, int64_t lane) {
    const struct process_lane *one = find(engine, lane);
    return one ? one->hold : (struct lane_hold){0};
}

/* ---- taking ---- */

/* What a dead command held is free within `patience`; half of it leaves a turn time to find it. */
static time_ms hold_span(const struct engine *engine) {
    time_ms half = engine->options.settings->patience / 2;
    return half > HOLD_LEAST ? half : HOLD_LEAST;
}

static bool lane_refuse(const struct engine *engine, const struct process_instance *of,
                        const struct lane_run *run, struct error *error) {
    char patience[TIME_TEXT_SIZE];
    span_format(engine->options.settings->patience, patience);
    if (!run->job)
        return error_set(
            error, ERROR_CONFLICT,
            "instance %lld: another command has its lane (waited %s, as patience says)",
            (long long)of->id, patience);
    return error_set(error, ERROR_CONFLICT,
                     "instance %lld: job %lld is running at \"%s\" (waited %s, as patience says)",
                     (long long)of->id, (long long)run->job, run->activity, patience);
}

/* The lane, and whether the frame is still the one that is known. */
static enum answer try_once(struct engine *engine, const struct process_instance *of,
                            struct lane_hold *hold, bool *fresh, struct error *error) {
    const time_ms now = engine_now(engine);
    struct lane_want want = {*hold, of->id, of->ends, now, now + hold_span(engine), 0};
    enum answer held = store_lane_hold(engine->store, &want, error);
    *hold = want.hold;
    *fresh = held == YES && want.rev == of->rev;
    return held;
}

/* Notes the lane in the order of their numbers; with a hold without a token it is waited for. */
static bool lane_note(struct engine *engine, const struct process_instance *of, int64_t lane,
                      struct lane_hold hold, struct error *error) {
    struct process_lane **at = place_of(engine, lane), *one = malloc(sizeof *one);
    if (!one)
        return error_no_memory(error);
    *one = (struct process_lane){*of, lane, hold, *at};
    *at = one;
    return true;
}

static bool keep(struct engine *engine, const struct process_instance *of, int64_t lane,
                 struct lane_hold hold, struct error *error) {
    struct error ignored = {0};
    if (lane_note(engine, of, lane, hold, error))
        return true;
    if (store_begin(engine->store, STORE_HOLD, &ignored))
        engine_end(engine, store_lane_release(engine->store, &hold, &ignored), &ignored);
    return false;
}

/* NO: it is not waited for. */
static enum answer waits_for(struct engine *engine, const struct process_instance *of, int64_t lane,
                             time_ms until, struct error *error) {
    struct lane_run run;
    if (!store_lane_look(engine->store, lane, &run, error))
        return FAILED;
    if (!run.held)
        return run.owner ? NO : YES;
    return clock_monotonic() < until || lane_refuse(engine, of, &run, error) ? YES : FAILED;
}

/* NO: it is taken, and may be waited for until that instant. YES with *fresh false: it is not
 * waited for, or the frame is another one by now. */
static enum answer attempt(struct engine *engine, const struct process_instance *of, int64_t lane,
                           time_ms until, bool *fresh, struct error *error) {
    struct lane_hold hold = {.lane = lane};
    job_services_lock(engine->services);
    enum answer held = try_once(engine, of, &hold, fresh, error);
    if (held == YES)
        held = keep(engine, of, lane, hold, error) ? YES : FAILED;
    enum answer waits = held == NO ? waits_for(engine, of, lane, until, error) : NO;
    job_services_unlock(engine->services);
    if (held != NO)
        return held;
    *fresh = false;
    if (waits == FAILED)
        return FAILED;
    return waits == YES ? NO : YES;
}

static bool needs(struct engine *engine, int64_t lane) {
    return store_kind(engine->store) != STORE_MEMORY && !hold_of(engine, lane).token;
}

/* It stands behind all that are held: who waits so cannot be waited for by what it waits for. Where
 * the command insists, units wait for it. */
static bool is_in_order(const struct engine *engine, int64_t lane) {
    if (engine->lanes && engine->lanes->lane < 0)
        return false;
    for (const struct process_lane *one = engine->lanes; one; one = one->next)
        if (one->lane > lane)
            return false;
    return true;
}

static void want(struct engine *engine, const struct process_instance *of, int64_t lane,
                 struct error *error) {
    job_services_lock(engine->services);
    bool noted = lane_note(engine, of, lane, (struct lane_hold){0}, error);
    job_services_unlock(engine->services);
    if (noted)
        error_set(error, ERROR_CONFLICT, "instance %lld: something has its lane",
                  (long long)of->id);
}

/* With its frame, where that is one request. Without one the lane is not held yet. */
static bool meet_at_once(struct engine *engine, int64_t instance, json_t **frame,
                         struct error *error) {
    struct store_reach reach = {.instance = instance, .beside = true};
    enum answer reached = process_lane_reach(engine, &reach, error);
    if (reached == YES && reach.hold.token)
        *frame = json_incref(reach.frame);
    store_reach_clear(&reach);
    return reached != FAILED;
}

/* Takes the lane of one more instance, into which the walk comes. With `lane_scope` "root" both are
 * in the one that is held. ERROR_CONFLICT: it is taken, and another one that is held stands behind
 * it, or it insists. So that no two commands wait for each other, the walk ends here
 * (process_lanes_want) and begins again with all of them. With `spares` it is not waited for: NO.
 */
static enum answer meet(struct engine *engine, int64_t instance, bool spares, json_t **frame,
                        struct error *error) {
    const struct process_instance of = {.id = instance, .ends = engine->lanes_end};
    const int64_t lane = job_instance_lane(instance);
    bool fresh;
    if (engine->options.settings->lane_of_root || !needs(engine, lane))
        return YES;
    if (!meet_at_once(engine, instance, frame, error))
        return FAILED;
    if (*frame)
        return YES;
    if (!spares && is_in_order(engine, lane))
        return process_lane_take(engine, &of, &fresh, error) ? YES : FAILED;
    enum answer taken = attempt(engine, &of, lane, TIME_NEVER, &fresh, error);
    if (taken != NO || spares)
        return taken;
    want(engine, &of, lane, error);
    return FAILED;
}

bool process_lane_take(struct engine *engine, const struct process_instance *of, bool *fresh,
                       struct error *error) {
    const int64_t lane = process_lane_of(engine, of);
    const time_ms until = clock_monotonic() + engine->options.settings->patience;
    enum answer taken = NO;
    *fresh = true;
    engine->lane_meet = meet;
    engine->lanes_end = of->ends;
    if (!needs(engine, lane))
        return true;
    for (int pause = PAUSE_FIRST; taken == NO;
         pause = pause < PAUSE_MOST / 2 ? pause * 2 : PAUSE_MOST) {
        taken = attempt(engine, of, lane, until, fresh, error);
        if (taken == NO)
            poll(NULL, 0, pause);
    }
    return taken == YES;
}

/* A file is asked without a wait. */
enum answer process_lane_reach(struct engine *engine, struct store_reach *reach,
                               struct error *error) {
    reach->by_root = engine->options.settings->lane_of_root;
    reach->now = engine_now(engine);
    reach->until = reach->now + hold_span(engine);
    job_services_lock(engine->services);
    enum answer found = store_reach(engine->store, reach, error);
    if (found == YES && reach->hold.token) {
        const struct process_instance of = {
            .id = json_int(reach->found, "instance"),
            .root = json_int(reach->frame, "root"),
            .rev =
                json_int(reach->frame, json_text(reach->frame, "around") ? "around_rev" : "rev")};
        found = keep(engine, &of, reach->hold.lane, reach->hold, error) ? YES : FAILED;
    }
    job_services_unlock(engine->services);
    return found;
}

/* One for each lane; those of a lane stand side by side. Returns how many there are. */
static size_t wants_of(const struct engine *engine, const struct process_instance *of, size_t count,
                       struct lane_want *wants) {
    const time_ms now = engine_now(engine);
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        struct lane_hold hold = {.lane = process_lane_of(engine, &of[i])};
        if (!made || wants[made - 1].hold.lane != hold.lane)
            wants[made++] =
                (struct lane_want){hold, of[i].id, of[i].ends, now, now + hold_span(engine), 0};
    }
    return made;
}

/* Notes the lanes that are held, each with its first instance. */
static bool keep_all(struct engine *engine, struct process_instance *of, size_t count,
                     const struct lane_want *wants, size_t held, struct error *error) {
    size_t at = 0;
    bool done = true;
    for (size_t i = 0; i < count; i++) {
        const int64_t lane = process_lane_of(engine, &of[i]);
        bool first = i == 0 || process_lane_of(engine, &of[i - 1]) != lane;
        at += first && i > 0;
        if (at >= held)
            break;
        if (first)
            done = keep(engine, &of[i], lane, wants[at].hold, error) && done;
        if (wants[at].instance != of[i].id || wants[at].rev != of[i].rev)
            of[i].rev = 0;
    }
    return done;
}

bool process_lanes_begin(struct engine *engine, struct process_instance *of, size_t count,
                         struct error *error) {
    if (store_kind(engine->store) == STORE_MEMORY || engine->lanes)
        return true;
    struct lane_want *wants = malloc((count + 1) * sizeof *wants);
    if (!wants)
        return error_no_memory(error);
    size_t held = 0, made = wants_of(engine, of, count, wants);
    job_services_lock(engine->services);
    bool done = store_lanes_hold(engine->store, wants, made, &held, error) &&
                keep_all(engine, of, count, wants, held, error);
    job_services_unlock(engine->services);
    free(wants);
    return done;
}

bool process_lane_held(struct engine *engine, int64_t lane) {
    return !needs(engine, lane);
}

bool process_lanes_want(const struct engine *engine) {
    const struct process_lane *one = engine->lanes;
    while (one && one->hold.token)
        one = one->next;
    return one != NULL;
}

bool process_lanes_order(struct engine *engine, struct error *error) {
    struct process_lane *lanes = engine->lanes, *next;
    bool fresh, done = store_begin(engine->store, STORE_HOLD, error) &&
                       engine_end(engine, process_lanes_write(engine, error), error);
    engine->lanes = engine->lane_near = NULL;
    for (; lanes; lanes = next) {
        next = lanes->next;
        done = done && (lanes->lane < 0 || process_lane_take(engine, &lanes->of, &fresh, error));
        free(lanes);
    }
    return done;
}

/* ---- insisting ---- */

static bool insist(struct engine *engine, const struct process_lane *one, struct error *error) {
    struct lane_hold beside;
    return store_lane_insist(engine->store, &one->hold, &beside, error) &&
           lane_note(engine, &one->of, beside.lane, beside, error);
}

/* What is noted here stands before the one that is looked at. */
static bool insist_all(struct engine *engine, struct error *error) {
    bool done = true;
    for (const struct process_lane *one = engine->lanes; done && one; one = one->next)
        if (one->hold.lane >= 0 && !find(engine, ~one->lane))
            done = insist(engine, one, error);
    return done;
}

bool process_lanes_insist(struct engine *engine, struct error *error) {
    return store_begin(engine->store, STORE_HOLD, error) &&
           engine_end(engine, insist_all(engine, error), error);
}

/* ---- giving back ---- */

bool process_lanes_write(struct engine *engine, struct error *error) {
    bool done = true;
    for (const struct process_lane *one = engine->lanes; done && one; one = one->next)
        done = store_lane_release(engine->store, &one->hold, error);
    return done;
}

void process_lanes_forget(struct engine *engine) {
    while (engine->lanes)
        drop_first(engine);
}

void process_lanes_enter(const struct engine *engine, struct store_entry *entry) {
    const struct process_lane *one = engine->lanes;
    for (int i = 0; one && i < LANES_AT_ONCE; i++, one = one->next)
        entry->holds[i] = one->hold;
}

/* The first ones. */
void process_lanes_given(struct engine *engine) {
    for (int i = 0; engine->lanes && i < LANES_AT_ONCE; i++)
        drop_first(engine);
}

/* What cannot be given back now is free when its time is over. */
void process_lanes_drop(struct engine *engine) {
    struct error ignored = {0};
    if (engine->lanes && store_begin(engine->store, STORE_HOLD, &ignored))
        engine_end(engine, process_lanes_write(engine, &ignored), &ignored);
    process_lanes_forget(engine);
}

/* ---- while a handler runs ---- */

static void move_on(struct engine *engine) {
    struct error ignored = {0}; /* the frame's rev says at the end what has come between */
    const time_ms until = engine_now(engine) + hold_span(engine);
    bool done = store_begin(engine->store, STORE_HOLD, &ignored);
    if (!done)
        return;
    for (const struct process_lane *one = engine->lanes; done && one; one = one->next)
        done = store_lane_extend(engine->store, &one->hold, until, &ignored);
    if (!done || !store_commit(engine->store, &ignored))
        store_rollback(engine->store);
}

/* Holds the keeper's mutex while it moves them on: they change only while it rests. */
static void move_on_now(struct lane_keeper *keeper) {
    job_services_lock(keeper->engine->services);
    move_on(keeper->engine);
    job_services_unlock(keeper->engine->services);
}

/* The next command mostly comes soon, so it need not wake the thread. */
static void rest(struct lane_keeper *keeper) {
    keeper->sleeps = true;
    while (!keeper->stopping && keeper->sleeps)
        condition_wait(&keeper->condition, &keeper->mutex);
}

static void *keep_on(void *arg) {
    struct lane_keeper *keeper = arg;
    mutex_lock(&keeper->mutex);
    while (!keeper->stopping) {
        const bool worked = keeper->works;
        time_ms next = clock_monotonic() + keeper->span / 3;
        while (!keeper->stopping && condition_wait_until(&keeper->condition, &keeper->mutex, next))
            ;
        if (keeper->stopping)
            break;
        if (keeper->works)
            move_on_now(keeper);
        else if (!worked)
            rest(keeper);
    }
    mutex_unlock(&keeper->mutex);
    return NULL;
}

static void keeper_end(struct lane_keeper *keeper) {
    if (!keeper)
        return;
    mutex_lock(&keeper->mutex);
    keeper->stopping = true;
    condition_signal(&keeper->condition);
    mutex_unlock(&keeper->mutex);
    thread_join(&keeper->thread);
    condition_free(&keeper->condition);
    mutex_free(&keeper->mutex);
    free(keeper);
}

/* Without a thread or memory for it, the time of a lane goes by. */
static struct lane_keeper *keeper_new(struct engine *engine) {
    struct lane_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return NULL;
    keeper->engine = engine;
    keeper->span = hold_span(engine);
    mutex_init(&keeper->mutex);
    condition_init(&keeper->condition);
    if (thread_start(&keeper->thread, keep_on, keeper))
        return keeper;
    condition_free(&keeper->condition);
    mutex_free(&keeper->mutex);
    free(keeper);
    return NULL;
}

void process_lanes_keep(struct engine *engine) {
    if (!engine->lanes)
        return;
    if (!engine->keeper)
        engine->keeper = keeper_new(engine);
    engine->keeper_end = keeper_end;
    struct lane_keeper *keeper = engine->keeper;
    if (!keeper)
        return;
    mutex_lock(&keeper->mutex);
    keeper->works = true;
    keeper->span = hold_span(engine);
    if (keeper->sleeps)
        condition_signal(&keeper->condition);
    keeper->sleeps = false;
    mutex_unlock(&keeper->mutex);
}

void process_lanes_rest(struct engine *engine) {
    struct lane_keeper *keeper = engine->keeper;
    if (!keeper)
        return;
    mutex_lock(&keeper->mutex);
    keeper->works = false;
    mutex_unlock(&keeper->mutex);
}
