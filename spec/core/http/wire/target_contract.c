/* target_contract.c - how a path and a query are decoded, and what is refused. */
#include "http/wire/target.h"
#include <stdio.h>
#include <string.h>

static int passed, failed;

/* What came of it, as a text: "400", or "a|b?c=d&e=". */
static void show(const char *path, const char *query, char *out, size_t room) {
    static struct named_text room_of_query[EXCHANGE_PARAMETERS];
    static struct exchange exchange = {.query = room_of_query};
    char path_copy[512], query_copy[512];
    const char *why = NULL;
    snprintf(path_copy, sizeof path_copy, "%s", path);
    snprintf(query_copy, sizeof query_copy, "%s", query ? query : "");
    int status = target_read(&exchange, path_copy, query ? query_copy : NULL, &why), used = 0;
    if (status) {
        snprintf(out, room, "%d%s", status, why ? "" : " without a reason");
        return;
    }
    for (size_t i = 0; i < exchange.part_count; i++)
        used += snprintf(out + used, room - used, "%s%s", i ? "|" : "", exchange.parts[i]);
    out[used] = 0;
    for (size_t i = 0; i < exchange.query_count; i++)
        used += snprintf(out + used, room - used, "%s%s=%s", i ? "&" : "?", exchange.query[i].name,
                         exchange.query[i].value);
}

static const struct {
    const char *path, *query, *shown;
} cases[] = {
    {"/", NULL, ""},
    {"/v1/jobs", NULL, "v1|jobs"},
    {"/v1/a%20b%C3%BC", NULL, "v1|a b\xc3\xbc"},
    {"/%76%31/x+y;z=1,2", NULL, "v1|x+y;z=1,2"},
    {"/v1/%2541", NULL, "v1|%41"},
    {"/...", NULL, "..."},
    {"/v1", "a=1&b=&c&d=x+y%2B%26&a=2", "v1?a=1&b=&c=&d=x y+&&a=2"},
    {"/v1", "", "v1"},
    {"/v1", "a=b=c", "v1?a=b=c"},
    {"//", NULL, "400"},
    {"/v1/", NULL, "400"},
    {"/v1//jobs", NULL, "400"},
    {"/v1/..", NULL, "400"},
    {"/./v1", NULL, "400"},
    {"/%2e%2E/v1", NULL, "400"},
    {"/a%2Fb", NULL, "400"},
    {"/a%5cb", NULL, "400"},
    {"/a\\b", NULL, "400"},
    {"/a%00", NULL, "400"},
    {"/a%0a", NULL, "400"},
    {"/a%7F", NULL, "400"},
    {"/a%C2%85", NULL, "400"},
    {"/a%", NULL, "400"},
    {"/a%4", NULL, "400"},
    {"/a%4g", NULL, "400"},
    {"/a%FF", NULL, "400"},
    {"/a%C3", NULL, "400"},
    {"/1/2/3/4/5/6/7/8", NULL, "1|2|3|4|5|6|7|8"},
    {"/1/2/3/4/5/6/7/8/9", NULL, "404"},
    {"/v1", "=1", "400"},
    {"/v1", "a&&b", "400"},
    {"/v1", "a=%00", "400"},
    {"/v1", "a=%", "400"},
    {"/v1", "%FF=1", "400"},
};

int main(void) {
    char shown[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        show(cases[i].path, cases[i].query, shown, sizeof shown);
        bool fine = strcmp(shown, cases[i].shown) == 0;
        printf("%s - %s ? %s is %s\n", fine ? "ok" : "not ok", cases[i].path,
               cases[i].query ? cases[i].query : "", shown);
        *(fine ? &passed : &failed) += 1;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
