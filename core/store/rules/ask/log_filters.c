#include "job/outcome.h"
#include "store/rules/ask/joblog.h"
#include "store/rules/ask/query.h"
#include <string.h>

static bool filter_outcome(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const names[] = {"created", "successful", "failed", "snoozed",
                                        "deleted", "cancelled",  NULL};
    size_t count = filter_count(value);
    for (size_t i = 0; i < count; i++) {
        const char *name =
            json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        if (!name || !is_one_of(name, names))
            return error_set(error, ERROR_INVALID,
                             "filter \"outcome\": \"%s\" (expected created, successful, failed, "
                             "snoozed, deleted or cancelled)",
                             name ? name : "?");
    }
    return filter_texts(query, filter, value, error);
}

static bool filter_reason(struct query *query, const struct filter *filter, const json_t *value,
                          struct error *error) {
    json_t *numbers = json_array();
    size_t count = filter_count(value);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        const char *name = json_is_string(one) ? json_string_value(one) : "?";
        int reason = 0;
        while (reason <= REASON_WORKER_DIED && strcmp(failure_reason_name(reason), name) != 0)
            reason++;
        if (reason > REASON_WORKER_DIED) {
            json_decref(numbers);
            return error_set(error, ERROR_INVALID,
                             "filter \"reason\": \"%s\" (expected error, timeout or another reason "
                             "of the log)",
                             name);
        }
        json_array_append_new(numbers, json_integer(reason));
    }
    return filter_numbers_of(query, filter, numbers, error);
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
