#include "base/error.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_status;
    int http_status;
} codes[] = {
    [ERROR_NONE] = {"none", 0, 200},
    [ERROR_FAILED] = {"failed", 1, 500},
    [ERROR_USAGE] = {"usage", 2, 400},
    [ERROR_INVALID] = {"invalid", 2, 400},
    [ERROR_NOT_FOUND] = {"not_found", 4, 404},
    [ERROR_CONFLICT] = {"conflict", 5, 409},
    [ERROR_BUSY] = {"busy", 1, 503},
    [ERROR_CLOSED] = {"closed", 1, 503},
    [ERROR_DAMAGED] = {"damaged", 65, 500},
    [ERROR_FULL] = {"full", 74, 507},
    [ERROR_IO] = {"io", 74, 500},
    [ERROR_CONFIG] = {"config", 78, 500},
    [ERROR_UNAVAILABLE] = {"unavailable", 69, 503},
    [ERROR_STUCK] = {"stuck", 70, 503},
    [ERROR_INTERRUPTED] = {"interrupted", 130, 503},
    [ERROR_UNAUTHORIZED] = {"unauthorized", 1, 401},
    [ERROR_FORBIDDEN] = {"forbidden", 1, 403},
    [ERROR_METHOD] = {"method", 2, 405},
    [ERROR_TYPE] = {"type", 2, 415},
    [ERROR_CHANGED] = {"changed", 5, 412},
    [ERROR_TOO_LARGE] = {"too_large", 2, 413},
    [ERROR_BACKLOG] = {"backlog", 1, 429},
    [ERROR_RATE] = {"rate", 1, 429},
};

/* Bytes of a value quoted in the sentence may be anything; the sentence is UTF-8 all the same. */
static void repair(char *text, bool cut) {
    size_t size = strlen(text), bad;
    while (!utf8_valid(text, size, &bad)) {
        if (cut && size - bad < 4 && ((unsigned char)text[bad] & 0xC0) == 0xC0) {
            text[bad] = 0;
            return;
        }
        text[bad] = '?';
    }
}

bool error_set(struct error *error, enum error_code code, const char *format, ...) {
    if (!error)
        return false;
    char text[sizeof error->text]; /* the arguments may lie in error->text */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = 0;
    repair(text, length >= (int)sizeof text);
    error->code = code;
    memcpy(error->text, text, strlen(text) + 1);
    return false;
}

bool error_no_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

bool error_unknown(struct error *error, enum error_code code, const char *what, const char *name,
                   const char *const *names, const char *otherwise) {
    const char *meant = suggest(name, names);
    struct text known = {0};
    for (; !meant && otherwise && *names; names++)
        text_add(&known, "%s%s", known.size ? ", " : "", *names);
    if (meant)
        error_set(error, code, "%s \"%.100s\" (did you mean \"%s\"?)", what, name, meant);
    else if (known.data)
        error_set(error, code, "%s \"%.100s\" (%s %s)", what, name, otherwise, known.data);
    else
        error_set(error, code, "%s \"%.100s\"", what, name);
    text_clear(&known);
    return false;
}

const char *error_code_name(enum error_code code) {
    return codes[code].name;
}

int error_exit_status(enum error_code code) {
    return codes[code].exit_status;
}

int error_http_status(enum error_code code) {
    return codes[code].http_status;
}
