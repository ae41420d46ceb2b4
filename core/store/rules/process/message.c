#include "store/rules/process/message.h"
#include "base/json.h"
#include "base/text.h"
#include "store/rules/defined.h"
#include "store/rules/process/subscription.h"
#include <stdio.h>
#include <string.h>

static int64_t number_of(const json_t *receiver, const char *key) {
    return json_integer_value(json_object_get(receiver, key));
}

static const char *text_of(const json_t *receiver, const char *key) {
    return json_string_value(json_object_get(receiver, key));
}

/* "instance 7 at "wait", instance 9 at "wait"": the first of them. */
static void candidates_add(struct text *words, const json_t *list) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
        if (i < 3 && number_of(one, "instance"))
            text_add(words, "%sinstance %lld at \"%s\"", i ? ", " : "",
                     (long long)number_of(one, "instance"), text_of(one, "activity"));
        else if (i < 3)
            text_add(words, "%sthe start of \"%s\"", i ? ", " : "", text_of(one, "process"));
}

static bool refuse(const struct unit_message *one, const json_t *list, struct error *error) {
    size_t count = json_array_size(list);
    struct text words = {0};
    const char *key = one->key && *one->key ? one->key : NULL;
    text_add(&words, "message \"%s\"%s%s%s: ", one->name, key ? " with key \"" : "", key ? key : "",
             key ? "\"" : "");
    if (count)
        text_add(&words, "%zu wait for it: ", count);
    else
        text_add(&words, "nothing waits for it");
    candidates_add(&words, list);
    error_set(error, count ? ERROR_CONFLICT : ERROR_NOT_FOUND, "%s",
              words.data ? words.data : one->name);
    text_clear(&words);
    return false;
}

/* The only receiver: a new reference. NULL: error, or it is refused. */
static json_t *receiver_of(struct store *store, const struct unit_message *one,
                           struct error *error) {
    const struct message_to to = {.name = one->name, .key = one->key};
    json_t *list = subscription_receivers(store, &to, error);
    json_t *receiver = NULL;
    if (json_array_size(list) == 1)
        receiver = json_incref(json_array_get(list, 0));
    else if (list)
        refuse(one, list, error);
    json_decref(list);
    return receiver;
}

bool message_check(struct store *store, const struct unit_message *one, struct error *error) {
    json_t *receiver = receiver_of(store, one, error);
    json_decref(receiver);
    return receiver != NULL;
}

/* What the walk of the job is told; see lua/moonshift/process/commands.lua. */
static json_t *cause_of(const struct unit_message *one, const json_t *receiver) {
    json_t *variables = one->variables
                            ? json_read(one->variables, strlen(one->variables), "variables", NULL)
                            : NULL;
    int64_t instance = number_of(receiver, "instance");
    if (instance)
        return json_pack("{ss sI sO so?}", "kind", "message", "instance", (json_int_t)instance,
                         "token", json_object_get(receiver, "token"), "variables", variables);
    return json_pack("{ss sO sO so?}", "kind", "start", "version",
                     json_object_get(receiver, "version"), "at",
                     json_object_get(receiver, "activity"), "variables", variables);
}

bool message_deliver(struct store *store, const struct unit_message *one, time_ms now,
                     struct error *error) {
    char handler[JOB_NAME_MAX + 32];
    json_t *receiver = receiver_of(store, one, error);
    if (!receiver)
        return false;
    snprintf(handler, sizeof handler, "process/%s:command", text_of(receiver, "process"));
    int64_t instance = number_of(receiver, "instance");
    struct job_spec spec = {.job = {.handler = handler,
                                    .instance_id = instance,
                                    .activity = instance ? text_of(receiver, "activity") : NULL,
                                    .due = TIME_NONE,
                                    .exclusive = instance != 0}};
    json_t *cause = cause_of(one, receiver);
    bool done = defined_create(store, &spec, cause, now, error);
    json_decref(cause);
    json_decref(receiver);
    return done;
}
