#include "engine/process/process_cause.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_migrate.h"
#include "engine/process/process_question.h"
#include "engine/process/process_receivers.h"
#include "engine/process/process_restart.h"
#include "engine/process_command.h"
#include "job/unit.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void process_cause_clear(struct process_cause *cause) {
    json_decref(cause->command);
    json_decref(cause->object);
    json_decref(cause->frame);
    cause->command = cause->object = cause->frame = NULL;
}

/* Copies a member if it is there. */
static bool take(json_t *to, const char *name, const json_t *from, const char *key) {
    json_t *value = json_object_get(from, key);
    return !value || json_is_null(value) || json_object_set(to, name, value) == 0;
}

static void take_activity(struct process_cause *cause, const json_t *row) {
    const char *activity = json_text(row, "activity");
    snprintf(cause->activity, sizeof cause->activity, "%s", activity ? activity : "");
}

static bool cause_put(struct process_cause *cause, const char *name, json_t *value,
                      struct error *error) {
    return json_put(cause->object, name, value) || error_no_memory(error);
}

/* ---- versions ---- */

static bool take_version(struct process_cause *cause, json_t *row, struct error *error) {
    snprintf(cause->key, sizeof cause->key, "%s", json_text(row, "key"));
    cause->suspended = json_is_true(json_object_get(row, "suspended"));
    bool done = take(cause->object, "version", row, "id");
    json_decref(row);
    return done || error_no_memory(error);
}

static bool version_by_id(struct process_cause *cause, struct engine *engine, int64_t id,
                          struct error *error) {
    json_t *row = process_ask(engine, ASK_VERSION,
                              json_pack("{sI sb}", "id", (json_int_t)id, "text", 0), error);
    return row && take_version(cause, row, error);
}

/* An instance that lives, with the version that it runs on. With the token that is meant, which may
 * be that of a turn outside of its frame. */
static bool take_instance(struct process_cause *cause, struct engine *engine, int64_t id,
                          struct error *error) {
    json_int_t token = json_int(cause->object, "token");
    token = turn_of_token(token) ? token : 0;
    json_t *frame = process_ask(
        engine, ASK_FRAME, json_pack("{sI sI}", "instance", (json_int_t)id, "token", token), error);
    if (!frame)
        return false;
    json_decref(cause->frame);
    cause->frame = frame;
    if (json_is_null(frame))
        return error_set(error, ERROR_NOT_FOUND, "no instance %lld that runs", (long long)id);
    cause->instance = id;
    cause->suspended = json_is_true(json_object_get(frame, "held"));
    snprintf(cause->key, sizeof cause->key, "%s", json_text(frame, "process"));
    return take(cause->object, "version", frame, "version") || error_no_memory(error);
}

/* ---- what is asked for ---- */

/* Says who commands it: a process may keep the name in a variable, or ask for it. */
static bool take_who(struct process_cause *cause, const struct engine *engine,
                     struct error *error) {
    const char *who = engine->options.settings->who;
    return !who || json_put_text(cause->object, "who", who) || error_no_memory(error);
}

/* Takes those of these members that are there. */
static bool take_all(struct process_cause *cause, const json_t *command, const char *const *names,
                     struct error *error) {
    bool done = true;
    for (; done && *names; names++)
        done = take(cause->object, *names, command, *names);
    return done || error_no_memory(error);
}

/* The business key that no other instance may have; NULL: any may have it. */
static const char *unique_key(const json_t *command) {
    return json_is_true(json_object_get(command, "unique")) ? json_text(command, "key") : NULL;
}

/* Refuses an instance that would not be the only one, before any handler is called. The unit is
 * held against it once more. */
static bool may_begin(const json_t *command, const json_t *version, struct error *error) {
    const json_t *unique = json_object_get(command, "unique");
    const char *key = unique_key(command);
    if (json_is_true(unique) && (!key || !*key))
        return json_refuse("unique", unique, "a business key beside it", error);
    return !version || !json_int(version, "twin") ||
           error_set(error, ERROR_CONFLICT, INSTANCE_TWIN_TEXT,
                     (long long)json_int(version, "twin"), key);
}

