#include "store/rules/record/log_filters.h"
#include "job/outcome.h"
#include "store/rules/ground/columns.h"

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

const struct ask_column log_columns[] = {
    {"at", ASK_TIME, "edge", ASK_SORT},
    {"job", ASK_INTEGER, "job", ASK_BOTH},
    {"outcome", ASK_TEXT, NULL, ASK_SHOW},
    {"executor", ASK_TEXT, NULL, ASK_SHOW},
    {"started", ASK_TIME, NULL, ASK_SHOW},
    {"duration", ASK_NUMBER, NULL, ASK_SHOW},
    {"attempt", ASK_INTEGER, NULL, ASK_SHOW},
    {"retries", ASK_INTEGER, NULL, ASK_SHOW},
    {"due", ASK_TIME, NULL, ASK_SHOW},
    {"until", ASK_TIME, NULL, ASK_SHOW},
    {"priority", ASK_INTEGER, NULL, ASK_SHOW},
    {"reason", ASK_TEXT, NULL, ASK_SHOW},
    {"message", ASK_TEXT, NULL, ASK_SHOW},
    {"result", ASK_VALUE, NULL, ASK_SHOW},
    {"lines", ASK_LIST, NULL, ASK_SHOW},
    {"batch", ASK_INTEGER, "g.batch", ASK_FIND},
    {"definition", ASK_INTEGER, NULL, ASK_SHOW},
    {"handler", ASK_TEXT, NULL, ASK_SHOW},
    {"deployment", ASK_INTEGER, NULL, ASK_SHOW},
    {"removal_time", ASK_TIME, NULL, ASK_SHOW},
    {"instance", ASK_TEXT, "g.instance", ASK_FIND},
    {"root", ASK_TEXT, "g.root_instance", ASK_FIND},
    {"activity", ASK_TEXT, "g.activity", ASK_FIND},
    {"tenant", ASK_TEXT, "g.tenant", ASK_FIND},
    {"lane", ASK_TEXT, "g.lane_key", ASK_FIND},
    {"category", ASK_TEXT, NULL, ASK_SHOW},
    {NULL, ASK_VALUE, NULL, ASK_SHOW},
};
