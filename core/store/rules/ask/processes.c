#include "store/rules/ask/processes.h"
#include "base/json.h"
#include "base/text.h"
#include "store/rules/ask/turns.h"
#include "store/rules/ask/why_place.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "store/rules/ground/variables.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/searched.h"
#include "store/rules/process/stuck_instance.h"
#include "store/rules/process/turn.h"
#include "store/rules/record/frame.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_VERSION " JOIN process_version v ON v.id="
#define AS_FLAG(sql) "CASE WHEN " sql " THEN 1 ELSE 0 END"

/* ---- processes, versions ---- */

static const struct filter process_filters[] = {
    {"key", "NAME,…", "these processes"},
    {"suspended", "[BOOL]", "suspended, or not", filter_flag, "p.suspended<>0"},
    {0},
};

static const struct ask_column process_columns[] = {
    {"key", ASK_TEXT, "p.key", ASK_BOTH, "PROCESS"},
    {"version", ASK_INTEGER, "v.number", ASK_SORT},
    {"version_id", ASK_INTEGER, "v.id", ASK_SHOW},
    {"kind", ASK_TEXT, "v.kind", ASK_SHOW},
    {"path", ASK_TEXT, "v.path", ASK_SHOW, "FILE"},
    {"tag", ASK_TEXT, "v.tag", ASK_SHOW},
    {"deployment", ASK_INTEGER, "v.deployment", ASK_FIND},
    {"suspended", ASK_FLAG, AS_FLAG("p.suspended<>0"), ASK_SHOW},
    {"instances", ASK_INTEGER,
     "(SELECT count(*) FROM process_version w JOIN instance i ON i.version=w.id WHERE w.key=p.key)",
     ASK_SHOW},
    {0},
};

const struct ask_table process_table = {"processes",
                                        process_columns,
                                        process_filters,
                                        .shown = "key,version,tag=?,instances,suspended=,path",
                                        .from = " FROM process p" OF_VERSION "p.current",
                                        .asked = "processes"};

static const struct filter version_filters[] = {
    {"current", NULL, NULL, filter_flag, "p.current=v.id"},
    {"suspended", NULL, NULL, filter_flag, "(v.suspended<>0 OR p.suspended<>0)"},
    {0},
};

static const struct ask_column version_columns[] = {
    {"id", ASK_INTEGER, "v.id", ASK_BOTH},
    {"key", ASK_TEXT, "v.key", ASK_BOTH},
    {"version", ASK_INTEGER, "v.number", ASK_BOTH},
    {"kind", ASK_TEXT, "v.kind", ASK_SHOW},
    {"hash", ASK_TEXT, "v.hash", ASK_SHOW},
    {"path", ASK_TEXT, "v.path", ASK_SHOW},
    {"tag", ASK_TEXT, "v.tag", ASK_FIND},
    {"deployment", ASK_INTEGER, "v.deployment", ASK_FIND},
    {"created", ASK_TIME, "v.created", ASK_SORT},
    {"current", ASK_FLAG, AS_FLAG("p.current=v.id"), ASK_SHOW},
    {"suspended", ASK_FLAG, AS_FLAG("v.suspended<>0 OR p.suspended<>0"), ASK_SHOW},
    {"instances", ASK_INTEGER, "(SELECT count(*) FROM instance i WHERE i.version=v.id)", ASK_SHOW},
    {0},
};

const struct ask_table version_table = {
    "versions", version_columns, version_filters,
    .from = " FROM process_version v JOIN process p ON p.key=v.key", .asked = "versions"};

