#include "http/api/members.h"

/* ---- parameters and bodies ---- */

const struct member all_members[] = {
    {"all", VALUE_FLAG, false, "those that have gone, too"},
    {0},
};

const struct member events_members[] = {
    {"kinds", VALUE_TEXT, false,
     "between commas: `job.failed`, `job.ended`, `incident.opened`, `incident.closed`, "
     "`batch.ended`, `instance.ended`, `executor.joined`, `executor.left`, `stats`; all unless "
     "told"},
    {"handler", VALUE_TEXT, false, "of these alone: names and `PREFIX*` between commas"},
    {"tenant", VALUE_TEXT, false, "of this one alone"},
    {0},
};

const struct member job_members[] = {
    {"wait", VALUE_TEXT, false,
     "a span: so long the answer waits for the end of the job, `PT30M` at most"},
    {0},
};

const struct member dates_members[] = {
    {"count", VALUE_INTEGER, false, "how many, 1 to 1000; 5 unless told"},
    {0},
};

const struct member picture_members[] = {
    {"form", VALUE_TEXT, false, "`drawing`, `svg` or `text`; `drawing` unless told"},
    {"heat", VALUE_FLAG, false, "how often each activity began"},
    {"version", VALUE_INTEGER, false, "of the process, instead of the current one"},
    {0},
};

#define LATER                                                                                      \
    { "later", VALUE_FLAG, false, "a job does it, on an executor" }
#define DRY_RUN                                                                                    \
    { "dry_run", VALUE_FLAG, false, "nothing is done; `told` says what would be" }
#define VARIABLES                                                                                  \
    { "variables", VALUE_OBJECT, false, "that are set in the instance" }
#define TRANSIENT                                                                                  \
    { "transient", VALUE_OBJECT, false, "variables that last as long as the walk" }
#define TYPES                                                                                      \
    { "types", VALUE_OBJECT, false, "of variables, by their names" }
#define SKIPS                                                                                      \
    {"skip_listeners", VALUE_FLAG, false, "no listener is called"}, {                              \
        "skip_mappings", VALUE_FLAG, false, "no input or output is mapped"                         \
    }
#define OPERATIONS(needed)                                                                         \
    { "operations", VALUE_LIST, needed, "where to begin and what to cancel, in order" }

const struct member start_members[] = {
    {"version", VALUE_INTEGER, false, "instead of the current one"},
    {"tag", VALUE_TEXT, false, "the newest version that has it"},
    {"key", VALUE_TEXT, false, "the business key"},
    {"tenant", VALUE_TEXT, false, "on whose behalf"},
    {"unique", VALUE_FLAG, false, "no other instance of the process runs with the key"},
    VARIABLES,
    TRANSIENT,
    TYPES,
    OPERATIONS(false),
    SKIPS,
    DRY_RUN,
    LATER,
    {0},
};

const struct member cancel_members[] = {
    {"reason", VALUE_TEXT, false, "kept with the instance"},
    SKIPS,
    {"skip_called", VALUE_FLAG, false, "instances that it has called go on"},
    DRY_RUN,
    LATER,
    {0},
};

const struct member set_members[] = {
    VARIABLES,
    TYPES,
    {"unset", VALUE_LIST, false, "names of variables that go"},
    {"activity", VALUE_TEXT, false, "whose scope has them"},
    LATER,
    {0},
};

const struct member trigger_members[] = {
    {"activity", VALUE_TEXT, false, "that waits; it may be left out if there is one"},
    VARIABLES,
    TRANSIENT,
    LATER,
    {0},
};

const struct member modify_members[] = {
    OPERATIONS(true), SKIPS, {"reason", VALUE_TEXT, false, "kept with the instance"},
    DRY_RUN,          LATER, {0},
};

const struct member migrate_members[] = {
    {"plan", VALUE_OBJECT, true, "from and to which version, and which activity is which"},
    SKIPS,
    DRY_RUN,
    LATER,
    {0},
};

const struct member restart_members[] = {
    OPERATIONS(true),
    {"version", VALUE_INTEGER, false, "of the process"},
    {"into", VALUE_INTEGER, false, "the id of the version"},
    {"initial", VALUE_FLAG, false, "with the variables that it began with"},
    {"no_key", VALUE_FLAG, false, "without its business key"},
    VARIABLES,
    SKIPS,
    DRY_RUN,
    LATER,
    {0},
};

const struct member plan_members[] = {
    {"from", VALUE_INTEGER, true, "the number of the version that instances have"},
    {"to", VALUE_INTEGER, true, "the number of the version that they get"},
    {"to_process", VALUE_TEXT, false, "another process that has it"},
    {"update", VALUE_FLAG, false, "events are made anew"},
    {"dry_run", VALUE_FLAG, true, "`true`: a plan is only told"},
    {0},
};

