#include "http/api/problem.h"
#include "base/json.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MAX = 64, AGAIN_AFTER = 1 /* second */ };

static const char *title_of(int status) {
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        {400, "Bad request"},
        {401, "Who asks is unknown"},
        {403, "Not allowed"},
        {404, "Not found"},
        {405, "Another method"},
        {409, "Conflict"},
        {412, "It has changed"},
        {413, "Too large"},
        {415, "Another type of content"},
        {429, "Too many"},
        {503, "Not now"},
        {507, "No room"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Failed";
}

/* A bad value's sentence begins with what it is of: `retries "many": expected …`. */
static json_t *field_of(const struct error *error) {
    size_t size = 0;
    while (islower((unsigned char)error->text[size]) || error->text[size] == '_')
        size++;
    bool named = error->code == ERROR_INVALID && size > 0 && size <= FIELD_MAX &&
                 (error->text[size] == ':' ||
                  (error->text[size] == ' ' && strstr(error->text, ": expected ")));
    return named ? json_stringn(error->text, size) : json_null();
}

void problem_answer(struct exchange *exchange, const struct error *error) {
    const char *code = error_code_name(error->code);
    const int status = error_http_status(error->code);
    json_t *problem = json_pack("{so so si ss ss so}", "type", json_sprintf("/problems/%s", code),
                                "title", json_string(title_of(status)), "status", status, "detail",
                                error->text, "code", code, "field", field_of(error));
    free(exchange->text);
    exchange->status = status;
    exchange->type = PROBLEM_TYPE;
    exchange->text = problem ? json_write(problem, &exchange->text_length) : NULL;
    if (!exchange->text)
        exchange->text_length = 0;
    exchange->retry_after = status == 429 || status == 503 ? AGAIN_AFTER : 0;
    json_decref(problem);
}
