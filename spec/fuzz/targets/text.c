/* text.c - any bytes in a sentence: cleaned, cut, quoted, always UTF-8. */
#include "base/text.h"
#include "../fuzz.h"

static void clean(const char *data, size_t size, size_t max) {
    char *cleaned = utf8_clean(data, size, max);
    PROMISE(cleaned && strlen(cleaned) <= max && utf8_valid(cleaned, strlen(cleaned), NULL));
    size_t prefix = utf8_prefix(cleaned, max / 2);
    PROMISE(prefix <= strlen(cleaned) && utf8_valid(cleaned, prefix, NULL));
    free(cleaned);
}

static void quote(const char *text) {
    static const char *const names[] = {"workers", "lock_time", "päge", "", NULL};
    struct error error = {0};
    error_set(&error, ERROR_INVALID, "key \"%s\" or \"%s\"", text, text);
    fuzz_refusal(&error, NULL);
    const char *meant = suggest(text, names);
    PROMISE(!meant || strlen(meant) <= 2 * strlen(text) + 2);
}

void fuzz_text(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size);
    size_t bad = 0;
    if (!utf8_valid((const char *)data, size, &bad))
        PROMISE(bad < size && utf8_valid((const char *)data, bad, NULL));
    clean((const char *)data, size, 3 * size);
    clean((const char *)data, size, 7);
    quote(text);
    if (utf8_valid(text, strlen(text), NULL))
        utf8_has_control(text);
    free(text);
}
