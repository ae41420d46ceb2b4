/* asker.c - answers requests without a socket: a line of JSON each, { method, path, query, headers,
 * body, who }, and a line for its answer, { status, type, body, location, etag, allow, by }. What
 * it is given: the URL of a store, and perhaps a script folder. `body` is a value, or a text as it
 * is with `raw`; `who` has scopes, tenant, handlers and token. */
#include "base/json.h"
#include "engine/config.h"
#include "http/api/creation.h"
#include "http/api/service.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4 << 20, HEADERS = 16 };

/* What is created is written as by the clerk. */
static void answer(struct engine *engine, const struct caller *caller, struct exchange *exchange) {
    struct create_list room = {0};
    struct figures *figures = figures_new(NULL, NULL);
    service_answer(engine, caller, figures, exchange);
    if (creation_step(exchange) == CREATION_COMPLETE)
        creations_write(&room, engine, exchange);
    create_list_clear(&room);
    figures_free(figures);
}

/* The request, in memory that the line owns. */
static bool parts_read(struct exchange *exchange, char *path) {
    for (char *rest = path + 1, *part; (part = strsep(&rest, "/"));) {
        if (exchange->part_count == EXCHANGE_PARTS)
            return false;
        exchange->parts[exchange->part_count++] = part;
    }
    return true;
}

static void query_read(struct exchange *exchange, const json_t *query) {
    size_t i;
    const json_t *pair;
    json_array_foreach(query, i, pair)
        exchange->query[exchange->query_count++] = (struct named_text){
            json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1))};
}

static size_t headers_read(struct named_text *headers, json_t *object) {
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
        headers[count++] = (struct named_text){name, json_string_value(value)};
    return count;
}

static void caller_read(struct caller *caller, const json_t *who) {
    const json_t *scopes = json_object_get(who, "scopes");
    struct error error = {0};
    caller->scopes = SCOPE_ALL;
    if (scopes && !scopes_read(scopes, &caller->scopes, &error))
        fprintf(stderr, "asker: %s\n", error.text);
    snprintf(caller->who, sizeof caller->who, "%s",
             json_text(who, "name") ? json_text(who, "name") : "token:spec");
    caller->token = caller->keys = json_int(who, "token");
    caller->tenant = json_text(who, "tenant") ? strdup(json_text(who, "tenant")) : NULL;
    caller->handlers = json_incref(json_object_get(who, "handlers"));
}

static void answer_print(const struct exchange *exchange, enum worker_kind by) {
    static const char *const kinds[] = {"door", "reader", "clerk", "walker", "settler", "runner"};
    json_t *body = exchange->text
                       ? json_loadb(exchange->text, exchange->text_length, JSON_DECODE_ANY, NULL)
                       : NULL;
    if (!body && exchange->text)
        body = json_string(exchange->text);
    json_t *answer = json_pack("{si ss* so* ss* ss* ss* ss si}", "status", exchange->status, "type",
                               exchange->type, "body", body, "location", exchange->location, "etag",
                               exchange->etag, "allow", exchange->allow, "by", kinds[by],
                               "retry_after", exchange->retry_after);
    char *text = json_write(answer, NULL);
    puts(text);
    fflush(stdout);
    free(text);
    json_decref(answer);
}

static void ask(struct engine *engine, json_t *request) {
    struct named_text headers[HEADERS], query[EXCHANGE_PARAMETERS];
    struct caller caller = {0};
    struct exchange exchange = {.method = json_text(request, "method"),
                                .path = json_text(request, "path"),
                                .headers = headers,
                                .query = query};
    json_t *body = json_object_get(request, "body");
    char *path = strdup(exchange.path);
    char *text = body && !json_text(request, "raw") ? json_write(body, &exchange.length) : NULL;
    exchange.body = text ? text : "";
    if (json_text(request, "raw")) {
        exchange.body = json_text(request, "raw");
        exchange.length = strlen(exchange.body);
    }
    query_read(&exchange, json_object_get(request, "query"));
    json_object_set_new(request, "headers",
                        json_object_get(request, "headers")
                            ? json_incref(json_object_get(request, "headers"))
                            : json_object());
    if (text && !json_object_get(json_object_get(request, "headers"), "content-type"))
        json_object_set_new(json_object_get(request, "headers"), "content-type",
                            json_string("application/json"));
    exchange.header_count = headers_read(headers, json_object_get(request, "headers"));
    caller_read(&caller, json_object_get(request, "who"));
    if (parts_read(&exchange, path)) {
        enum worker_kind by = service_worker(&exchange);
        answer(by == BY_DOOR ? NULL : engine, &caller, &exchange);
        answer_print(&exchange, by);
    }
    free(exchange.text);
    free(exchange.location);
    free(exchange.etag);
    free(text);
    free(path);
    caller_clear(&caller);
}

static struct engine *engine_of(struct settings *settings, char *store, const char *directory,
                                struct error *error) {
    json_t *paths = directory ? json_pack("[s]", directory) : NULL;
    json_t *options = json_pack("{ss}", "store", store);
    struct folder *folder = paths ? config_folder(paths, error) : NULL;
    struct engine *engine = NULL;
    const struct engine_options how = {
        .settings = settings, .mode = STORE_CREATE, .folder = folder};
    if ((folder || !paths) && config_settings(settings, folder, paths, options, NULL, error))
        engine = engine_open(&how, error);
    folder_release(folder);
    json_decref(paths);
    json_decref(options);
    return engine;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    struct error error = {0};
    json_setup();
    struct engine *engine =
        argc > 1 ? engine_of(&settings, argv[1], argc > 2 ? argv[2] : NULL, &error) : NULL;
    char *line = malloc(LINE);
    if (!engine) {
        fprintf(stderr, "asker: %s\n", error.text);
        return 1;
    }
    while (line && fgets(line, LINE, stdin)) {
        json_t *request = json_loads(line, 0, NULL);
        if (request)
            ask(engine, request);
        json_decref(request);
    }
    free(line);
    engine_close(engine);
    settings_clear(&settings);
    return 0;
}