const struct member complete_members[] = {VARIABLES, TRANSIENT, TYPES, LATER, {0}};

const struct member throw_members[] = {
    {"code", VALUE_TEXT, true, "of the error"},
    {"message", VALUE_TEXT, false, "kept with it"},
    VARIABLES,
    LATER,
    {0},
};

const struct member escalate_members[] = {
    {"code", VALUE_TEXT, true, "of the escalation"},
    VARIABLES,
    LATER,
    {0},
};

const struct member message_members[] = {
    {"message", VALUE_TEXT, true, "its name"},
    {"key", VALUE_TEXT, false, "that the receiver waits for"},
    {"instance", VALUE_INTEGER, false, "that it is for"},
    {"token", VALUE_INTEGER, false, "of the instance: this receiver alone"},
    {"business_key", VALUE_TEXT, false, "of the instance that it is for"},
    {"starts", VALUE_FLAG, false, "it begins an instance, and nothing else"},
    {"all", VALUE_FLAG, false, "all that wait for it get it"},
    {"keep", VALUE_TEXT, false, "a span: so long it waits for a receiver"},
    VARIABLES,
    {"local_variables", VALUE_OBJECT, false, "of what the message triggers, and gone with it"},
    TRANSIENT,
    TYPES,
    LATER,
    {0},
};

const struct member signal_members[] = {
    {"signal", VALUE_TEXT, true, "its name"},
    {"instance", VALUE_INTEGER, false, "that alone gets it"},
    {"token", VALUE_INTEGER, false, "of the instance: this receiver alone"},
    {"tenant", VALUE_TEXT, false, "whose instances alone get it"},
    VARIABLES,
    LATER,
    {0},
};

const struct member conditions_members[] = {
    VARIABLES,
    {"process", VALUE_TEXT, false, "whose start events alone are looked at"},
    {"key", VALUE_TEXT, false, "the business key of what begins"},
    {"tenant", VALUE_TEXT, false, "on whose behalf"},
    LATER,
    {0},
};

const struct member execute_members[] = {
    {"force", VALUE_FLAG, false, "even while another job of its lane runs"},
    {0},
};

const struct member batch_members[] = {
    {"type", VALUE_TEXT, true, "what is done to each id, such as `set-job-retries`"},
    {"ids", VALUE_LIST, false, "to which ids; or `query`"},
    {"query", VALUE_OBJECT, false, "filters of the list that has the ids"},
    {"of", VALUE_TEXT, false, "that list: `jobs`, `instances` or `past`"},
    {"config", VALUE_OBJECT, false, "what the type is told"},
    {"name", VALUE_TEXT, false, "to find it by"},
    {"on_complete", VALUE_TEXT, false, "a handler that gets a job once it has ended"},
    {"jobs_per_seed", VALUE_INTEGER, false, "jobs that one seed makes"},
    {"invocations", VALUE_INTEGER, false, "ids of one job"},
    {"retries", VALUE_INTEGER, false, "runs of its own jobs"},
    {"priority", VALUE_INTEGER, false, "priority of its own jobs"},
    {0},
};

const struct member token_members[] = {
    {"name", VALUE_TEXT, true, "of the tokens that count no other one has it"},
    {"scopes", VALUE_LIST, true, "read, payload, enqueue, work, operate, admin"},
    {"tenant", VALUE_TEXT, false, "nothing of other tenants is in sight"},
    {"handlers", VALUE_LIST, false, "nothing of other handlers is in sight"},
    {"rate", VALUE_TEXT, false, "requests at most, such as `100/PT1S`"},
    {"expires", VALUE_TEXT, false, "a span from now, or an instant: it counts until then"},
    {0},
};

const struct member fetch_members[] = {
    {"worker", VALUE_TEXT, true, "its name"},
    {"topics", VALUE_LIST, true,
     "names, or objects with `topic`, `lock`, `priority`, `tenant`, `category`"},
    {"max", VALUE_INTEGER, false, "jobs, 1 to 1000; 1 unless told"},
    {"lock", VALUE_TEXT, false, "a span: how long it has them"},
    {"priority", VALUE_LIST, false, "the least and the highest one, or null"},
    {"wait", VALUE_TEXT, false, "a span: how long the answer waits for a job, `PT30M` at most"},
    {0},
};

const struct member settle_members[] = {
    {"outcomes", VALUE_LIST, true,
     "objects with `id`, `token` and `outcome`, and what goes with it"},
    {"worker", VALUE_TEXT, false, "only its own locks count"},
    {"fetch", VALUE_OBJECT, false, "what it asks for next, as of /v1/fetch"},
    {0},
};

