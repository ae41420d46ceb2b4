#include "http/api/openapi.h"
#include "base/json.h"
#include "http/api/call.h"
#include "http/wire/reply.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_SIZE = 256 };

/* ---- types ---- */

static json_t *schema_of(enum value_type type) {
    switch (type) {
    case VALUE_INTEGER:
        return json_pack("{ss ss}", "type", "integer", "format", "int64");
    case VALUE_FLAG:
        return json_pack("{ss}", "type", "boolean");
    case VALUE_OBJECT:
        return json_pack("{ss}", "type", "object");
    case VALUE_LIST:
        return json_pack("{ss s{}}", "type", "array", "items");
    case VALUE_TEXT:
    case VALUE_TIME:
        return json_pack("{ss}", "type", "string");
    case VALUE_ANY:
        break;
    }
    return json_object();
}

/* Every column may be null: then it has no value. */
static json_t *schema_of_column(enum ask_type type) {
    switch (type) {
    case ASK_INTEGER:
        return json_pack("{s[ss] ss}", "type", "integer", "null", "format", "int64");
    case ASK_NUMBER:
        return json_pack("{s[ss]}", "type", "number", "null");
    case ASK_TEXT:
        return json_pack("{s[ss]}", "type", "string", "null");
    case ASK_TIME:
        return json_pack("{s[ss]}", "type", "string", "null");
    case ASK_FLAG:
        return json_pack("{s[ss]}", "type", "boolean", "null");
    case ASK_LIST:
        return json_pack("{s[ss] s{}}", "type", "array", "null", "items");
    case ASK_OBJECT:
        return json_pack("{s[ss]}", "type", "object", "null");
    case ASK_VALUE:
        break;
    }
    return json_object();
}

static json_t *row_of(const struct ask_table *table) {
    json_t *properties = json_object();
    for (const struct ask_column *column = table->columns; column && column->name; column++)
        json_object_set_new(properties, column->name, schema_of_column(column->type));
    return json_pack("{ss so}", "type", "object", "properties", properties);
}

