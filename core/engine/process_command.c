#include "engine/process_command.h"
#include "base/json.h"
#include <stdio.h>

enum told { TOLD_NAME, TOLD_TEXT, TOLD_NUMBER, TOLD_TOKEN, TOLD_FLAG, TOLD_OBJECT, TOLD_LIST };
static const struct member {
    const char *name;
    enum told type;
} members[] = {
    {"key", TOLD_NAME},
    {"business_key", TOLD_NAME},
    {"tenant", TOLD_NAME},
    {"tag", TOLD_NAME},
    {"activity", TOLD_TEXT},
    {"reason", TOLD_TEXT},
    {"code", TOLD_NAME},
    {"message", TOLD_TEXT},
    {"version", TOLD_NUMBER},
    {"instance", TOLD_NUMBER},
    {"token", TOLD_TOKEN},
    {"starts", TOLD_FLAG},
    {"variables", TOLD_OBJECT},
    {"transient", TOLD_OBJECT},
    {"local_variables", TOLD_OBJECT},
    {"types", TOLD_OBJECT},
    {"operations", TOLD_LIST},
    {"skip_listeners", TOLD_FLAG},
    {"skip_mappings", TOLD_FLAG},
    {"skip_called", TOLD_FLAG},
    {"dry_run", TOLD_FLAG},
    {"into", TOLD_NUMBER},
    {"initial", TOLD_FLAG},
    {"no_key", TOLD_FLAG},
    {"assignee", TOLD_NAME},
    {"claim", TOLD_FLAG},
    {"unique", TOLD_FLAG},
    {"ignore_missing", TOLD_FLAG},
    {"process", TOLD_TEXT},
    {"plan", TOLD_OBJECT},
    {"from", TOLD_NUMBER},
    {"to", TOLD_NUMBER},
    {"to_process", TOLD_NAME},
    {"update", TOLD_FLAG},
    {"unset", TOLD_LIST},
    {"all", TOLD_FLAG},
};

/* An integer is its text. */
static bool name_read(json_t *command, const char *name, const json_t *value, struct error *error) {
    char text[24];
    if (!json_is_integer(value))
        return json_is_string(value) || json_refuse(name, value, "a text or an integer", error);
    snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    return json_put_text(command, name, text) || error_no_memory(error);
}

static bool member_read(json_t *command, const struct member *member, struct error *error) {
    const json_t *value = json_object_get(command, member->name);
    int64_t number;
    if (!value || json_is_null(value))
        return true;
    switch (member->type) {
    case TOLD_NAME:
        return name_read(command, member->name, value, error);
    case TOLD_TEXT:
        return json_is_string(value) || json_refuse(member->name, value, "a text", error);
    case TOLD_NUMBER:
        return json_whole(value, 1, INT64_MAX, &number) ||
               json_refuse(member->name, value, "a whole number from 1", error);
    case TOLD_TOKEN: /* of a turn outside of its frame: below 0 */
        return (json_whole(value, INT64_MIN, INT64_MAX, &number) && number != 0) ||
               json_refuse(member->name, value, "the number of a token", error);
    case TOLD_FLAG:
        return json_is_boolean(value) || json_refuse(member->name, value, "true or false", error);
    case TOLD_OBJECT:
        return json_is_object(value) || json_refuse(member->name, value, "an object", error);
    case TOLD_LIST:
        return json_is_array(value) || json_refuse(member->name, value, "a list", error);
    }
    return error_set(error, ERROR_FAILED, "%s: no code reads it", member->name);
}

json_t *process_command_copy(const json_t *command, struct error *error) {
    json_t *copy = json_copy(json_unchanged(command));
    bool done = copy || error_no_memory(error);
    for (size_t i = 0; done && i < sizeof members / sizeof *members; i++)
        done = member_read(copy, &members[i], error);
    return json_kept(copy, done);
}