static bool start(struct process_cause *cause, struct engine *engine, const json_t *command,
                  struct error *error) {
    static const char *const names[] = {
        "key",           "tenant",  "unique", "operations", "skip_listeners",
        "skip_mappings", "dry_run", NULL};
    const char *key = unique_key(command);
    json_t *question = json_object();
    bool fine = json_put(question, "text", json_false()) &&
                take(question, "key", command, "process") &&
                take(question, "number", command, "version");
    fine = fine && take(question, "tag", command, "tag") &&
           (!key || (json_put_text(question, "unique", key) &&
                     take(question, "tenant", command, "tenant")));
    json_t *row = process_ask(engine, ASK_VERSION, fine ? question : NULL, error);
    if (row && may_begin(command, row, error))
        return take_version(cause, row, error) && take_all(cause, command, names, error);
    json_decref(row);
    return false;
}

static bool complete(struct process_cause *cause, struct engine *engine, const json_t *command,
                     struct error *error) {
    int64_t id = json_int(command, "task");
    json_t *row = process_ask(engine, ASK_TASK, json_pack("{sI}", "id", (json_int_t)id), error);
    bool done =
        row && (!json_is_true(json_object_get(row, "gone")) ||
                error_set(error, ERROR_NOT_FOUND, "no task %lld that is open", (long long)id));
    take_activity(cause, row);
    done = done && take(cause->object, "token", row, "token") &&
           take(cause->object, "task", command, "task") &&
           take_instance(cause, engine, json_int(row, "instance"), error);
    json_decref(row);
    return done;
}

/* A task gets another assignee; a claim without a name is for the one who asks. */
static bool assign(struct process_cause *cause, struct engine *engine, const json_t *command,
                   struct error *error) {
    const char *who = engine->options.settings->who;
    bool claims = json_is_true(json_object_get(command, "claim"));
    bool fine = take(cause->object, "assignee", command, "assignee") &&
                take(cause->object, "claim", command, "claim");
    if (fine && claims && !json_text(command, "assignee"))
        fine = json_put_text(cause->object, "assignee", who);
    return (fine || error_no_memory(error)) && complete(cause, engine, command, error);
}

/* A task that ends with a BPMN error, or escalates. */
static bool raise_code(struct process_cause *cause, struct engine *engine, const json_t *command,
                       struct error *error) {
    const char *code = json_text(command, "code");
    if (!code || !*code)
        return json_refuse("code", json_object_get(command, "code"), "a code", error);
    return ((take(cause->object, "code", command, "code") &&
             take(cause->object, "message", command, "message")) ||
            error_no_memory(error)) &&
           complete(cause, engine, command, error);
}

/* Finds the place that waits to be triggered, at the activity if one is named. NULL: error. */
static const json_t *place_find(const json_t *instance, int64_t id, const char *activity,
                                struct error *error) {
    const json_t *place, *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(instance, "at"), i, place) {
        const char *at = json_text(place, "activity");
        if (strcmp(json_text(place, "state"), "trigger") != 0 || (activity && strcmp(at, activity)))
            continue;
        if (found && strcmp(json_text(found, "activity"), at) != 0) {
            error_set(error, ERROR_CONFLICT,
                      "instance %lld waits to be triggered at %s and at %s (expected the name of "
                      "one)",
                      (long long)id, json_text(found, "activity"), at);
            return NULL;
        }
        found = found ? found : place;
    }
    if (!found)
        error_set(error, ERROR_NOT_FOUND, "instance %lld: nothing waits to be triggered%s%s",
                  (long long)id, activity ? " at " : "", activity ? activity : "");
    return found;
}

static bool trigger(struct process_cause *cause, struct engine *engine, const json_t *command,
                    struct error *error) {
    int64_t id = json_int(command, "instance"), token = 0;
    json_t *found = process_ask(engine, ASK_FRAME,
                                json_pack("{sI sb}", "instance", (json_int_t)id, "at", 1), error);
    const json_t *at = engine->reached ? engine->reached->found : found;
    const json_t *place = found ? place_find(at, id, json_text(command, "activity"), error) : NULL;
    take_activity(cause, place);
    token = json_int(place, "token");
    json_decref(found);
    return place && cause_put(cause, "token", json_integer(token), error) &&
           take_instance(cause, engine, id, error);
}

