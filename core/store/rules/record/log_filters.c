#include "store/rules/record/log_filters.h"
#include "job/outcome.h"
#include "store/rules/ground/kinds.h"

static bool filter_outcome(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const names[] = {"created", "successful", "failed",  "snoozed",
                                        "deleted", "cancelled",  "skipped", NULL};
    return filter_names(query, filter, value, names, false, error);
}

static bool filter_reason(struct query *query, const struct filter *filter, const json_t *value,
                          struct error *error) {
    const char *names[REASON_BUSINESS_ERROR + 2] = {NULL};
    for (int reason = 0; reason <= REASON_BUSINESS_ERROR; reason++)
        names[reason] = failure_reason_name(reason);
    return filter_names(query, filter, value, names, true, error);
}

static const struct filter log_filters[] = {
    {"job", "ID,…", "of these jobs"},
    {"handler", "NAME,…", "of these handlers", filter_texts, IN_STREAM("g") "d.name", ")"},
    {"definition", "NAME,…", "of these definitions, by name or id", filter_definition,
     IN_STREAM("g"), ")"},
    {"batch", "ID,…", "of these batches"},
    {"schedule", "NAME,…", "of runs of these schedules"},
    {"instance", "KEY", "of jobs of this instance"},
    {"root", "KEY", "of jobs of this root instance"},
    {"activity", "NAME,…", "of jobs of these activities"},
    {"tenant", "NAME,…", "of jobs of these tenants"},
    {"lane", "KEY", "of jobs of this lane"},
    {"category", "NAME,…", "of jobs of these categories", filter_texts, OF_CATEGORY("g"), ")"},
    {"deployment", "ID,…", "of jobs of these deployments", filter_numbers, OF_DEPLOYMENT("g"), ")"},
    {"executor", "NAME,…", "of these executors, by name or name/id", filter_executor, "g.executor"},
    {"reason", "NAME,…", "error, timeout, memory, workerDied, businessError", filter_reason,
     "g.reason"},
    {"message", "TEXT", "whose message has this text", filter_text, "g.message"},
    {"min_priority", "N", "of this priority or more", filter_number, "g.priority>="},
    {"max_priority", "N", "of this priority or less", filter_number, "g.priority<="},
    {"outcome", "NAME,…", "created, successful, failed, snoozed, deleted, cancelled",
     filter_outcome, "g.outcome"},
    {"after", "TIME", "from this instant on", filter_time, "g.at>="},
    {"before", "TIME", "before this instant", filter_time, "g.at<"},
    {0},
};

static const struct ask_column log_columns[] = {
    {"at", ASK_TIME, "edge", ASK_SORT},
    {"job", ASK_INTEGER, "job", ASK_BOTH},
    {"outcome", ASK_TEXT, NULL, ASK_SHOW},
    {"executor", ASK_TEXT, NULL, ASK_SHOW},
    {"started", ASK_TIME, NULL, ASK_SHOW},
    {"duration", ASK_NUMBER, NULL, ASK_SHOW, "SECONDS"},
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
    {"schedule", ASK_TEXT, "g.schedule", ASK_FIND},
    {"category", ASK_TEXT, NULL, ASK_SHOW},
    {0},
};

const struct ask_table log_table = {
    "log", log_columns, log_filters,
    .shown = "at,job,handler,outcome!,attempt,duration?,reason=?,message?+,lines?+"};
