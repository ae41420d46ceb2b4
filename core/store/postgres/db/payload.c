/* payload.c - what a payload says, by the JSON functions of PostgreSQL. */
#include "store/postgres/db/engine.h"
#include "store/rules/ground/query.h"
#include <stdlib.h>

/* One element of the list of names. */
static void add_name(struct text *list, const char *name, size_t size) {
    text_add(list, "%s\"", list->size > 1 ? "," : "");
    for (size_t i = 0; i < size; i++)
        text_add(list, name[i] == '\\' ? "\\\\" : "%c", name[i]);
    text_add(list, "\"");
}

/* $."a"."b"[0] as {"a","b","0"}; [#-1] as "-1". */
static void add_names(struct text *list, const char *path) {
    for (const char *at = path + 1; *at;) {
        bool element = *at == '[', plain = element && at[1] != '#';
        at += plain ? 1 : 2;
        size_t size = strcspn(at, element ? "]" : "\"");
        add_name(list, at, size);
        at += size + 1;
    }
}

void postgres_payload_is(struct query *query, const char *path, const json_t *value) {
    struct text list = {0};
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    text_add(&list, "{");
    add_names(&list, path);
    text_add(&list, "}");
    query->failed = query->failed || !text || list.failed;
    query_add(query, "(payload_json(j.payload) #> CAST(");
    query_bind_new(query, json_string(list.data ? list.data : ""));
    query_add(query, " AS text[])=CAST(");
    query_bind_new(query, json_string(text ? text : ""));
    query_add(query, " AS jsonb))");
    text_clear(&list);
    free(text);
}