#define TOKEN                                                                                      \
    {"token", VALUE_INTEGER, true, "of its lock"}, {                                               \
        "worker", VALUE_TEXT, false, "only its own locks count"                                    \
    }

#define LINES                                                                                      \
    { "lines", VALUE_LIST, false, "texts that are kept with the attempt" }

const struct member work_complete_members[] = {
    TOKEN,
    {"result", VALUE_ANY, false, "kept in the log"},
    {"variables", VALUE_OBJECT, false, "of an activity: they are set in its instance"},
    {"create", VALUE_LIST, false, "jobs that are created with it, or not at all"},
    LINES,
    {0},
};

const struct member work_fail_members[] = {
    TOKEN,
    {"message", VALUE_TEXT, false, "why"},
    {"stack", VALUE_TEXT, false, "a traceback"},
    {"permanent", VALUE_FLAG, false, "no run is left"},
    {"retries", VALUE_INTEGER, false, "instead of what the definition says"},
    {"in", VALUE_TEXT, false, "a span: the next run is not before"},
    LINES,
    {0},
};

const struct member work_error_members[] = {
    TOKEN,
    {"code", VALUE_TEXT, true, "of the BPMN error"},
    {"message", VALUE_TEXT, false, "why"},
    {"variables", VALUE_OBJECT, false, "that are set where it is caught"},
    LINES,
    {0},
};

const struct member work_snooze_members[] = {
    TOKEN, {"in", VALUE_TEXT, true, "a span: it runs again after that"}, LINES, {0}};

const struct member work_extend_members[] = {
    TOKEN, {"lock", VALUE_TEXT, true, "a span: its lock ends so long from now"}, {0}};

const struct member work_release_members[] = {TOKEN, {0}};

const struct member work_progress_members[] = {
    TOKEN,
    {"fraction", VALUE_ANY, false, "a number from 0 to 1"},
    {"text", VALUE_TEXT, false, "beside it"},
    LINES,
    {0},
};

/* ---- answers that are no rows ---- */

const struct member created_told[] = {
    {"id", VALUE_INTEGER, false, "of the job"},
    {"outcome", VALUE_TEXT, false, "`created`, `kept` or `replaced`"},
    {"items", VALUE_LIST, false, "the same of each job of a list"},
    {0},
};

const struct member verb_told[] = {
    {"touched", VALUE_INTEGER, true, "how many it was done to"},
    {"batch", VALUE_INTEGER, false, "that does it"},
    {"jobs", VALUE_LIST, false, "ids of jobs that it has made"},
    {"held", VALUE_OBJECT, false, "what is suspended for another reason, too"},
    {"stuck", VALUE_OBJECT, false, "runs that nothing can end"},
    {0},
};

const struct member order_told[] = {
    {"instance", VALUE_INTEGER, false, "that it was done to, or has begun"},
    {"job", VALUE_INTEGER, false, "that does it"},
    {"kept", VALUE_FLAG, false, "the message waits for a receiver"},
    {"told", VALUE_ANY, false, "what a trial says, or which instances"},
    {"lines", VALUE_LIST, false, "what handlers have printed"},
    {0},
};

const struct member count_told[] = {{"count", VALUE_INTEGER, true, "how many"}, {0}};

const struct member stack_told[] = {
    {"stack", VALUE_ANY, true, "the traceback; null: it has not failed"}, {0}};

const struct member fetch_told[] = {
    {"jobs", VALUE_LIST, true, "with `payload` or `variables`, `token` and `lock_expiration`"},
    {0},
};

const struct member settle_told[] = {
    {"outcomes", VALUE_LIST, true, "for each what it was, with a `code` if it is refused"},
    {"jobs", VALUE_LIST, false, "what `fetch` has given"},
    {0},
};

const struct member verdict_told[] = {
    {"id", VALUE_INTEGER, true, "of the job"},
    {"outcome", VALUE_TEXT, true, "as the path says"},
    {"created", VALUE_LIST, false, "the ids of the jobs of `create`"},
    {0},
};

const struct member execution_told[] = {
    {"result", VALUE_ANY, true, "what the handler has returned"}, {0}};

const struct member batch_told[] = {
    {"id", VALUE_INTEGER, true, "of the batch"},
    {"ids", VALUE_INTEGER, true, "how many it has"},
    {0},
};

const struct member token_told[] = {
    {"name", VALUE_TEXT, true, "as it came"},
    {"token", VALUE_TEXT, true, "what the caller shows; nothing else ever says it"},
    {0},
};

const struct member revoked_told[] = {{"revoked", VALUE_FLAG, true, "true"}, {0}};
