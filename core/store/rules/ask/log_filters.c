#include "job/outcome.h"
#include "store/rules/ask/joblog.h"
#include "store/rules/ask/query.h"

static bool filter_outcome(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const names[] = {"created", "successful", "failed", "snoozed",
                                        "deleted", "cancelled",  NULL};
    return filter_names(query, filter, value, names, false, error);
}

static bool filter_reason(struct query *query, const struct filter *filter, const json_t *value,
                          struct error *error) {
    const char *names[REASON_WORKER_DIED + 2] = {NULL};
    for (int reason = 0; reason <= REASON_WORKER_DIED; reason++)
        names[reason] = failure_reason_name(reason);
    return filter_names(query, filter, value, names, true, error);
}

#define LOG_STREAM                                                                                 \
    "g.stream IN (SELECT s.id FROM stream s JOIN definition d ON d.id=s.definition WHERE "

const struct filter log_filters[] = {
    {"handler", filter_texts, LOG_STREAM "d.name", ")"},
    {"definition", filter_definition, LOG_STREAM, ")"},
    {"outcome", filter_outcome, "g.outcome", NULL},
    {"category", filter_texts, LOG_STREAM "nullif(s.category, '')", ")"},
    {"deployment", filter_numbers, LOG_STREAM "nullif(s.deployment, 0)", ")"},
    {"executor", filter_executor, "g.executor", NULL},
    {"reason", filter_reason, "g.reason", NULL},
    {"message", filter_text, "g.message", NULL},
    {"min_priority", filter_number, "g.priority>=", NULL},
    {"max_priority", filter_number, "g.priority<=", NULL},
    {"after", filter_time, "g.at>=", NULL},
    {"before", filter_time, "g.at<", NULL},
    {NULL, NULL, NULL, NULL},
};
