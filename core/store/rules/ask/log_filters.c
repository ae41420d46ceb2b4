#include "job/outcome.h"
#include "store/rules/ask/joblog.h"
#include "store/rules/ground/query.h"

static bool filter_outcome(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const names[] = {"created", "successful", "failed",  "snoozed",
                                        "deleted", "cancelled",  "skipped", NULL};
    return filter_names(query, filter, value, names, false, error);
}

static bool filter_reason(struct query *query, const struct filter *filter, const json_t *value,
                          struct error *error) {
    const char *names[REASON_WORKER_DIED + 2] = {NULL};
    for (int reason = 0; reason <= REASON_WORKER_DIED; reason++)
        names[reason] = failure_reason_name(reason);
    return filter_names(query, filter, value, names, true, error);
}

const struct filter log_filters[] = {
    STREAM_FILTERS("g"),
    {"outcome", filter_outcome, "g.outcome", NULL},
    {"executor", filter_executor, "g.executor", NULL},
    {"reason", filter_reason, "g.reason", NULL},
    {"message", filter_text, "g.message", NULL},
    {"after", filter_time, "g.at>=", NULL},
    {"before", filter_time, "g.at<", NULL},
    {NULL, NULL, NULL, NULL},
};
