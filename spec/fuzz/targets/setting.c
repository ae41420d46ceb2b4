/* setting.c - settings as text, NAME=VALUE a line, as variables and flags give them: what is taken
 * can be shown, and what is shown is taken and says the same. */
#include "../fuzz.h"
#include "base/json.h"
#include "job/settings.h"

/* Every value as it is shown, given to fresh settings. */
static void shown_again(const struct settings *settings) {
    struct error error = {0};
    struct settings other;
    json_t *rows = settings_to_json(settings), *row;
    size_t i;
    PROMISE(rows && settings_init(&other, &error));
    json_array_foreach(rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        json_t *value = json_pack("{s:O}", name, json_object_get(row, "value"));
        if (settings_given(settings, name))
            PROMISE(settings_apply(&other, ORIGIN_OPTION, value, NULL, &error));
        json_decref(value);
    }
    json_t *again = settings_to_json(&other);
    json_array_foreach(again, i, row) {
        const json_t *before = json_array_get(rows, i);
        PROMISE(json_equal(json_object_get(row, "value"), json_object_get(before, "value")));
        PROMISE(json_equal(json_object_get(row, "text"), json_object_get(before, "text")));
    }
    json_decref(again);
    json_decref(rows);
    settings_clear(&other);
}

void fuzz_setting(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size), *rest = text;
    struct error error = {0};
    struct settings settings;
    PROMISE(settings_init(&settings, &error));
    for (char *line; (line = fuzz_line(&rest));) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = 0;
        if (!settings_apply_text(&settings, ORIGIN_FLAG, line, value, &error))
            fuzz_refusal(&error, NULL);
    }
    if (!settings_check(&settings, &error))
        fuzz_refusal(&error, NULL);
    shown_again(&settings);
    settings_clear(&settings);
    free(text);
}