/* The id of the version that is meant; 0: there is none, or it is the current one, -1: error. */
static int64_t version_meant(struct store *store, const json_t *question, struct error *error) {
    const json_t *key = json_object_get(question, "key"), *number, *tag, *deployment;
    int64_t id = json_integer_value(json_object_get(question, "id"));
    number = json_object_get(question, "number");
    tag = json_object_get(question, "tag");
    deployment = json_object_get(question, "deployment");
    if (id || !json_is_string(key))
        return id;
    const char *name = json_string_value(key);
    enum answer found = NO;
    if (json_is_integer(number))
        found = db_value(&store->db, error, &id,
                         "SELECT id FROM process_version WHERE key=?1 AND number=?2", "ti", name,
                         json_integer_value(number));
    else if (json_is_string(tag))
        found = db_value(&store->db, error, &id,
                         "SELECT id FROM process_version WHERE key=?1 AND tag=?2"
                         " ORDER BY number DESC LIMIT 1",
                         "tt", name, json_string_value(tag));
    else if (json_is_integer(deployment))
        found = db_value(&store->db, error, &id,
                         "SELECT id FROM process_version WHERE key=?1 AND deployment<=?2"
                         " ORDER BY deployment DESC LIMIT 1",
                         "ti", name, json_integer_value(deployment));
    return found == FAILED ? -1 : id;
}

/* The process has no version of that number or tag, or none at all. */
static void version_missing(const json_t *question, const char *key, struct error *error) {
    const json_t *number = json_object_get(question, "number");
    const char *tag = json_text(question, "tag");
    if (json_is_integer(number))
        error_set(error, ERROR_NOT_FOUND, "process \"%.255s\" has no version %lld", key,
                  (long long)json_integer_value(number));
    else if (tag)
        error_set(error, ERROR_NOT_FOUND, "process \"%.255s\" has no version tagged \"%.255s\"",
                  key, tag);
    else
        error_set(error, ERROR_NOT_FOUND,
                  json_is_integer(json_object_get(question, "deployment"))
                      ? "process \"%.255s\" has no version in that deployment"
                      : "no process \"%.255s\" is deployed",
                  key);
}

static bool asks_version(const json_t *question) {
    return json_is_integer(json_object_get(question, "number")) ||
           json_is_string(json_object_get(question, "tag")) ||
           json_is_integer(json_object_get(question, "deployment"));
}

static json_t *version_read(struct row *row) {
    return json_pack("{sI ss sI ss ss sI ss ss? sb sb so*}", "id", (json_int_t)row_int(row, 0),
                     "key", row_text(row, 1), "number", (json_int_t)row_int(row, 2), "kind",
                     row_text(row, 3), "hash", row_text(row, 4), "deployment",
                     (json_int_t)row_int(row, 5), "path", row_text(row, 6), "text",
                     row_text(row, 7), "current", (int)(row_int(row, 8) != 0), "suspended",
                     (int)(row_int(row, 9) != 0), "twin",
                     row_null(row, 10) ? NULL : json_integer((json_int_t)row_int(row, 10)));
}

json_t *store_version(struct store *store, const json_t *question, struct error *error) {
    bool own = false;
    json_t *found = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    const char *key = json_string_value(json_object_get(question, "key"));
    int64_t id = version_meant(store, question, error);
    struct row *row =
        db_query(&store->db, error,
                 "SELECT v.id, v.key, v.number, v.kind, v.hash, v.deployment, v.path,"
                 " CASE WHEN ?2<>0 THEN f.text END, CASE WHEN p.current=v.id THEN 1 ELSE 0 END,"
                 " CASE WHEN v.suspended<>0 OR p.suspended<>0 THEN 1 ELSE 0 END,"
                 " (" INSTANCE_TWIN(
                     "v.key", "?4",
                     "?5") ")"
                           " FROM process_version v JOIN process p ON p.key=v.key LEFT JOIN "
                           "deployment_file f"
                           " ON f.deployment=v.deployment AND f.path=v.path"
                           " WHERE v.id=coalesce(?1, (SELECT current FROM process WHERE key=?3))",
                 "zittt", id, (int64_t)!json_is_false(json_object_get(question, "text")),
                 asks_version(question) ? NULL : key, json_text(question, "unique"),
                 json_text(question, "tenant"));
    enum answer step = id < 0 ? FAILED : db_step(&store->db, row, error);
    if (step == YES) {
        found = version_read(row);
        row_done(row);
    }
    if (step == NO && key)
        version_missing(question, key, error);
    else if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no version %lld of a process", (long long)id);
    look_end(store, own);
    return found;
}

