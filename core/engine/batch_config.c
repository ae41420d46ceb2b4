#include "engine/batch_config.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/process_command.h"
#include <string.h>

enum { OPERATIONS_MAX = 1000 };

/* ---- operations: as lua/moonshift/process/operations.lua reads them ---- */

static const char *const fields[] = {"start_before", "start_after", "start_flow", "cancel",
                                     "in",           "variables",   "local",      NULL};
enum { KINDS = 4 }; /* of the fields, those that say what is done */

static bool is_given(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

static bool field_check(const char *key, const json_t *value, struct error *error) {
    if (!is_one_of(key, fields))
        return error_unknown(error, ERROR_INVALID, "unknown key", key, fields, NULL);
    if (json_is_null(value))
        return true;
    if (strcmp(key, "variables") == 0)
        return json_is_object(value) || json_refuse(key, value, "an object", error);
    if (strcmp(key, "local") == 0)
        return json_is_boolean(value) || json_refuse(key, value, "true or false", error);
    return json_string_length(value) > 0 || json_refuse(key, value, "a name", error);
}

/* What cannot stand together. */
static bool fields_fit(const json_t *operation, bool starts_only, struct error *error) {
    int kinds = 0;
    for (int i = 0; i < KINDS; i++)
        kinds += is_given(operation, fields[i]);
    bool cancels = is_given(operation, "cancel");
    if (kinds != 1 || (cancels && starts_only))
        return error_set(error, ERROR_INVALID,
                         "expected one of start_before, start_after, start_flow%s",
                         starts_only ? "" : " and cancel");
    if (cancels && (is_given(operation, "in") || is_given(operation, "variables") ||
                    is_given(operation, "local")))
        return error_set(error, ERROR_INVALID,
                         "in, variables and local go with what starts (expected cancel alone)");
    return !json_is_true(json_object_get(operation, "local")) || is_given(operation, "variables") ||
           error_set(error, ERROR_INVALID, "local: expected variables beside it");
}

static bool operation_check(const json_t *operation, bool starts_only, struct error *error) {
    const char *key;
    json_t *value;
    if (!json_is_object(operation))
        return json_refuse("it", operation, "an object such as {\"start_before\": \"pack\"}",
                           error);
    json_object_foreach(json_unchanged(operation), key, value) {
        if (!field_check(key, value, error))
            return false;
    }
    return fields_fit(operation, starts_only, error);
}

/* All that is wrong with them. */
static bool operations_check(const json_t *list, bool starts_only, struct error *error) {
    struct text wrong = {0};
    const size_t count = json_array_size(list);
    if (count < 1 || count > OPERATIONS_MAX)
        return error_set(error, ERROR_INVALID, "operations: got %zu (expected 1 to %d)", count,
                         (int)OPERATIONS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct error one = {0};
        if (!operation_check(json_array_get(list, i), starts_only, &one))
            text_add(&wrong, "%soperation %zu: %s", wrong.size ? "; " : "", i + 1, one.text);
    }
    bool fine = !wrong.size && !wrong.failed;
    if (!fine)
        error_set(error, ERROR_INVALID, "%s", wrong.data ? wrong.data : "no memory");
    text_clear(&wrong);
    return fine;
}

/* ---- the whole ---- */

static bool keys_check(const struct instance_batch *type, const json_t *config,
                       struct error *error) {
    if (!json_keys(config, type->keys, "unknown key", NULL, error))
        return false;
    return !type->needed || is_given(config, type->needed) ||
           error_set(error, ERROR_INVALID, "%s is missing", type->needed);
}

bool batch_config_check(const struct instance_batch *type, const json_t *config,
                        struct error *error) {
    if (!keys_check(type, config, error))
        return false;
    json_t *copy = config ? process_command_copy(config, error) : NULL;
    json_decref(copy);
    const json_t *list = json_object_get(config, "operations");
    return (!config || copy) &&
           (!list || operations_check(list, strcmp(type->kind, "restart") == 0, error));
}
