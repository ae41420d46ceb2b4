#include "job/ask.h"

const char *ask_type_name(enum ask_type type) {
    static const char *const names[] = {
        [ASK_INTEGER] = "integer", [ASK_NUMBER] = "number", [ASK_TEXT] = "text",
        [ASK_TIME] = "time",       [ASK_FLAG] = "boolean",  [ASK_LIST] = "list",
        [ASK_OBJECT] = "object",   [ASK_VALUE] = "any",
    };
    return names[type];
}