/* ---- instances ---- */

static bool filter_activity(struct query *query, const struct filter *filter, const json_t *value,
                            struct error *error) {
    if (!json_is_string(value))
        return error_set(error, ERROR_INVALID, "filter \"%s\": expected a text", filter->name);
    query_add(query, "i.id IN (SELECT instance_id FROM live WHERE instance_id IS NOT NULL"
                     " AND activity=");
    query_bind(query, value);
    query_add(query, " UNION ALL SELECT instance FROM user_task WHERE activity=");
    query_bind(query, value);
    query_add(query, " UNION ALL SELECT instance FROM subscription WHERE activity=");
    query_bind(query, value);
    query_add(query, ")");
    return true;
}

static const struct filter instance_filters[] = {
    {"process", "NAME,…", "of these processes"},
    {"version", "N", "of this version"},
    {"key", "NAME,…", "with these business keys"},
    {"tenant", "NAME,…", "of these tenants"},
    {"activity", "NAME", "that wait there with a job, a task or for an event", filter_activity},
    {"suspended", "[BOOL]", "suspended, or not", filter_flag, INSTANCE_SUSPENDED("i.id")},
    {"stuck", "[BOOL]", "where nothing moves a token any more, or without", filter_flag,
     STUCK_INSTANCE},
    {"with_incidents", "[BOOL]", "with open incidents, or without", filter_flag,
     "EXISTS(SELECT 1 FROM incident n WHERE n.instance_id=i.id AND n.ended IS NULL)"},
    {"variables", "CONDITION", "as amount>100: of a variable that the process searches",
     filter_variables, "i.id"},
    {"started_before", NULL, NULL, filter_time, "i.started<"},
    {"started_after", NULL, NULL, filter_time, "i.started>"},
    {0},
};

static const struct ask_column process_instance_columns[] = {
    {"id", ASK_INTEGER, "i.id", ASK_BOTH, "INSTANCE"},
    {"process", ASK_TEXT, "v.key", ASK_BOTH},
    {"version", ASK_INTEGER, "v.number", ASK_BOTH},
    {"version_id", ASK_INTEGER, "i.version", ASK_FIND},
    {"key", ASK_TEXT, "i.key", ASK_BOTH},
    {"tenant", ASK_TEXT, "i.tenant", ASK_BOTH},
    {"started", ASK_TIME, "i.started", ASK_SORT},
    {"root", ASK_INTEGER, "i.root", ASK_FIND},
    {"parent", ASK_INTEGER, "i.parent", ASK_FIND},
    {"suspended", ASK_FLAG, AS_FLAG(INSTANCE_SUSPENDED("i.id")), ASK_SHOW},
    {"suspended_by", ASK_TEXT,
     "CASE WHEN " BY_ITSELF("i.id") " THEN 'instance' WHEN " BY_PROCESS " THEN 'process' END",
     ASK_SHOW},
    {"incidents", ASK_INTEGER,
     "(SELECT count(*) FROM incident n WHERE n.instance_id=i.id AND n.ended IS NULL)", ASK_SHOW},
    {"variables", ASK_OBJECT, NULL, ASK_SHOW},
    {0},
};

const struct ask_table process_instance_table = {
    "instances",
    process_instance_columns,
    instance_filters,
    .shown = "id,process,version,key?,started,suspended=,incidents",
    .from = " FROM instance i" OF_VERSION "i.version",
    .asked = "instances"};