/* A worker outside hands back what waits at this token; with a code it throws. */
static bool external(struct process_cause *cause, struct engine *engine, const json_t *command,
                     struct error *error) {
    static const char *const names[] = {"token", "code", "message", NULL};
    take_activity(cause, command);
    return take_all(cause, command, names, error) &&
           take_instance(cause, engine, json_int(command, "instance"), error);
}

/* About an instance as a whole. */
static bool of_instance(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error) {
    return (take(cause->object, "reason", command, "reason") || error_no_memory(error)) &&
           take_instance(cause, engine, json_int(command, "instance"), error);
}

/* Variables of a place, or of the instance. */
static bool set(struct process_cause *cause, struct engine *engine, const json_t *command,
                struct error *error) {
    return ((take(cause->object, "place", command, "activity") &&
             take(cause->object, "unset", command, "unset")) ||
            error_no_memory(error)) &&
           of_instance(cause, engine, command, error);
}

/* Other places for an instance; see lua/moonshift/process/operations.lua. */
static bool modify(struct process_cause *cause, struct engine *engine, const json_t *command,
                   struct error *error) {
    static const char *const names[] = {"operations", "skip_listeners", "skip_mappings", "dry_run",
                                        NULL};
    return take_all(cause, command, names, error) && of_instance(cause, engine, command, error);
}

/* Another version for an instance; see lua/moonshift/process/migration/plan.lua. */
static bool migrate(struct process_cause *cause, struct engine *engine, const json_t *command,
                    struct error *error) {
    static const char *const names[] = {"plan", "skip_listeners", "skip_mappings", "dry_run", NULL};
    return take_all(cause, command, names, error) && of_instance(cause, engine, command, error) &&
           process_migrate_read(cause, engine, json_object_get(command, "plan"), error);
}

/* The plan of equal activities. */
static bool plan(struct process_cause *cause, struct engine *engine, const json_t *command,
                 struct error *error) {
    snprintf(cause->key, sizeof cause->key, "%s", json_text(command, "process"));
    static const char *const names[] = {"update", "plan", NULL};
    return take_all(cause, command, names, error) &&
           process_migrate_read(cause, engine, command, error);
}

static bool restart(struct process_cause *cause, struct engine *engine, const json_t *command,
                    struct error *error) {
    int64_t version = 0;
    return process_restart_read(cause, engine, command, &version, error) &&
           version_by_id(cause, engine, version, error);
}

/* Asks a timer, without moving anything. */
static bool due(struct process_cause *cause, struct engine *engine, const json_t *command,
                struct error *error) {
    bool done = take(cause->object, "at", command, "activity") &&
                take(cause->object, "token", command, "token");
    return (done || error_no_memory(error)) &&
           take_instance(cause, engine, json_int(command, "instance"), error);
}

static bool cancel(struct process_cause *cause, struct engine *engine, const json_t *command,
                   struct error *error) {
    static const char *const names[] = {"skip_listeners", "skip_mappings", "skip_called", "dry_run",
                                        NULL};
    cause->ends = true;
    return take_all(cause, command, names, error) && of_instance(cause, engine, command, error);
}

/* ---- messages ---- */

/* A start event begins an instance with the business key that the message asks for. */
static bool take_receiver(struct process_cause *cause, struct engine *engine, const json_t *command,
                          const json_t *row, struct error *error) {
    take_activity(cause, row);
    if (json_int(row, "instance"))
        return (take(cause->object, "token", row, "token") || error_no_memory(error)) &&
               take_instance(cause, engine, json_int(row, "instance"), error);
    return (json_put_text(cause->object, "kind", "start") &&
            take(cause->object, "at", row, "activity") &&
            take(cause->object, "key", command, "business_key")) &&
           version_by_id(cause, engine, json_int(row, "version"), error);
}

