/* json.c - JSON values: what is read is written, reads back equal and is written the same again;
 * the copy in one pass has the same bytes, and is refused where jansson refuses. */
#include "base/json.h"
#include "../fuzz.h"
#include "base/json_copy.h"
#include "base/text.h"

/* What may be left to jansson, which takes it: a number of a hundred bytes, and one with a zero
 * byte behind it. */
static bool is_unusual(const char *text, size_t size) {
    size_t run = 0;
    for (size_t i = 0; i < size && run < 100; i++)
        run = text[i] && strchr("+-.0123456789Ee", text[i]) ? run + 1 : 0;
    return run >= 100 || memchr(text, 0, size);
}

/* `written`: what json_write makes of it; NULL: it is no value. */
static void copied(const char *text, size_t size, const char *written, size_t length) {
    char *room = malloc(size * JSON_GROWTH + JSON_NUMBER_SIZE);
    struct json_copier copier = {.scan = {text, text + size}, .out = room};
    PROMISE(room);
    bool done = json_copy_value(&copier, 1) && json_scan_done(&copier.scan);
    PROMISE(done == (written != NULL) || (written && is_unusual(text, size)));
    if (done)
        PROMISE((size_t)(copier.out - room) == length && memcmp(room, written, length) == 0);
    json_copier_clear(&copier);
    free(room);
}

void fuzz_json(const uint8_t *data, size_t size) {
    struct error error = {0};
    json_t *value = json_read((const char *)data, size, "payload", &error);
    if (!value) {
        fuzz_refusal(&error, NULL);
        copied((const char *)data, size, NULL, 0);
        return;
    }
    size_t length = 0, twice = 0;
    char *text = json_write(value, &length);
    PROMISE(text && strlen(text) == length && utf8_valid(text, length, NULL));
    copied((const char *)data, size, text, length);
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
