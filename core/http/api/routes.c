#include "http/api/batches.h"
#include "http/api/creation.h"
#include "http/api/hook.h"
#include "http/api/members.h"
#include "http/api/openapi.h"
#include "http/api/orders.h"
#include "http/api/questions.h"
#include "http/api/route.h"
#include "http/api/subscriber.h"
#include "http/api/tokens.h"
#include "http/api/work.h"

/* ---- the table ---- */

#define LIST(url, kind, sentence)                                                                  \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_READER,  \
        .run = answer_list, .asks = kind, .lists = true                                            \
    }
/* Rows of what the path names: the filter `column` is that. */
#define LIST_OF(url, kind, column, sentence)                                                       \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_READER,  \
        .run = answer_list, .asks = kind, .lists = true, .key = column                             \
    }
#define ONE_OF(url, kind, column, sentence)                                                        \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_READER,  \
        .run = answer_one_of, .asks = kind, .key = column                                          \
    }
#define ASK(url, kind, function, sentence)                                                         \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_READER,  \
        .run = function, .asks = kind                                                              \
    }
#define ASK_BY(url, kind, function, parameters, sentence)                                          \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_READER,  \
        .run = function, .asks = kind, .query = parameters                                         \
    }
#define PICTURE(url, sentence)                                                                     \
    {                                                                                              \
        .method = "GET", .path = url, .says = sentence, .scope = SCOPE_READ, .worker = BY_WALKER,  \
        .run = answer_picture, .asks = ASK_KINDS, .query = picture_members                         \
    }
#define VERBS(url, on, sentence)                                                                   \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = SCOPE_OPERATE,                   \
        .worker = BY_WALKER, .run = order_verb, .asks = ASK_KINDS, .body = BODY_MAYBE,             \
        .told = verb_told, .verbs = true, .target = on                                             \
    }
#define ORDER(url, may, kind, named, content, keys, sentence)                                      \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = may, .worker = BY_WALKER,        \
        .run = order_process, .asks = ASK_KINDS, .body = content, .members = keys, .order = kind,  \
        .key = named, .told = order_told                                                           \
    }
#define WORK(url, function, kind, keys, answer, sentence)                                          \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = SCOPE_WORK,                      \
        .worker = BY_SETTLER, .run = function, .asks = ASK_KINDS, .body = BODY_OBJECT,             \
        .members = keys, .key = kind, .told = answer                                               \
    }

#define ORDER_ONCE(url, may, kind, named, content, keys, sentence)                                 \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = may, .worker = BY_WALKER,        \
        .run = order_process, .asks = ASK_KINDS, .body = content, .members = keys, .order = kind,  \
        .key = named, .told = order_told, .keyed = true                                            \
    }
#define DO(url, may, function, content, keys, answer, sentence)                                    \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = may, .worker = BY_WALKER,        \
        .run = function, .asks = ASK_KINDS, .body = content, .members = keys, .told = answer       \
    }
#define MAKE(url, may, function, keys, answer, sentence)                                           \
    {                                                                                              \
        .method = "POST", .path = url, .says = sentence, .scope = may, .worker = BY_WALKER,        \
        .run = function, .asks = ASK_KINDS, .body = BODY_OBJECT, .members = keys, .told = answer,  \
        .makes = true                                                                              \
    }

#define HOOK(verb)                                                                                 \
    {                                                                                              \
        .method = verb, .path = "/hooks/{name}",                                                   \
        .says = "Asks a route of the script folder, which says what it takes and who may.",        \
        .scope = SCOPE_NONE, .worker = BY_WALKER, .run = answer_hook, .asks = ASK_KINDS,           \
        .body = BODY_RAW                                                                           \
    }

