#include "engine/process_lane.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "time/span.h"
#include <poll.h>

enum { PAUSE_FIRST = 2, PAUSE_MOST = 50 }; /* ms between two looks */

void process_lane_begin(struct process_lane *lane, struct engine *engine, int64_t instance,
                        int64_t root) {
    const struct settings *settings = engine->options.settings;
    lane->instance = instance;
    lane->id = job_instance_lane(root && settings->lane_of_root ? root : instance);
    lane->until = clock_monotonic() + settings->patience;
}

bool process_lane_late(const struct process_lane *lane) {
    return clock_monotonic() >= lane->until;
}

static bool refuse(const struct process_lane *lane, const struct engine *engine,
                   const struct lane_run *run, struct error *error) {
    char patience[TIME_TEXT_SIZE];
    span_format(engine->options.settings->patience, patience);
    if (!run->job)
        return error_set(
            error, ERROR_CONFLICT,
            "instance %lld: another command has its lane (waited %s, as patience says)",
            (long long)lane->instance, patience);
    return error_set(error, ERROR_CONFLICT,
                     "instance %lld: job %lld is running at \"%s\" (waited %s, as patience says)",
                     (long long)lane->instance, (long long)run->job, run->activity, patience);
}

bool process_lane_wait(struct process_lane *lane, struct engine *engine, bool *waited,
                       struct error *error) {
    struct lane_run run;
    *waited = false;
    for (int pause = PAUSE_FIRST; !lane->token;
         pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST) {
        if (!store_lane_look(engine->store, lane->id, &run, error))
            return false;
        if (!run.held)
            return true;
        if (process_lane_late(lane))
            return refuse(lane, engine, &run, error);
        *waited = true;
        poll(NULL, 0, pause);
    }
    return true;
}

/* The lane belongs to an executor, so that it is free again if this process dies. This one takes no
 * jobs. */
static bool join(struct process_lane *lane, struct engine *engine, struct error *error) {
    static const struct definitions nothing;
    const struct settings *settings = engine->options.settings;
    struct acquire serves = acquire_from(settings);
    struct store_executor executor = {.name = settings->name, .serves = &serves};
    serves.handlers = &nothing;
    if (engine->joined_as)
        return true;
    if (!store_join(engine->store, &executor, engine_now(engine), settings->lock_time, error))
        return false;
    lane->joined = true;
    json_t *published = json_pack("{s[] s[]}", "handlers", "processes");
    bool done = published && store_publish(engine->store, published, engine_now(engine), error);
    json_decref(published);
    return done;
}

bool process_lane_take(struct process_lane *lane, struct engine *engine, struct error *error) {
    int64_t token = 0;
    enum answer taken = FAILED;
    if (!join(lane, engine, error) || !store_begin(engine->store, STORE_COMMAND, error))
        return false;
    taken = store_lane_hold(engine->store, lane->id, &token, error);
    if (!engine_end(engine, taken != FAILED, error))
        return false;
    lane->token = taken == YES ? token : 0;
    return true;
}

void process_lane_drop(struct process_lane *lane, struct engine *engine) {
    struct error ignored = {0};
    if (lane->token && store_begin(engine->store, STORE_COMMAND, &ignored))
        engine_end(engine, store_lane_release(engine->store, lane->id, lane->token, &ignored),
                   &ignored);
    if (lane->joined)
        store_leave(engine->store, &ignored);
    *lane = (struct process_lane){0};
}
