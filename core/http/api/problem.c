#include "http/api/problem.h"
#include "http/wire/reply.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_MAX = 64, AGAIN_AFTER = 1 /* second */ };

/* A bad value's sentence begins with what it is of: `retries "many": expected …`. */
static bool field_of(const struct error *error, char field[FIELD_MAX + 1]) {
    size_t size = 0;
    while (isalpha((unsigned char)error->text[size]) || error->text[size] == '_' ||
           error->text[size] == '-')
        size++;
    const bool named = error->code == ERROR_INVALID && size > 0 && size <= FIELD_MAX &&
                       (error->text[size] == ':' ||
                        (error->text[size] == ' ' && strstr(error->text, ": expected ")));
    snprintf(field, FIELD_MAX + 1, "%.*s", named ? (int)size : 0, error->text);
    return named;
}

void problem_answer(struct exchange *exchange, const struct error *error) {
    const int status = error_http_status(error->code);
    char field[FIELD_MAX + 1];
    const bool named = field_of(error, field);
    reply_problem_of(exchange, status, error_code_name(error->code), error->text,
                     named ? field : NULL);
    exchange->retry_after = status == 429 || status == 503 ? AGAIN_AFTER : 0;
}
