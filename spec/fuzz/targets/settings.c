/* settings.c - settings as values, as moonshift.lua gives them: taken or refused whole, copied,
 * shown. */
#include "job/settings.h"
#include "../fuzz.h"
#include "base/json.h"
#include "job/acquisitions.h"

static void copied(const struct settings *settings) {
    struct error error = {0};
    struct settings copy;
    json_t *shown = settings_to_json(settings), *again;
    PROMISE(shown && settings_copy(&copy, settings, &error));
    again = settings_to_json(&copy);
    PROMISE(json_equal(shown, again));
    if (!acquisitions_apply(&copy, settings, &error))
        fuzz_refusal(&error, NULL);
    settings_clear(&copy);
    json_decref(again);
    json_decref(shown);
}

void fuzz_settings(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct settings settings;
    json_t *values = json_read((const char *)data, size, "settings", NULL);
    if (!values)
        return;
    PROMISE(settings_init(&settings, &error));
    if (!settings_apply(&settings, ORIGIN_FILE, values, "moonshift.lua", &error))
        fuzz_refusal(&error, NULL);
    if (!settings_check(&settings, &error))
        fuzz_refusal(&error, NULL);
    copied(&settings);
    settings_clear(&settings);
    json_decref(values);
}