json_t *store_process_instances(struct store *store, const json_t *filters,
                                const struct store_page *page, struct error *error) {
    json_t *rows = variables_known(store, filters, error)
                       ? query_list(store, &process_instance_table, filters, page, error)
                       : NULL;
    return json_kept(rows, !rows || (page && page->ids) || searched_show(store, rows, error));
}

static const struct filter past_filters[] = {
    {"variables", NULL, NULL, filter_variables, "i.id"},
    {"started_before", NULL, NULL, filter_time, "i.started<"},
    {"started_after", NULL, NULL, filter_time, "i.started>"},
    {"ended_before", NULL, NULL, filter_time, "i.ended<"},
    {"ended_after", NULL, NULL, filter_time, "i.ended>"},
    {0},
};

static const struct ask_column past_columns[] = {
    {"id", ASK_INTEGER, "i.id", ASK_BOTH, "INSTANCE"},
    {"process", ASK_TEXT, "v.key", ASK_BOTH},
    {"version", ASK_INTEGER, "v.number", ASK_BOTH},
    {"version_id", ASK_INTEGER, "i.version", ASK_FIND},
    {"key", ASK_TEXT, "i.key", ASK_BOTH},
    {"tenant", ASK_TEXT, "i.tenant", ASK_BOTH},
    {"started", ASK_TIME, "i.started", ASK_SORT},
    {"ended", ASK_TIME, "i.ended", ASK_SORT},
    {"how", ASK_TEXT, "i.how", ASK_BOTH},
    {"reason", ASK_TEXT, "i.reason", ASK_SHOW},
    {"root", ASK_INTEGER, "i.root", ASK_FIND},
    {"parent", ASK_INTEGER, "i.parent", ASK_FIND},
    {"variables", ASK_OBJECT, "i.variables", ASK_SHOW},
    {"removal_time", ASK_TIME, "i.removal", ASK_SHOW},
    {0},
};

const struct ask_table past_table = {"past",
                                     past_columns,
                                     past_filters,
                                     .shown = "id,process,version,key?,started,ended,how=",
                                     .from = " FROM past i LEFT" OF_VERSION "i.version",
                                     .asked = "past instances"};

json_t *store_past(struct store *store, const json_t *filters, const struct store_page *page,
                   struct error *error) {
    return variables_known(store, filters, error)
               ? query_list(store, &past_table, filters, page, error)
               : NULL;
}

/* ---- the trail ---- */

#define FILED "(SELECT coalesce(max(m.value), 0) FROM meta m WHERE m.key='trail_filed')"

/* By number as far as that is filed, and in the tail behind. */
static bool filter_of_instance(struct query *query, const struct filter *filter,
                               const json_t *value, struct error *error) {
    const struct filter filed = {
        .name = filter->name,
        .sql = "t.seq IN (SELECT o.seq FROM trail_of o WHERE o.instance",
    };
    const struct filter tail = {
        .name = filter->name,
        .sql = " UNION ALL SELECT n.seq FROM trail n WHERE n.seq>" FILED " AND n.instance",
        .after = ")",
    };
    return filter_numbers(query, &filed, value, error) &&
           filter_numbers(query, &tail, value, error);
}

static const struct filter trail_filters[] = {
    {"instance", NULL, NULL, filter_of_instance},
    {"after", NULL, NULL, filter_time, "t.at>="},
    {"before", NULL, NULL, filter_time, "t.at<"},
    {0},
};

static const struct ask_column trail_columns[] = {
    {"id", ASK_INTEGER, "t.seq", ASK_SORT},     {"instance", ASK_INTEGER, "t.instance", ASK_SHOW},
    {"at", ASK_TIME, "t.at", ASK_SORT},         {"job", ASK_INTEGER, "t.job", ASK_FIND},
    {"events", ASK_LIST, "t.events", ASK_SHOW}, {0},
};

const struct ask_table trail_table = {
    "trail", trail_columns, trail_filters, .from = " FROM trail t", .asked = "the trail",
};

/* ---- tasks, subscriptions ---- */

