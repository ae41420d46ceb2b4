#include "cli/words/pair.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

bool pair_read(struct pair *pair, const char *word, const char *what, const char *expected,
               struct error *error) {
    const char *equals = strchr(word, '=');
    *pair = (struct pair){0};
    if (!equals || equals == word)
        return error_set(error, ERROR_USAGE, "%s \"%s\": expected %s", what, word, expected);
    pair->name = strndup(word, (size_t)(equals - word));
    pair->value = json_read(equals + 1, strlen(equals + 1), "", NULL);
    if (!pair->value) {
        pair->broken = equals[1] && strchr("{[\"", equals[1]);
        pair->value = json_string(equals + 1);
    }
    if (pair->value)
        return pair->name || error_no_memory(error);
    return error_set(error, ERROR_INVALID, "%s \"%s\": not valid UTF-8", what, word);
}

void pair_clear(struct pair *pair) {
    free(pair->name);
    json_decref(pair->value);
    *pair = (struct pair){0};
}
