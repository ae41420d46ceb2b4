#include "job/hook.h"
#include <string.h>

static const struct {
    enum hook_event event;
    const char *name;
} known[] = {{HOOK_CREATED, "created"},
             {HOOK_FAILED, "failed"},
             {HOOK_DEAD, "dead"},
             {HOOK_RETRIES, "retries"},
             {HOOK_ENDED, "ended"}};
#define KNOWN (sizeof known / sizeof *known)

const char *hook_event_name(enum hook_event event) {
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].event == event)
            return known[i].name;
    return "unknown";
}

unsigned hook_events_read(const json_t *names) {
    unsigned events = 0;
    size_t at;
    const json_t *name;
    json_array_foreach(names, at, name) {
        for (size_t i = 0; i < KNOWN; i++)
            if (json_is_string(name) && strcmp(json_string_value(name), known[i].name) == 0)
                events |= known[i].event;
    }
    return events;
}

json_t *hook_events_names(unsigned events) {
    json_t *names = json_array();
    for (size_t i = 0; names && i < KNOWN; i++)
        if (events & known[i].event)
            json_array_append_new(names, json_string(known[i].name));
    return names;
}