/* *until: how long it is kept if nothing waits for it; 0: not at all. */
static bool keep_read(const json_t *command, time_ms now, time_ms *until, struct error *error) {
    const json_t *keep = json_object_get(command, "keep");
    struct span span;
    *until = 0;
    if (!keep || json_is_null(keep))
        return true;
    bool fine = span_from_json(keep, "keep", &span, error);
    *until = fine ? span_add(now, &span) : 0;
    return fine;
}

static bool message_all(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error);

static bool message(struct process_cause *cause, struct engine *engine, const json_t *command,
                    struct error *error) {
    time_ms until;
    if (json_is_true(json_object_get(command, "all")))
        return message_all(cause, engine, command, error);
    if (!keep_read(command, engine_now(engine), &until, error) ||
        (until && !process_receivers_many(command, "keep", error)))
        return false;
    json_t *question = json_object();
    bool fine = question && take(question, "name", command, "message") &&
                take(question, "key", command, "key") &&
                take(question, "instance", command, "instance") &&
                take(question, "token", command, "token") &&
                take(question, "business_key", command, "business_key") &&
                take(question, "starts", command, "starts");
    json_t *rows = process_ask(engine, ASK_RECEIVERS, fine ? json_incref(question) : NULL, error);
    size_t count = json_array_size(rows);
    bool done = rows != NULL;
    cause->keeps = count == 0 ? until : 0;
    cause->until = until ? until : TIME_NONE;
    if (done && cause->keeps)
        done = json_object_update(cause->object, question) == 0 || error_no_memory(error);
    else if (done)
        done = count == 1 ? take_receiver(cause, engine, command, json_array_get(rows, 0), error)
                          : process_receivers_refuse(command, rows, error);
    json_decref(question);
    json_decref(rows);
    return done;
}

/* ---- signals, messages to all, conditions ---- */

/* Asks what waits; it is walked where the process of the first is. Takes the question over. */
static json_t *broadcast_read(struct process_cause *cause, struct engine *engine, json_t *question,
                              struct error *error) {
    json_t *rows = process_ask(engine, ASK_RECEIVERS, question, error);
    const char *process = json_text(json_array_get(rows, 0), "process");
    cause->receivers = json_array_size(rows);
    snprintf(cause->key, sizeof cause->key, "%s", process ? process : "");
    return rows;
}

/* One token alone gets it, if the rows begin with that one. */
static bool signal_one(struct process_cause *cause, struct engine *engine, const json_t *command,
                       const json_t *rows, struct error *error) {
    const json_t *row = json_array_get(rows, 0);
    if (json_int(row, "token") != json_int(command, "token"))
        return process_receivers_no_signal(command, error);
    cause->receivers = 1;
    take_activity(cause, row);
    bool taken =
        take(cause->object, "token", row, "token") && json_put(cause->object, "alone", json_true());
    return (taken || error_no_memory(error)) &&
           take_instance(cause, engine, json_int(row, "instance"), error);
}

static bool signal_read(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error) {
    if (json_int(command, "token") && !json_int(command, "instance"))
        return error_set(error, ERROR_INVALID, "token: without its instance (expected both)");
    json_t *question = json_object();
    bool fine = question && take(question, "signal", command, "signal") &&
                take(question, "tenant", command, "tenant") &&
                take(question, "instance", command, "instance") &&
                take(question, "token", command, "token") &&
                take(cause->object, "name", command, "signal") &&
                take(cause->object, "tenant", command, "tenant") &&
                take(cause->object, "only", command, "instance");
    json_t *rows = broadcast_read(cause, engine, fine ? question : NULL, error);
    cause->broadcast = !json_int(command, "token");
    bool done = rows && (cause->receivers || !json_int(command, "instance") ||
                         process_receivers_no_signal(command, error));
    done = done && (cause->broadcast || signal_one(cause, engine, command, rows, error));
    json_decref(rows);
    return done;
}

