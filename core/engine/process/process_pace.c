#include "engine/process/process_pace.h"
#include "base/text.h"
#include "engine/engine_state.h"
#include <stdio.h>
#include <stdlib.h>

enum { SLOW = 10, ALONE_MOST = 100000 }; /* ms, and walks */
enum { ACTIVITIES = 1024 };              /* of which it is known; another one takes a place over */

struct process_pace {
    int64_t activity; /* 0: none */
    int alone;        /* walks that are not quick yet */
};

static int64_t activity_of(const struct job *job) {
    char name[JOB_NAME_MAX + 64];
    snprintf(name, sizeof name, "%lld %lld %s", (long long)job->stream, (long long)job->definition,
             job->activity ? job->activity : "");
    return text_hash(name);
}

bool process_pace_is_quick(const struct engine *engine, const struct job *job) {
    const int64_t activity = activity_of(job);
    const struct process_pace *one = engine->pace ? &engine->pace[activity % ACTIVITIES] : NULL;
    return one && one->activity == activity && !one->alone;
}

void process_pace_note(struct engine *engine, const struct job *job, time_ms took) {
    const int64_t activity = activity_of(job);
    if (!engine->pace)
        engine->pace = calloc(ACTIVITIES, sizeof *engine->pace);
    if (!engine->pace)
        return;
    struct process_pace *one = &engine->pace[activity % ACTIVITIES];
    if (one->activity != activity)
        *one = (struct process_pace){.activity = activity};
    if (took >= SLOW)
        one->alone = took < ALONE_MOST ? (int)took : ALONE_MOST;
    else if (one->alone)
        one->alone--;
}
