#include "cli/verb/jobs/lost.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

void lost_note(struct lost *lost, const char *handler) {
    if (!lost || strcmp(lost->last, handler) == 0)
        return;
    snprintf(lost->last, sizeof lost->last, "%s", handler);
    if (!lost->handlers)
        lost->handlers = json_object();
    json_object_set_new(lost->handlers, handler, json_true());
}

void lost_say(const struct lost *lost, struct engine *engine) {
    const char *handler;
    json_t *value;
    json_object_foreach(lost->handlers, handler, value) {
        int64_t since = engine_lost(engine, handler);
        if (since)
            fprintf(stderr,
                    "moonshift: warning: this folder has no handler \"%s\" since deployment %lld "
                    "(only an executor with an older folder runs the job)\n",
                    handler, (long long)since);
    }
}

void lost_clear(struct lost *lost) {
    json_decref(lost->handlers);
    *lost = (struct lost){0};
}