/* A message to all goes the way of a signal. */
static bool message_all(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error) {
    if (!process_receivers_many(command, "all", error))
        return false;
    json_t *question = json_pack("{sb}", "message", 1);
    bool fine = question && take(question, "signal", command, "message") &&
                take(question, "key", command, "key") &&
                take(question, "business_key", command, "business_key") &&
                take(cause->object, "name", command, "message") &&
                take(cause->object, "key", command, "key") &&
                take(cause->object, "business_key", command, "business_key") &&
                json_put_text(cause->object, "kind", "signal") &&
                json_put(cause->object, "message", json_true());
    json_t *rows = broadcast_read(cause, engine, fine ? question : NULL, error);
    cause->broadcast = cause->lists = true;
    cause->until = TIME_NONE;
    json_decref(rows);
    return rows != NULL;
}

static bool refuse_conditions(const json_t *command, struct error *error) {
    const char *process = json_text(command, "process");
    return error_set(error, ERROR_NOT_FOUND, "no process%s%s%s is started by a condition",
                     process ? " \"" : "", process ? process : "", process ? "\"" : "");
}

/* The walk looks at the conditions. */
static bool conditions(struct process_cause *cause, struct engine *engine, const json_t *command,
                       struct error *error) {
    static const char *const names[] = {"process", "key", "tenant", NULL};
    json_t *question = json_pack("{sb}", "conditions", 1);
    bool fine = question && take(question, "process", command, "process");
    json_t *rows = broadcast_read(cause, engine, fine ? question : NULL, error);
    cause->lists = true;
    bool done = rows && (cause->receivers || refuse_conditions(command, error)) &&
                take_all(cause, command, names, error);
    json_decref(rows);
    return done;
}

/* ---- commands ---- */

/* What a command needs to be told, and what reads the rest. */
#define OF_A(name) #name, JSON_STRING, "a name"
#define OF_AN(id) #id, JSON_INTEGER, "an id"
static const struct reader {
    const char *kind, *needed;
    json_type type;
    const char *expected;
    bool (*read)(struct process_cause *cause, struct engine *engine, const json_t *command,
                 struct error *error);
} readers[] = {
    {"start", OF_A(process), start},
    {"complete", OF_AN(task), complete},
    {"message", OF_A(message), message},
    {"trigger", OF_AN(instance), trigger},
    {"cancel", OF_AN(instance), cancel},
    {"set", OF_AN(instance), set},
    {"due", OF_AN(instance), due},
    {"throw", OF_AN(task), raise_code},
    {"escalate", OF_AN(task), raise_code},
    {"signal", OF_A(signal), signal_read},
    {"modify", OF_AN(instance), modify},
    {"restart", OF_AN(instance), restart},
    {"assign", OF_AN(task), assign},
    {"conditions", "variables", JSON_OBJECT, "an object", conditions},
    {"migrate", OF_AN(instance), migrate},
    {"plan", OF_A(process), plan},
    {"external", OF_AN(instance), external},
};

static const struct reader *reader_of(const json_t *command) {
    const char *kind = json_text(command, "kind");
    for (size_t i = 0; kind && i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].kind, kind) == 0)
            return &readers[i];
    return NULL;
}

static bool check(const struct reader *reader, const json_t *command, struct error *error) {
    const json_t *needed = reader ? json_object_get(command, reader->needed) : NULL;
    if (!reader)
        return json_refuse("kind", json_object_get(command, "kind"), "a command to a process",
                           error);
    return (needed && json_typeof(needed) == reader->type) ||
           json_refuse(reader->needed, needed, reader->expected, error);
}

static bool read_parts(struct process_cause *cause, struct engine *engine,
                       const struct reader *reader, const json_t *command, struct error *error) {
    static const char *const parts[] = {"variables", "transient", "types", "local_variables"};
    cause->object = json_pack("{ss}", "kind", reader->kind);
    bool done = cause->object != NULL;
    for (size_t i = 0; done && i < sizeof parts / sizeof *parts; i++)
        done = take(cause->object, parts[i], command, parts[i]);
    return (done || error_no_memory(error)) && take_who(cause, engine, error) &&
           reader->read(cause, engine, command, error);
}