static json_t *reference(const char *name) {
    return json_pack("{so}", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *schemas(void) {
    json_t *all = json_object();
    for (int kind = 0; kind < ASK_KINDS; kind++) {
        const struct ask_table *table = engine_ask_table((enum ask_kind)kind);
        if (table->columns)
            json_object_set_new(all, table->name, row_of(table));
    }
    json_object_set_new(all, "problem",
                        json_pack("{ss s{s{ss} s{ss} s{ss} s{ss} s{ss} s{s[ss]}} s[sssss]}", "type",
                                  "object", "properties", "type", "type", "string", "title", "type",
                                  "string", "status", "type", "integer", "detail", "type", "string",
                                  "code", "type", "string", "field", "type", "string", "null",
                                  "required", "type", "title", "status", "detail", "code"));
    return all;
}

/* ---- parameters ---- */

static json_t *parameter(const char *name, const char *in, bool needed, json_t *schema,
                         const char *says) {
    return json_pack("{ss ss sb so ss}", "name", name, "in", in, "required", needed, "schema",
                     schema, "description", says);
}

static json_t *header(const char *name, const char *says) {
    return parameter(name, "header", false, schema_of(VALUE_TEXT), says);
}

static void query_put(json_t *list, const struct member *member) {
    json_array_append_new(list, parameter(member->name, "query", member->needed,
                                          schema_of(member->type), member->says));
}

static json_t *parameters_of(const struct route *route) {
    json_t *list = json_array();
    const char *filter, *form;
    struct member member;
    if (strstr(route->path, "{id}"))
        json_array_append_new(list,
                              parameter("id", "path", true, schema_of(VALUE_INTEGER), "an id"));
    if (strstr(route->path, "{name}"))
        json_array_append_new(list, parameter("name", "path", true, schema_of(VALUE_TEXT),
                                              "a name, or a key; it may have slashes"));
    for (const struct member *one = route->query; one && one->name; one++)
        query_put(list, one);
    for (const struct member *one = page_members; route->lists && one->name; one++)
        query_put(list, one);
    for (size_t at = 0; route_filter(route, at, &member, &filter, &form); at++)
        if (!route->key || strcmp(route->key, filter) != 0)
            query_put(list, &member);
    if (route->keyed)
        json_array_append_new(list, header("Idempotency-Key", "asking again under it is harmless"));
    if (route->matched)
        json_array_append_new(list,
                              header("If-Match", "the rev or the ETag that the job must have"));
    return list;
}

/* ---- bodies ---- */

/* The type, or null. */
static json_t *schema_or_null(const char *type) {
    return type ? json_pack("{s[ss]}", "type", type, "null") : json_object();
}

static void verb_put(const struct route *route, enum command_verb verb, json_t *properties,
                     json_t *required) {
    const char *key, *type;
    bool needed;
    for (size_t at = 0; (key = command_key(verb, at, &needed, &type)); at++) {
        json_object_set_new(properties, key, schema_or_null(type));
        if (needed)
            json_array_append_new(required, json_string(key));
    }
    json_object_set_new(properties, "dry_run", schema_of(VALUE_FLAG));
    if (strchr(route->path, '{') != strstr(route->path, "{verb}"))
        return; /* the path says what it is done to */
    json_object_set_new(properties, command_target_key(route->target), json_object());
    if (route->target == TARGET_JOBS || route->target == TARGET_HISTORY)
        json_object_set_new(properties, "query", schema_of(VALUE_OBJECT));
}

static void members_put(const struct member *member, json_t *properties, json_t *required) {
    for (; member && member->name; member++) {
        json_t *schema = schema_of(member->type);
        json_object_set_new(schema, "description", json_string(member->says));
        json_object_set_new(properties, member->name, schema);
        if (member->needed)
            json_array_append_new(required, json_string(member->name));
    }
}

static json_t *body_of(const struct route *route, enum command_verb verb) {
    json_t *properties = json_object(), *required = json_array();
    if (route->verbs)
        verb_put(route, verb, properties, required);
    members_put(route->members, properties, required);
    json_t *schema = route->body == BODY_JOBS
                         ? json_pack("{s[ss]}", "type", "object", "array")
                         : json_pack("{ss sO sO sb}", "type", "object", "properties", properties,
                                     "required", required, "additionalProperties", 0);
    const bool needed = json_array_size(required) > 0 || route->body == BODY_JOBS;
    json_decref(properties);
    json_decref(required);
    json_t *content = json_pack("{s{so}}", "application/json", "schema", schema);
    if (route->body == BODY_JOBS)
        json_object_set_new(content, "application/x-ndjson",
                            json_pack("{s{ss}}", "schema", "type", "string"));
    return json_pack("{sb so}", "required", needed, "content", content);
}

/* ---- answers ---- */

static json_t *told_schema(const struct member *told) {
    json_t *properties = json_object(), *required = json_array();
    members_put(told, properties, required);
    return json_pack("{ss so so}", "type", "object", "properties", properties, "required",
                     required);
}

static json_t *answer_schema(const struct route *route) {
    if (route->told)
        return told_schema(route->told);
    const struct ask_table *table = route->asks < ASK_KINDS ? engine_ask_table(route->asks) : NULL;
    if (table && table->columns && route->key && !route->lists)
        return reference(table->name);
    if (table && table->columns && (route->lists || !strchr(route->path, '{')) && !route->order &&
        !strstr(route->path, "/count"))
        return json_pack("{ss s{s{ss so} s{s[ss]}}}", "type", "object", "properties", "items",
                         "type", "array", "items", reference(table->name), "next", "type", "string",
                         "null");
    return json_pack("{ss}", "type", "object");
}

static json_t *answer_of(const char *says, const char *type, json_t *schema) {
    return json_pack("{ss s{s{so}}}", "description", says, "content", type, "schema", schema);
}

static void answer_put(json_t *answers, const struct route *route, const char *status,
                       const char *says) {
    json_object_set_new(answers, status, answer_of(says, "application/json", answer_schema(route)));
}

static json_t *answers_of(const struct route *route) {
    json_t *answers = json_object();
    if (route->asks == ASK_EVENTS)
        json_object_set_new(answers, "200",
                            answer_of("What happens, as it happens.", "text/event-stream",
                                      json_pack("{ss}", "type", "string")));
    else if (!route->makes)
        answer_put(answers, route, "200", "It is answered, or done.");
    if (route->makes || route->body == BODY_JOBS)
        answer_put(answers, route, "201", "It is created.");
    if (route->verbs || route->order)
        answer_put(answers, route, "202", "A batch or a job does it.");
    json_object_set_new(
        answers, "default",
        answer_of("It is refused, or has failed.", PROBLEM_TYPE, reference("problem")));
    return answers;
}

/* ---- the whole ---- */

static void operation_put(json_t *paths, const struct route *route, enum command_verb verb) {
    char path[PATH_MAX_SIZE], method[8] = "";
    const char *end = strstr(route->path, "{verb}");
    char scopes[SCOPES_TEXT_SIZE];
    snprintf(path, sizeof path, "%.*s%s", end ? (int)(end - route->path) : PATH_MAX_SIZE - 1,
             route->path, end ? command_name(verb) : "");
    for (size_t i = 0; route->method[i] && i < sizeof method - 1; i++)
        method[i] = (char)tolower((unsigned char)route->method[i]);
    scopes_write(route->scope, scopes);
    json_t *item = json_object_get(paths, path);
    if (!item)
        json_object_set_new(paths, path, item = json_object());
    json_t *operation =
        json_pack("{ss ss so so}", "summary", route->says, "x-scope", scopes, "parameters",
                  parameters_of(route), "responses", answers_of(route));
    if (route->body != BODY_NONE)
        json_object_set_new(operation, "requestBody", body_of(route, verb));
    json_object_set_new(item, method, operation);
}

static json_t *paths(void) {
    json_t *all = json_object();
    for (const struct route *route = routes; route->method; route++) {
        if (!route->verbs)
            operation_put(all, route, COMMAND_COUNT);
        for (int verb = 0; route->verbs && verb < COMMAND_COUNT; verb++)
            if (route_has_verb(route, (enum command_verb)verb))
                operation_put(all, route, (enum command_verb)verb);
    }
    return all;
}

json_t *openapi_describe(void) {
    return json_pack("{ss s{ss ss} so s{so s{s{ss ss}}} s[{s[]}]}", "openapi", "3.1.0", "info",
                     "title", "Moonshift", "version", MOONSHIFT_VERSION, "paths", paths(),
                     "components", "schemas", schemas(), "securitySchemes", "token", "type", "http",
                     "scheme", "bearer", "security", "token");
}

bool openapi_answer(struct call *call, struct error *error) {
    return call_answer(call, 200, openapi_describe(), error);
}
