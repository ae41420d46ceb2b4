/* alias.c - what other engines call a setting: the answer is one of ours, and knows its names. */
#include "job/alias.h"
#include "../fuzz.h"
#include "job/settings.h"

static bool is_ours(const char *name) {
    for (const char *const *at = settings_names(); *at; at++)
        if (strcmp(*at, name) == 0)
            return true;
    return false;
}

void fuzz_alias(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size);
    const char *found = alias_setting(text);
    if (found && *found) {
        PROMISE(is_ours(found));
        json_t *names = alias_names(found);
        PROMISE(json_array_size(names) > 0);
        json_decref(names);
    }
    free(text);
}
