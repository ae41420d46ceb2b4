#include "job/instance_batch.h"
#include "job/command.h"
#include <stdlib.h>
#include <string.h>

#define OF_PROCESS "process/"
#define IDS "\"ids\":["
#define PAYLOAD_OF_ONE 96 /* bytes that a payload with one id has at most */

static const struct instance_batch types[] = {
    {"cancel-instances",
     "cancel",
     BATCH_LANE_BESIDE,
     {"reason", "skip_listeners", "skip_mappings", "skip_called", "ignore_missing"},
     NULL},
    {"modify",
     "modify",
     BATCH_LANE_OWN,
     {"process", "version", "operations", "skip_listeners", "skip_mappings", "reason"},
     "operations"},
    {"restart",
     "restart",
     BATCH_LANE_NONE,
     {"version", "operations", "into", "initial", "no_key", "skip_listeners", "skip_mappings"},
     "operations"},
    {"migrate", "migrate", BATCH_LANE_OWN, {"plan", "skip_listeners", "skip_mappings"}, "plan"},
    {"set-variables", "set", BATCH_LANE_OWN, {"variables", "types", "ignore_missing"}, "variables"},
    {"correlate",
     "correlate",
     BATCH_LANE_OWN,
     {"message", "key", "variables", "ignore_missing"},
     "message"},
};

const struct instance_batch *instance_batch_at(size_t at) {
    return at < sizeof types / sizeof *types ? &types[at] : NULL;
}

const struct instance_batch *instance_batch_find(const char *type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].type, type) == 0)
            return &types[i];
    return NULL;
}

const struct instance_batch *instance_batch_of(const char *handler) {
    const size_t prefix = strlen(BATCH_HANDLERS);
    return strncmp(handler, BATCH_HANDLERS, prefix) == 0 ? instance_batch_find(handler + prefix)
                                                         : NULL;
}

bool job_walks(const struct job *job) {
    return strncmp(job->handler, OF_PROCESS, strlen(OF_PROCESS)) == 0 ||
           (job->batch && instance_batch_of(job->handler));
}

/* {"batch":7,"ids":[4711]} */
static int64_t only_id(const struct job *job) {
    char text[PAYLOAD_OF_ONE] = "", *end = NULL;
    if (!job->payload || job->payload_size >= sizeof text)
        return 0;
    memcpy(text, job->payload, job->payload_size);
    const char *ids = strstr(text, IDS);
    long long id = ids ? strtoll(ids + strlen(IDS), &end, 10) : 0;
    return end && strcmp(end, "]}") == 0 && id > 0 ? id : 0;
}

int64_t job_walked(const struct job *job) {
    if (job->instance_id || !job->batch)
        return job->instance_id;
    const struct instance_batch *type = instance_batch_of(job->handler);
    return type && type->lane != BATCH_LANE_NONE ? only_id(job) : 0;
}