const struct route routes[] = {
    {.method = "POST",
     .path = "/v1/jobs",
     .says = "Creates a job, or at most 100000: all of them, or none.",
     .scope = SCOPE_ENQUEUE,
     .worker = BY_CLERK,
     .run = create_jobs,
     .asks = ASK_KINDS,
     .body = BODY_JOBS,
     .told = created_told,
     .keyed = true},
    LIST("/v1/jobs", ASK_JOBS, "Lists jobs."),
    {.method = "GET",
     .path = "/v1/jobs/count",
     .says = "Counts jobs.",
     .scope = SCOPE_READ,
     .worker = BY_READER,
     .run = answer_count,
     .asks = ASK_JOBS,
     .lists = true,
     .told = count_told},
    ASK_BY("/v1/jobs/{id}", ASK_JOB, answer_job, job_members,
           "Shows a job; with `wait`, one that has ended as the log has it."),
    ASK("/v1/jobs/{id}/why", ASK_WHY, answer_thing, "Says what a job waits for."),
    {.method = "GET",
     .path = "/v1/jobs/{id}/stack",
     .says = "Shows the traceback of a job's last failure.",
     .scope = SCOPE_READ,
     .worker = BY_READER,
     .run = answer_stack,
     .asks = ASK_JOB,
     .told = stack_told},
    LIST_OF("/v1/jobs/{id}/attempts", ASK_LOG, "job", "Lists what the log has of a job."),
    LIST_OF("/v1/jobs/{id}/lines", ASK_LOG, "job",
            "Lists the runs of a job, whose `lines` are what it has printed."),
    WORK("/v1/jobs/{id}/complete", answer_settle_one, "complete", work_complete_members,
         verdict_told, "A worker has done a job."),
    WORK("/v1/jobs/{id}/fail", answer_settle_one, "fail", work_fail_members, verdict_told,
         "A worker could not do a job."),
    WORK("/v1/jobs/{id}/bpmn_error", answer_settle_one, "error", work_error_members, verdict_told,
         "A worker throws a BPMN error at an activity, or ends another job with it."),
    WORK("/v1/jobs/{id}/snooze", answer_settle_one, "snooze", work_snooze_members, verdict_told,
         "A worker puts a job off."),
    WORK("/v1/jobs/{id}/extend", answer_settle_one, "extend", work_extend_members, verdict_told,
         "A worker keeps a job longer."),
    WORK("/v1/jobs/{id}/release", answer_settle_one, "release", work_release_members, verdict_told,
         "A worker gives a job back."),
    WORK("/v1/jobs/{id}/progress", answer_settle_one, "progress", work_progress_members,
         verdict_told, "A worker tells how far a job is."),
    {.method = "POST",
     .path = "/v1/jobs/{id}/execute",
     .says = "Runs a job by hand, here; the answer has its result.",
     .scope = SCOPE_OPERATE,
     .worker = BY_RUNNER,
     .run = order_execution,
     .asks = ASK_KINDS,
     .body = BODY_MAYBE,
     .members = execute_members,
     .told = execution_told},
    {.method = "POST",
     .path = "/v1/jobs/{id}/{verb}",
     .says = "Does a verb to a job.",
     .scope = SCOPE_OPERATE,
     .worker = BY_WALKER,
     .run = order_verb,
     .asks = ASK_KINDS,
     .body = BODY_MAYBE,
     .told = verb_told,
     .verbs = true,
     .target = TARGET_JOBS,
     .matched = true},
    VERBS("/v1/jobs/{verb}", TARGET_JOBS, "Does a verb to jobs: those of `ids`, or of `query`."),
    {.method = "POST",
     .path = "/v1/fetch",
     .says = "Locks jobs for a worker outside.",
     .scope = SCOPE_WORK,
     .worker = BY_CLERK,
     .run = answer_fetch,
     .asks = ASK_KINDS,
     .body = BODY_OBJECT,
     .members = fetch_members,
     .told = fetch_told},
    WORK("/v1/settle", answer_settle, NULL, settle_members, settle_told,
         "Takes back what a worker has done, and fetches its next jobs."),

    LIST("/v1/definitions", ASK_DEFINITIONS, "Lists definitions."),
    ONE_OF("/v1/definitions/{name}", ASK_DEFINITIONS, "name", "Shows a definition."),
    VERBS("/v1/definitions/{name}/{verb}", TARGET_DEFINITION, "Does a verb to a definition."),
    LIST("/v1/instances", ASK_INSTANCES, "Lists suspended instances of plain jobs."),
    VERBS("/v1/instances/{name}/{verb}", TARGET_INSTANCE,
          "Does a verb to an instance: of plain jobs by its key, of a process by its id."),
    VERBS("/v1/instances/{verb}", TARGET_INSTANCE, "Does a verb to the instance in the body."),
    LIST("/v1/batches", ASK_BATCHES, "Lists batches."),
    {.method = "POST",
     .path = "/v1/batches",
     .says = "Makes a batch: one operation for many ids.",
     .scope = SCOPE_OPERATE,
     .worker = BY_WALKER,
     .run = create_batch,
     .asks = ASK_KINDS,
     .body = BODY_OBJECT,
     .members = batch_members,
     .told = batch_told,
     .makes = true,
     .keyed = true},
    ASK("/v1/batches/{id}", ASK_BATCH, answer_thing, "Shows a batch."),
    VERBS("/v1/batches/{id}/{verb}", TARGET_BATCH, "Does a verb to a batch."),
    LIST("/v1/incidents", ASK_INCIDENTS, "Lists incidents."),
    LIST("/v1/incidents/causes", ASK_CAUSES, "Lists incidents by their causes."),
    ONE_OF("/v1/incidents/{id}", ASK_INCIDENTS, "id", "Shows an incident."),
    VERBS("/v1/incidents/{id}/{verb}", TARGET_INCIDENT, "Does a verb to an incident."),
    ASK("/v1/schedules", ASK_SCHEDULES, answer_all, "Lists schedules."),
    ASK_BY("/v1/schedules/{name}/dates", ASK_DATES, answer_dates, dates_members,
           "Lists the next dates of a schedule."),
    VERBS("/v1/schedules/{name}/{verb}", TARGET_SCHEDULE, "Does a verb to a schedule."),
    ASK_BY("/v1/executors", ASK_EXECUTORS, answer_all, all_members,
           "Lists executors, and workers outside."),
    VERBS("/v1/executors/{name}/{verb}", TARGET_EXECUTOR,
          "Does a verb to an executor: by its name, or its id."),
    ASK("/v1/deployments", ASK_DEPLOYMENTS, answer_all, "Lists deployments."),
    VERBS("/v1/deployments/{id}/{verb}", TARGET_DEPLOYMENT, "Does a verb to a deployment."),
    VERBS("/v1/deployments/{verb}", TARGET_DEPLOYMENT,
          "Does a verb to the deployments in the body: their ids, or their name."),
    LIST("/v1/log", ASK_LOG, "Lists the log of jobs."),
    LIST("/v1/operations", ASK_OPERATIONS, "Lists the log of operations."),
    ASK("/v1/history", ASK_HISTORY, answer_thing, "Says what the cleanup of the history does."),
    VERBS(
        "/v1/history/{verb}", TARGET_HISTORY,
        "Does a verb to ended jobs: those of `ids`, or of `query`, which has filters of the log."),
    VERBS("/v1/history/{verb}", TARGET_PLAN, "Cleans the history now."),
    {.method = "GET",
     .path = "/v1/settings",
     .says = "Lists settings, without passwords.",
     .scope = SCOPE_ADMIN,
     .worker = BY_READER,
     .run = answer_settings,
     .asks = ASK_KINDS},
    {.method = "GET",
     .path = "/v1/tokens",
     .says = "Lists tokens, without what they are.",
     .scope = SCOPE_ADMIN,
     .worker = BY_READER,
     .run = answer_list,
     .asks = ASK_TOKENS,
     .lists = true},
    MAKE("/v1/tokens", SCOPE_ADMIN, create_token, token_members, token_told,
         "Makes a token; its answer alone has it."),
    DO("/v1/tokens/{name}/revoke", SCOPE_ADMIN, revoke_token, BODY_NONE, NULL, revoked_told,
       "From now on a token counts no more."),
    ASK("/v1/stats", ASK_STATS, answer_thing, "Counts what the store has."),
    ASK_BY("/v1/events", ASK_EVENTS, answer_events, events_members,
           "Tells what happens as it happens, as `text/event-stream`."),
    ASK("/v1/gaps", ASK_GAPS, answer_all, "Lists unserved jobs."),
    ASK("/v1/retries", ASK_RETRIES, answer_thing, "Counts jobs that wait for another run."),

    LIST("/v1/processes", ASK_PROCESSES, "Lists processes."),
    LIST("/v1/versions", ASK_VERSIONS, "Lists versions of processes."),
    LIST_OF("/v1/processes/{name}/versions", ASK_VERSIONS, "key",
            "Lists the versions of a process."),
    PICTURE("/v1/processes/{name}/picture", "Draws a process."),
    ORDER_ONCE("/v1/processes/{name}/start", SCOPE_ENQUEUE, "start", "process", BODY_MAYBE,
               start_members, "Starts an instance of a process."),
    ORDER("/v1/processes/{name}/plan", SCOPE_OPERATE, "plan", "process", BODY_OBJECT, plan_members,
          "Plans the migration of instances from one version to another."),
    VERBS("/v1/processes/{name}/{verb}", TARGET_PROCESS, "Does a verb to a process."),
    ONE_OF("/v1/processes/{name}", ASK_PROCESSES, "key", "Shows a process."),
    LIST("/v1/process-instances", ASK_PROCESS_INSTANCES, "Lists instances that run."),
    LIST("/v1/process-instances/ended", ASK_PAST, "Lists instances that have ended."),
    ASK("/v1/process-instances/{id}", ASK_INSTANCE, answer_thing,
        "Shows an instance of a process."),
    ASK("/v1/process-instances/{id}/why", ASK_WHY_INSTANCE, answer_thing,
        "Says what an instance waits for."),
    LIST_OF("/v1/process-instances/{id}/trail", ASK_TRAIL, "instance",
            "Lists what an instance has done."),
    {.method = "GET",
     .path = "/v1/process-instances/{id}/variables",
     .says = "Shows the variables of an instance.",
     .scope = SCOPE_READ | SCOPE_PAYLOAD,
     .worker = BY_READER,
     .run = answer_variables,
     .asks = ASK_INSTANCE},
    PICTURE("/v1/process-instances/{id}/picture", "Draws an instance on its process."),
    ORDER("/v1/process-instances/{id}/cancel", SCOPE_OPERATE, "cancel", "instance", BODY_MAYBE,
          cancel_members, "Cancels an instance."),
    ORDER("/v1/process-instances/{id}/set", SCOPE_OPERATE, "set", "instance", BODY_OBJECT,
          set_members, "Sets variables of an instance."),
    ORDER("/v1/process-instances/{id}/trigger", SCOPE_OPERATE, "trigger", "instance", BODY_MAYBE,
          trigger_members, "Lets a receive task without a message go on."),
    ORDER("/v1/process-instances/{id}/modify", SCOPE_OPERATE, "modify", "instance", BODY_OBJECT,
          modify_members, "Moves an instance to other activities."),
    ORDER("/v1/process-instances/{id}/migrate", SCOPE_OPERATE, "migrate", "instance", BODY_OBJECT,
          migrate_members, "Gives an instance another version."),
    ORDER_ONCE("/v1/process-instances/{id}/restart", SCOPE_OPERATE, "restart", "instance",
               BODY_OBJECT, restart_members, "Starts an instance anew that has ended."),
    LIST("/v1/tasks", ASK_TASKS, "Lists user tasks."),
    ONE_OF("/v1/tasks/{id}", ASK_TASKS, "id", "Shows a user task."),
    ORDER("/v1/tasks/{id}/complete", SCOPE_OPERATE, "complete", "task", BODY_MAYBE,
          complete_members, "Completes a user task."),
    ORDER("/v1/tasks/{id}/throw", SCOPE_OPERATE, "throw", "task", BODY_OBJECT, throw_members,
          "Ends a user task with a BPMN error."),
    ORDER("/v1/tasks/{id}/escalate", SCOPE_OPERATE, "escalate", "task", BODY_OBJECT,
          escalate_members, "Escalates a user task."),
    VERBS("/v1/tasks/{id}/{verb}", TARGET_TASK, "Does a verb to a user task."),
    LIST("/v1/subscriptions", ASK_SUBSCRIPTIONS, "Lists what waits for messages."),
    LIST("/v1/messages", ASK_KEPT_MESSAGES, "Lists kept messages."),
    ORDER_ONCE("/v1/messages", SCOPE_ENQUEUE, "message", NULL, BODY_OBJECT, message_members,
               "Gives a message to what waits for it."),
    ORDER_ONCE("/v1/signals", SCOPE_ENQUEUE, "signal", NULL, BODY_OBJECT, signal_members,
               "Gives a signal to all that wait for it."),
    ORDER_ONCE("/v1/conditions", SCOPE_ENQUEUE, "conditions", NULL, BODY_MAYBE, conditions_members,
               "Starts what begins under a condition on these variables."),

    HOOK("GET"),
    HOOK("POST"),
    HOOK("PUT"),
    HOOK("PATCH"),
    HOOK("DELETE"),

    {.method = "GET",
     .path = "/metrics",
     .says = "Answers the figures of the store, as OpenMetrics or Prometheus' text.",
     .scope = SCOPE_READ,
     .worker = BY_READER,
     .run = answer_metrics,
     .asks = ASK_KINDS},
    {.method = "GET",
     .path = "/v1/openapi.json",
     .says = "Describes this API, as OpenAPI 3.1 does.",
     .scope = SCOPE_NONE,
     .worker = BY_DOOR,
     .run = openapi_answer,
     .asks = ASK_KINDS},
    {0},
};