bool process_cause_read(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error) {
    const struct reader *reader = reader_of(command);
    bool own = false;
    *cause = (struct process_cause){0};
    cause->command = check(reader, command, error) ? process_command_copy(command, error) : NULL;
    if (!cause->command || (!engine->reached && !store_look(engine->store, &own, error)))
        return false;
    bool done = read_parts(cause, engine, reader, cause->command, error);
    store_look_end(engine->store, own);
    if (!done || !cause->instance)
        return done;
    bool waits = cause->activity[0] != '\0';
    return (json_put(cause->object, "instance", json_integer(cause->instance)) &&
            (!waits || json_put_text(cause->object, "activity", cause->activity))) ||
           error_no_memory(error);
}

/* ---- the same with its lane, in one request ---- */

static bool is_absent(const json_t *command, const char *key) {
    const json_t *value = json_object_get(command, key);
    return !value || json_is_null(value);
}

static bool start_about(const json_t *command, struct store_reach *about) {
    about->process = json_text(command, "process");
    about->number = json_int(command, "version");
    about->tag = json_text(command, "tag");
    about->unique = unique_key(command);
    about->tenant = json_text(command, "tenant");
    return true;
}

static bool task_about(const json_t *command, struct store_reach *about) {
    about->task = json_int(command, "task");
    return about->task != 0;
}

static bool instance_about(const json_t *command, struct store_reach *about) {
    about->instance = json_int(command, "instance");
    return about->instance != 0;
}

static bool message_about(const json_t *command, struct store_reach *about) {
    if (json_is_true(json_object_get(command, "all")))
        return false;
    about->message = json_text(command, "message");
    about->key = json_text(command, "key");
    about->receiver = json_int(command, "instance");
    about->token = json_int(command, "token");
    about->business_key = json_text(command, "business_key");
    about->starts = json_is_true(json_object_get(command, "starts"));
    about->may_start = !about->starts && is_absent(command, "keep");
    return true;
}

static const struct {
    const char *kind;
    bool (*about)(const json_t *command, struct store_reach *about);
} abouts[] = {
    {"start", start_about},     {"complete", task_about},   {"message", message_about},
    {"set", instance_about},    {"cancel", instance_about}, {"trigger", instance_about},
    {"modify", instance_about}, {"assign", task_about},
};

json_t *process_cause_about(const json_t *command, struct store_reach *about) {
    const struct reader *reader = reader_of(command);
    struct error ignored = {0};
    *about = (struct store_reach){0};
    json_t *copy =
        check(reader, command, &ignored) ? process_command_copy(command, &ignored) : NULL;
    bool found = false;
    for (size_t i = 0; copy && i < sizeof abouts / sizeof *abouts; i++)
        found =
            found || (strcmp(abouts[i].kind, reader->kind) == 0 && abouts[i].about(copy, about));
    return json_kept(copy, found);
}

/* ---- what is refused before it is walked ---- */

bool process_cause_may(const struct process_cause *cause, struct error *error) {
    if (!cause->suspended)
        return true;
    if (!cause->instance)
        return error_set(error, ERROR_CONFLICT, "the process is suspended");
    return error_set(error, ERROR_CONFLICT, "instance %lld is suspended%s",
                     (long long)cause->instance,
                     cause->ends ? " (expected the script folder here, or --now)" : "");
}

/* ---- of many ---- */

void process_causes_ask(struct engine *engine, const json_t *const *commands, size_t count) {
    bool more = store_asks_many(engine->store);
    engine->answers = json_object();
    while (more) {
        struct error ignored = {0};
        engine->questions = json_object();
        for (size_t i = 0; i < count; i++) {
            struct process_cause cause = {0};
            process_cause_read(&cause, engine, commands[i], &ignored);
            process_cause_clear(&cause);
        }
        store_look_on(engine->store);
        more = process_questions_ask(engine, &more, &ignored) && more;
    }
}

void process_causes_forget(struct engine *engine) {
    json_decref(engine->answers);
    engine->answers = NULL;
}
