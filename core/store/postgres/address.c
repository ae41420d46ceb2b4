#include "store/postgres/address.h"
#include "base/text.h"
#include "job/store_url.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_DEFAULT "moonshift"

void address_clear(struct address *address) {
    PQconninfoFree(address->options);
    free(address->name);
    *address = (struct address){0};
}

static bool refuse(const char *url, struct error *error) {
    char shown[STORE_SHOWN];
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": expected postgres://user@host:port/database?schema=moonshift",
                     store_url_show(url, shown));
}

static bool refuse_schema(const char *schema, size_t size, struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store: schema \"%.*s\": expected at most %d lower-case letters, digits and _",
                     (int)(size < 100 ? size : 100), schema, SCHEMA_MAX);
}

static bool read_schema(struct address *address, const char *value, size_t size,
                        struct error *error) {
    bool fine = size > 0 && size <= SCHEMA_MAX && !isdigit((unsigned char)value[0]);
    for (size_t i = 0; fine && i < size; i++)
        fine =
            islower((unsigned char)value[i]) || isdigit((unsigned char)value[i]) || value[i] == '_';
    if (!fine)
        return refuse_schema(value, size, error);
    memcpy(address->schema, value, size);
    address->schema[size] = 0;
    return true;
}

static bool read_pool(struct address *address, const char *value, size_t size,
                      struct error *error) {
    address->pooled = size == strlen("transaction") && strncmp(value, "transaction", size) == 0;
    return address->pooled || (size == strlen("session") && strncmp(value, "session", size) == 0) ||
           error_set(error, ERROR_CONFIG, "store: pool \"%.*s\": expected session or transaction",
                     (int)(size < 100 ? size : 100), value);
}

/* Parameters of the URL that libpq does not know. */
static const struct {
    const char *key;
    bool (*read)(struct address *address, const char *value, size_t size, struct error *error);
} own[] = {{"schema=", read_schema}, {"pool=", read_pool}};

/* YES: the parameter is one of ours, and is read. */
static enum answer read_own(struct address *address, const char *at, size_t size,
                            struct error *error) {
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t skip = strlen(own[i].key);
        if (strncmp(at, own[i].key, skip) == 0)
            return own[i].read(address, at + skip, size - skip, error) ? YES : FAILED;
    }
    return NO;
}

/* Copies the URL into `rest` but for the parameters that are ours. */
static bool split(struct address *address, const char *url, struct text *rest,
                  struct error *error) {
    const char *query = strchr(url, '?');
    size_t head = query ? (size_t)(query - url) : strlen(url);
    char joint = '?';
    text_append(rest, url, head);
    for (const char *at = query ? query + 1 : ""; *at;) {
        size_t size = strcspn(at, "&");
        enum answer ours = read_own(address, at, size, error);
        if (ours == FAILED)
            return false;
        if (ours == NO) {
            text_append(rest, &joint, 1);
            text_append(rest, at, size);
            joint = '&';
        }
        at += size + (at[size] == '&');
    }
    return !rest->failed || error_no_memory(error);
}

const char *address_option(const struct address *address, const char *keyword) {
    for (const PQconninfoOption *one = address->options; one && one->keyword; one++)
        if (strcmp(one->keyword, keyword) == 0)
            return one->val && *one->val ? one->val : NULL;
    return NULL;
}

static bool describe(struct address *address, struct error *error) {
    const char *user = address_option(address, "user"), *host = address_option(address, "host"),
               *port = address_option(address, "port"),
               *database = address_option(address, "dbname");
    struct text name = {0};
    text_add(&name, "postgres://%s%s%s%s%s/%s", user ? user : "", user ? "@" : "",
             host && *host != '/' ? host : "", port ? ":" : "", port ? port : "",
             database ? database : "");
    text_add(&name, "?%s%s%sschema=%s", host && *host == '/' ? "host=" : "",
             host && *host == '/' ? host : "", host && *host == '/' ? "&" : "", address->schema);
    if (name.failed) {
        text_clear(&name);
        return error_no_memory(error);
    }
    address->name = name.data;
    return true;
}

bool address_read(struct address *address, const char *url, struct error *error) {
    struct text rest = {0};
    strcpy(address->schema, SCHEMA_DEFAULT);
    bool fine = split(address, url, &rest, error);
    if (fine && !(address->options = PQconninfoParse(rest.data, NULL)))
        fine = refuse(url, error);
    text_clear(&rest);
    return fine && describe(address, error);
}
