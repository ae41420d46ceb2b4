#include "job/ask.h"
#include "base/json.h"
#include <string.h>

const char *ask_type_name(enum ask_type type) {
    static const char *const names[] = {
        [ASK_INTEGER] = "integer", [ASK_NUMBER] = "number", [ASK_TEXT] = "text",
        [ASK_TIME] = "time",       [ASK_FLAG] = "boolean",  [ASK_LIST] = "list",
        [ASK_OBJECT] = "object",   [ASK_VALUE] = "any",
    };
    return names[type];
}

bool ask_is_executor(const json_t *row, const char *state) {
    const char *is = json_text(row, "state");
    return !json_is_array(json_object_get(row, "topics")) && is &&
           (!state || strcmp(is, state) == 0);
}
