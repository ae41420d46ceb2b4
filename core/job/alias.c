#include "job/alias.h"
#include "base/json.h"
#include <ctype.h>
#include <string.h>

static const struct alias {
    const char *foreign, *setting;
} table[] = {
    {"asyncExecutorLockOwner", "name"},
    {"jobExecutorActivate", "active"},
    {"asyncExecutorActivate", "active"},
    {"jobExecutionEnabled", "active"},
    {"corePoolSize", "workers"},
    {"maxPoolSize", "workers"},
    {"asyncExecutorCorePoolSize", "workers"},
    {"asyncExecutorMaxPoolSize", "workers"},
    {"keepAliveTime", "keep_alive"},
    {"keepAliveSeconds", "keep_alive"},
    {"asyncExecutorThreadKeepAliveTime", "keep_alive"},
    {"queueSize", "queue"},
    {"queueCapacity", "queue"},
    {"asyncExecutorThreadPoolQueueSize", "queue"},
    {"jobAcquisition", "acquisition"},
    {"maxJobsPerAcquisition", "page"},
    {"asyncExecutorMaxAsyncJobsDuePerAcquisition", "page"},
    {"asyncExecutorMaxTimerJobsPerAcquisition", "page"},
    {"jobExecutorPriorityRangeMin", "priority_range"},
    {"jobExecutorPriorityRangeMax", "priority_range"},
    {"enabledJobCategories", "categories"},
    {"jobExecutorAcquireByPriority", "by_priority"},
    {"jobExecutorPreferTimerJobs", "prefer_timers"},
    {"jobExecutorAcquireByDueDate", "by_due_date"},
    {"jobExecutorDeploymentAware", "deployment_aware"},
    {"jobExecutorAcquireExclusiveOverProcessHierarchies", "lane_scope"},
    {"waitTimeInMillis", "wait"},
    {"asyncExecutorDefaultAsyncJobAcquireWaitTime", "wait"},
    {"asyncExecutorDefaultTimerJobAcquireWaitTime", "wait"},
    {"maxWait", "max_wait"},
    {"waitIncreaseFactor", "wait_factor"},
    {"backoffTimeInMillis", "backoff"},
    {"maxBackoff", "max_backoff"},
    {"backoffDecreaseThreshold", "backoff_decrease_threshold"},
    {"asyncExecutorDefaultQueueSizeFullWaitTime", "queue_full_wait"},
    {"lockTimeInMillis", "lock_time"},
    {"asyncExecutorAsyncJobLockTimeInMillis", "lock_time"},
    {"asyncExecutorTimerLockTimeInMillis", "lock_time"},
    {"asyncExecutorAsyncJobLockTime", "lock_time"},
    {"asyncExecutorTimerLockTime", "lock_time"},
    {"asyncExecutorSecondsToWaitOnShutdown", "shutdown_wait"},
    {"asyncExecutorResetExpiredJobsInterval", ""},
    {"asyncExecutorResetExpiredJobsPageSize", ""},
    {"ensureJobDueDateNotNull", "ensure_due_date"},
    {"producePrioritizedJobs", "produce_priorities"},
    {"failedJobRetryTimeCycle", "retry"},
    {"defaultNumberOfRetries", "retries"},
    {"asyncExecutorNumberOfRetries", "retries"},
    {"asyncFailedJobWaitTime", "failed_job_wait"},
    {"defaultFailedJobWaitTime", "failed_job_wait"},
    {"createIncidentOnFailedJobEnabled", "incidents"},
    {"historyLevel", "history"},
    {"historyLevelDefault", "history"},
    {"batchJobsPerSeed", "batch_jobs_per_seed"},
    {"invocationsPerBatchJob", "invocations_per_batch_job"},
    {"invocationsPerBatchJobByBatchType", "invocations_per_batch_job_by_type"},
    {"batchPollTime", "batch_poll_time"},
    {"batchJobPriority", "batch_job_priority"},
    {"historyTimeToLive", "history_ttl"},
    {"batchOperationHistoryTimeToLive", "history_ttl_batches"},
    {"batchOperationsForHistoryCleanup", "history_ttl_batches_by_type"},
    {"historyCleanupBatchWindowStartTime", "history_cleanup_window"},
    {"historyCleanupBatchWindowEndTime", "history_cleanup_window"},
    {"historyCleanupEnabled", "history_cleanup_window"},
    {"historyCleanupDegreeOfParallelism", "history_cleanup_parallelism"},
    {"historyCleanupJobPriority", "history_cleanup_priority"},
    {"historyCleanupBatchSize", "history_cleanup_batch_size"},
    {"historyCleanupBatchThreshold", ""},
    {"historyCleanupStrategy", ""},
    {"historyRemovalTimeStrategy", ""},
    {"historyRemovalTimeProvider", ""},
    {"enforceHistoryTimeToLive", ""},
    {"hintJobExecutor", ""},
    {"failedJobListenerMaxRetries", ""},
    {"legacyJobRetryBehaviorEnabled", ""},
    {"reevaluateTimeCycleWhenDue", ""},
    {"asyncExecutorGlobalAcquireLockEnabled", ""},
    {"asyncExecutorUnlockOwnedJobs", ""},
    {"asyncExecutorMoveTimerExecutorPoolSize", ""},
    {"databaseSchemaUpdate", ""},
    {"authorizationEnabled", ""},
    {"metricsEnabled", ""},
    {"dbMetricsReporterActivate", ""},
};
#define ROWS (sizeof table / sizeof *table)

