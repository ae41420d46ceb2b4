/* json.c - JSON values: what is read is written, reads back equal and is written the same again. */
#include "base/json.h"
#include "../fuzz.h"
#include "base/text.h"

void fuzz_json(const uint8_t *data, size_t size) {
    struct error error = {0};
    json_t *value = json_read((const char *)data, size, "payload", &error);
    if (!value) {
        fuzz_refusal(&error, NULL);
        return;
    }
    size_t length = 0, twice = 0;
    char *text = json_write(value, &length);
    PROMISE(text && strlen(text) == length && utf8_valid(text, length, NULL));
    json_t *again = json_read(text, length, "payload", &error);
    PROMISE(again && json_equal(value, again));
    char *same = json_write(again, &twice);
    PROMISE(twice == length && memcmp(text, same, length) == 0);
    PROMISE(utf8_valid((const char *)data, size, NULL));
    free(same);
    free(text);
    json_decref(again);
    json_decref(value);
}
