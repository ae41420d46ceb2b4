#include "base/alias.h"
#include <ctype.h>
#include <string.h>

static const struct alias {
    const char *foreign, *setting;
} table[] = {
    {"asyncExecutorLockOwner", "name"},
    {"jobExecutorActivate", "active"},
    {"asyncExecutorActivate", "active"},
    {"corePoolSize", "workers"},
    {"maxPoolSize", "workers"},
    {"asyncExecutorCorePoolSize", "workers"},
    {"asyncExecutorMaxPoolSize", "workers"},
    {"asyncExecutorThreadKeepAliveTime", "keep_alive"},
    {"queueSize", "queue"},
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
    {"batchJobsPerSeed", "batch_jobs_per_seed"},
    {"invocationsPerBatchJob", "invocations_per_batch_job"},
    {"invocationsPerBatchJobByBatchType", "invocations_per_batch_job_by_type"},
    {"batchPollTime", "batch_poll_time"},
    {"batchJobPriority", "batch_job_priority"},
    {"historyTimeToLive", "history_ttl"},
    {"batchOperationHistoryTimeToLive", "history_ttl_batches"},
    {"historyCleanupBatchWindowStartTime", "history_cleanup_window"},
    {"historyCleanupBatchWindowEndTime", "history_cleanup_window"},
    {"historyCleanupEnabled", "history_cleanup_window"},
    {"historyCleanupDegreeOfParallelism", "history_cleanup_parallelism"},
    {"historyCleanupJobPriority", "history_cleanup_priority"},
    {"historyCleanupBatchSize", "history_cleanup_batch_size"},
    {"historyCleanupBatchThreshold", ""},
};
#define ROWS (sizeof table / sizeof *table)

/* "jobExecutorActivate", "job-executor-activate" and "job_executor_activate" are one. */
static bool same(const char *left, const char *right) {
    for (;; left++, right++) {
        while (*left == '-' || *left == '_')
            left++;
        while (*right == '-' || *right == '_')
            right++;
        if (tolower((unsigned char)*left) != tolower((unsigned char)*right))
            return false;
        if (!*left)
            return true;
    }
}

const char *alias_setting(const char *foreign) {
    for (size_t i = 0; i < ROWS; i++)
        if (same(table[i].foreign, foreign))
            return table[i].setting;
    return NULL;
}

json_t *alias_names(const char *setting) {
    json_t *names = json_array();
    for (size_t i = 0; names && i < ROWS; i++)
        if (strcmp(table[i].setting, setting) == 0 &&
            json_array_append_new(names, json_string(table[i].foreign)) != 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}
