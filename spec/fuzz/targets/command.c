/* command.c - operator's verbs as JSON: what is read is complete, and its rest reads as the same.
 */
#include "job/command.h"
#include "../fuzz.h"
#include "base/json.h"
#include "time/span.h"

static void complete(const struct command *command) {
    PROMISE(command->verb < COMMAND_COUNT &&
            strcmp(command->name, command_name(command->verb)) == 0);
    PROMISE(command->retries >= 0 && (!command->ids || !command->query));
    PROMISE(command->due == TIME_NONE || (command->due >= TIME_FIRST && command->due <= TIME_LAST));
    PROMISE(command->at == TIME_NONE || (command->at >= TIME_FIRST && command->at <= TIME_LAST));
}

static void goes_on(const json_t *object, const struct command *command) {
    struct error error = {0};
    struct command again;
    json_t *rest = command_rest(object, command);
    PROMISE(rest && command_read(&again, rest, &error));
    PROMISE(again.goes_on && again.verb == command->verb && again.entry == command->entry &&
            again.after == command->after && again.upto == command->upto &&
            again.done == command->done);
    PROMISE(again.priority == command->priority && again.retries == command->retries &&
            again.due == command->due && again.removal == command->removal);
    json_decref(rest);
}

void fuzz_command(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct command command;
    json_t *object = json_read((const char *)data, size, "command", NULL);
    if (!object)
        return;
    if (command_read(&command, object, &error)) {
        complete(&command);
        goes_on(object, &command);
    } else
        fuzz_refusal(&error, NULL);
    json_decref(object);
}