/* A user or a group among the candidates, a list in JSON. */
static bool filter_candidate(struct query *query, const struct filter *filter, const json_t *value,
                             struct error *error) {
    char *quoted = json_is_string(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_t *text = quoted ? json_string(quoted) : NULL;
    free(quoted);
    if (!json_is_string(value))
        return error_set(error, ERROR_INVALID, "filter \"%s\": expected a text", filter->name);
    query_add(query, "replace(t.candidates, ");
    query_bind_new(query, text);
    query_add(query, ", '')<>t.candidates");
    return true;
}

static const struct filter task_filters[] = {
    {"assignee", "NAME,…", "of these people"},
    {"candidate", "NAME", "that this user or group may do", filter_candidate},
    {"process", "NAME,…", "of these processes"},
    {"instance", "ID,…", "of these instances"},
    {"activity", "NAME,…", "of these activities"},
    {"variables", "CONDITION", "of their instances, as amount>100", filter_variables, "t.instance"},
    {"suspended", NULL, NULL, filter_flag, INSTANCE_SUSPENDED("i.id")},
    {"due_before", NULL, NULL, filter_time, "t.due<"},
    {"due_after", NULL, NULL, filter_time, "t.due>"},
    {0},
};

static const struct ask_column task_columns[] = {
    {"id", ASK_INTEGER, "t.id", ASK_BOTH, "TASK"},
    {"instance", ASK_INTEGER, "t.instance", ASK_BOTH},
    {"process", ASK_TEXT, "v.key", ASK_BOTH},
    {"version", ASK_INTEGER, "v.number", ASK_SHOW},
    {"activity", ASK_TEXT, "t.activity", ASK_BOTH},
    {"token", ASK_INTEGER, "t.token", ASK_SHOW},
    {"name", ASK_TEXT, "t.name", ASK_BOTH},
    {"assignee", ASK_TEXT, "t.assignee", ASK_BOTH},
    {"candidates", ASK_OBJECT, "t.candidates", ASK_SHOW},
    {"due", ASK_TIME, "t.due", ASK_SORT},
    {"priority", ASK_INTEGER, "t.priority", ASK_SORT},
    {"created", ASK_TIME, "t.created", ASK_SORT},
    {"form", ASK_TEXT, "t.form", ASK_SHOW},
    {"key", ASK_TEXT, "i.key", ASK_FIND},
    {"tenant", ASK_TEXT, "i.tenant", ASK_FIND},
    {"suspended", ASK_FLAG, AS_FLAG(INSTANCE_SUSPENDED("i.id")), ASK_SHOW},
    {0},
};

const struct ask_table task_table = {
    "tasks",
    task_columns,
    task_filters,
    .shown = "id,activity,name?,process,instance,key?,assignee,candidates?,due?",
    .from = " FROM user_task t JOIN instance i ON i.id=t.instance AND " OPEN_TOKEN("t.token")
        OF_VERSION "i.version",
    .asked = "tasks"};

json_t *store_tasks(struct store *store, const json_t *filters, const struct store_page *page,
                    struct error *error) {
    return variables_known(store, filters, error)
               ? query_list(store, &task_table, filters, page, error)
               : NULL;
}

static const struct filter subscription_filters[] = {
    {"name", NULL, NULL, filter_texts, "s.name"},
    {"instance", NULL, NULL, filter_numbers, "s.instance"},
    {"activity", NULL, NULL, filter_texts, "s.activity"},
    {"starts", NULL, NULL, filter_flag, "s.instance=0"},
    {0},
};

static const struct ask_column subscription_columns[] = {
    {"kind", ASK_TEXT, "s.kind", ASK_FIND},
    {"name", ASK_TEXT, "s.name", ASK_SORT},
    {"key", ASK_TEXT, "s.key", ASK_BOTH},
    {"instance", ASK_INTEGER, "nullif(s.instance, 0)", ASK_SORT},
    {"token", ASK_INTEGER, "CASE WHEN s.instance<>0 THEN s.token END", ASK_SHOW},
    {"process", ASK_TEXT, "v.key", ASK_BOTH},
    {"version", ASK_INTEGER, "v.number", ASK_SHOW},
    {"activity", ASK_TEXT, "s.activity", ASK_SHOW},
    {"created", ASK_TIME, "s.created", ASK_SORT},
    {0},
};

const struct ask_table subscription_table = {
    "subscriptions", subscription_columns, subscription_filters,
    .from = " FROM subscription s" OF_VERSION "s.version AND " OPEN_TOKEN("s.token"),
    .asked = "subscriptions"};

static const struct filter kept_message_filters[] = {
    {"name", "NAME,…", "of these names"},
    {"key", "NAME,…", "with these keys"},
    {"until_before", NULL, NULL, filter_time, "m.until<"},
    {"until_after", NULL, NULL, filter_time, "m.until>"},
    {0},
};

static const struct ask_column kept_message_columns[] = {
    {"id", ASK_INTEGER, "m.id", ASK_BOTH, "MESSAGE"},
    {"name", ASK_TEXT, "m.name", ASK_BOTH},
    {"key", ASK_TEXT, "m.key", ASK_BOTH},
    {"instance", ASK_INTEGER, "m.instance", ASK_FIND},
    {"business_key", ASK_TEXT, "m.business_key", ASK_FIND},
    {"created", ASK_TIME, "m.created", ASK_SORT},
    {"until", ASK_TIME, "m.until", ASK_SORT},
    {"variables", ASK_OBJECT, "m.variables", ASK_SHOW},
    {"job", ASK_INTEGER, "m.job", ASK_SHOW},
    {0},
};

const struct ask_table kept_message_table = {"kept_messages",
                                             kept_message_columns,
                                             kept_message_filters,
                                             .shown = "id,name,key,created,until",
                                             .from = " FROM kept_message m",
                                             .asked = "kept messages"};

json_t *store_kept_messages(struct store *store, const json_t *filters,
                            const struct store_page *page, time_ms now, struct error *error) {
    json_t *wanted = json_pack("{}"), *rows = NULL;
    json_put_time(wanted, "until_after", now);
    bool filtered = json_object_size(filters) > 0;
    if (!wanted || (filtered && json_object_update(wanted, json_unchanged(filters))))
        db_no_memory(&store->db, error);
    else
        rows = query_list(store, &kept_message_table, wanted, page, error);
    json_decref(wanted);
    return rows;
}

/* ---- one instance ---- */

/* The first row of a list; NULL without an error: it is empty. Takes the list. */
static json_t *first_of(json_t *rows) {
    json_t *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    return row;
}

/* Adds the large ones to its variables. */
static bool show_large(struct store *store, json_t *instance, int64_t id, struct error *error) {
    json_t *large = json_incref(json_object_get(instance, "large"));
    json_t *variables = json_object_get(instance, "variables");
    bool own = false, ended = json_object_get(instance, "how") != NULL;
    json_object_del(instance, "large");
    bool done = (!large && !ended) || !json_is_object(variables);
    if (!done && look_begin(store, &own, error)) {
        done = large_values_show(store, variables, id, large, error);
        look_end(store, own);
    }
    json_decref(large);
    return done;
}

/* Adds what its frame says. One that has ended meanwhile has none. */
static bool show_frame(struct store *store, json_t *instance, int64_t id, struct error *error) {
    json_t *frame = store_frame(store, id, 0, error);
    const char *text = json_string_value(json_object_get(frame, "frame"));
    bool done = frame && (!text || frame_show(instance, text, error));
    if (done && text && turns_may(text))
        done = turns_show(store, json_object_get(instance, "at"), id, error);
    json_decref(frame);
    return done;
}

json_t *store_process_instance(struct store *store, int64_t id, time_ms now, struct error *error) {
    const struct store_page one = {.limit = 1};
    struct error reason = {0};
    json_t *filters = json_pack("{sI}", "id", (json_int_t)id);
    (void)now;
    json_t *found = first_of(store_process_instances(store, filters, &one, &reason));
    const char *state = json_is_true(json_object_get(found, "suspended")) ? "suspended" : "active";
    if (!found && !reason.code) {
        found = first_of(store_past(store, filters, &one, &reason));
        state = json_string_value(json_object_get(found, "how"));
    }
    json_decref(filters);
    if (!found && !reason.code)
        error_set(&reason, ERROR_NOT_FOUND, "no instance %lld of a process", (long long)id);
    if (!found)
        return error_null(error_set(error, reason.code, "%s", reason.text));
    json_put_text(found, "state", state);
    return json_kept(found,
                     (json_object_get(found, "how") || show_frame(store, found, id, error)) &&
                         show_large(store, found, id, error));
}

/* What belongs to an instance and waits, at most a thousand of each kind. */
static bool put_lists(json_t *object, struct store *store, int64_t id, time_ms now,
                      struct error *error) {
    static const struct {
        const char *key;
        enum ask_kind kind;
        const char *by;
    } lists[] = {
        {"jobs", ASK_JOBS, "instance"},
        {"incidents", ASK_INCIDENTS, "instance"},
        {"tasks", ASK_TASKS, "instance"},
        {"subscriptions", ASK_SUBSCRIPTIONS, "instance"},
        {"called", ASK_PROCESS_INSTANCES, "parent"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool texts = lists[i].kind == ASK_INCIDENTS;
        json_t *question = json_pack("{s{so so*},si}", "filters", lists[i].by,
                                     texts ? json_sprintf("%lld", (long long)id) : json_integer(id),
                                     "open", texts ? json_true() : NULL, "limit", 1000);
        json_t *rows = question ? store_ask(store, lists[i].kind, question, now, error) : NULL;
        json_decref(question);
        if (!rows || !json_put(object, lists[i].key, rows))
            return false;
    }
    return true;
}

static const char *with_process(const json_t *instance) {
    const char *by = json_string_value(json_object_get(instance, "suspended_by"));
    return by && strcmp(by, "process") == 0 ? " with its process" : "";
}

/* All sentences as lines, behind one about the instance itself. */
static bool process_put_text(json_t *facts, int64_t id) {
    const json_t *instance = json_object_get(facts, "instance"), *row;
    const char *how = json_string_value(json_object_get(instance, "how"));
    struct text text = {0};
    size_t i;
    if (how)
        text_add(&text, "instance %lld has ended: %s", (long long)id, how);
    if (json_is_true(json_object_get(instance, "suspended")))
        text_add(&text, "instance %lld is suspended%s", (long long)id, with_process(instance));
    json_array_foreach(json_object_get(facts, "why"), i, row) {
        text_add(&text, "%s%s", text.size ? "\n" : "",
                 json_string_value(json_object_get(row, "text")));
    }
    bool done = json_put_text(facts, "text", text.data ? text.data : "");
    text_clear(&text);
    return done;
}

json_t *store_why_instance(struct store *store, int64_t id, time_ms now, struct error *error) {
    bool own = false;
    json_t *facts = json_object();
    if (!look_begin(store, &own, error))
        return json_kept(facts, false);
    json_t *instance = store_process_instance(store, id, now, error);
    json_t *frame = instance ? store_frame(store, id, 0, error) : NULL;
    bool done = json_put(facts, "instance", instance) && instance && frame &&
                json_put(facts, "frame", json_incref(json_object_get(frame, "frame"))) &&
                put_lists(facts, store, id, now, error);
    json_t *why = done ? why_places(store, facts, id, now, error) : NULL;
    done = json_put(facts, "why", why) && why && process_put_text(facts, id);
    json_decref(frame);
    look_end(store, own);
    return json_kept(facts, done);
}
