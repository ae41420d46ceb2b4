#include "http/site.h"
#include "base/embedded.h"
#include "http/wire/reply.h"
#include <stdlib.h>
#include <string.h>

/* Scripts and styles are the page's own alone, and no other page shows it in a frame. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"               \
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

static const struct {
    const char *path, *file, *type;
} files[] = {
    {"/", "core/http/ui/page.html", "text/html; charset=utf-8"},
    {"/page.css", "core/http/ui/page.css", "text/css; charset=utf-8"},
    {"/page.js", "core/http/ui/page.js", "text/javascript; charset=utf-8"},
};

bool site_answer(struct exchange *exchange) {
    size_t at = 0;
    while (at < sizeof files / sizeof *files && strcmp(files[at].path, exchange->path) != 0)
        at++;
    if (at == sizeof files / sizeof *files)
        return false;
    if (strcmp(exchange->method, "GET") != 0 && strcmp(exchange->method, "HEAD") != 0) {
        exchange->allow = "GET, HEAD";
        reply_problem(exchange, 405, "expected GET");
        return true;
    }
    const struct embedded *file = embedded_find(files[at].file);
    exchange->text = file ? malloc(file->size + 1) : NULL;
    if (!exchange->text) {
        reply_problem(exchange, 500, "out of memory");
        return true;
    }
    memcpy(exchange->text, file->text, file->size + 1);
    exchange->text_length = file->size;
    exchange->type = files[at].type;
    exchange->policy = POLICY;
    exchange->status = 200;
    return true;
}