/* What is no setting there or here. */
static const struct hint {
    const char *foreign, *hint;
} hints[] = {
    {"customPreBPMNParseListeners", "files in listeners/"},
    {"customPostBPMNParseListeners", "files in listeners/"},
    {"postBpmnParseHandlers", "files in listeners/"},
    {"failedJobCommandFactory", "a file in retries/"},
    {"jobHandlers", "files in handlers/"},
    {"customJobHandlers", "files in handlers/"},
    {"asyncExecutorTenantId", "\"categories\", and the field \"tenant\" of jobs"},
    {"dataSource", "\"store\", a file such as \"sqlite:jobs.db\""},
    {"jdbcUrl", "\"store\", a file such as \"sqlite:jobs.db\""},
};
#define HINTS (sizeof hints / sizeof *hints)

static const char *const prefixes[] = {"asyncExecutor", "jobExecutor", "custom",   "monday",
                                       "tuesday",       "wednesday",   "thursday", "friday",
                                       "saturday",      "sunday"};
#define PREFIXES (sizeof prefixes / sizeof *prefixes)

static bool is_punctuation(char c) {
    return c == '-' || c == '_' || c == '.';
}

/* "jobExecutorActivate", "job-executor-activate" and "job_executor_activate" are one. What is left
 * of `right` behind all of `left`; NULL: they differ. */
static const char *behind(const char *left, const char *right) {
    for (;; left++, right++) {
        while (is_punctuation(*left))
            left++;
        while (is_punctuation(*right))
            right++;
        if (!*left)
            return right;
        if (tolower((unsigned char)*left) != tolower((unsigned char)*right))
            return NULL;
    }
}

static bool same(const char *left, const char *right) {
    const char *rest = behind(left, right);
    return rest && !*rest;
}

/* As it stands, or without the prefix that one of the two leaves out: a table of Spring says
 * deployment-aware, a day of the week has a window of its own. */
static bool means(const char *known, const char *foreign) {
    if (same(known, foreign))
        return true;
    for (size_t i = 0; i < PREFIXES; i++) {
        const char *long_known = behind(prefixes[i], known);
        const char *long_foreign = behind(prefixes[i], foreign);
        if ((long_known && *long_known && same(long_known, foreign)) ||
            (long_foreign && *long_foreign && same(known, long_foreign)))
            return true;
    }
    return false;
}

/* The next of "camunda.bpm.job-execution.enabled", "bpm.job-execution.enabled" … "enabled"; NULL:
 * that was the last. */
static const char *shorter(const char *foreign) {
    const char *dot = strchr(foreign, '.');
    return dot && dot[1] ? dot + 1 : NULL;
}

const char *alias_setting(const char *foreign) {
    for (const char *name = foreign; name; name = shorter(name))
        for (size_t i = 0; i < ROWS; i++)
            if (means(table[i].foreign, name))
                return table[i].setting;
    return NULL;
}

const char *alias_hint(const char *foreign) {
    for (const char *name = foreign; name; name = shorter(name))
        for (size_t i = 0; i < HINTS; i++)
            if (means(hints[i].foreign, name))
                return hints[i].hint;
    return NULL;
}

json_t *alias_names(const char *setting) {
    json_t *names = json_array();
    for (size_t i = 0; names && i < ROWS; i++)
        if (strcmp(table[i].setting, setting) == 0 &&
            json_array_append_new(names, json_string(table[i].foreign)) != 0)
            return json_kept(names, false);
    return names;
}
