#include "store/postgres/db/address.h"
#include "base/text.h"
#include "job/store_url.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void address_clear(struct address *address) {
    if (address->options)
        PQconninfoFree(address->options);
    free(address->name);
    *address = (struct address){0};
}

static bool address_refuse(const char *url, struct error *error) {
    char shown[STORE_SHOWN];
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": expected postgres://user@host:port/database?schema=moonshift",
                     store_url_show(url, shown));
}

/* libpq would take a part of the password for a host, and show it. */
static bool refuse_password(const char *url, struct error *error) {
    char shown[STORE_SHOWN];
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": a character of its password parts the URL (expected %%40 for @,"
                     " %%2F for / and %%3F for ?)",
                     store_url_show(url, shown));
}

static bool refuse_schema(const char *schema, size_t size, struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store: schema \"%.*s\": expected at most %d lower-case letters, digits and _,"
                     " and no pg_ in front",
                     (int)(size < 100 ? size : 100), schema, SCHEMA_MAX);
}

static bool read_schema(struct address *address, const char *value, size_t size,
                        struct error *error) {
    bool fine = size > 0 && size <= SCHEMA_MAX && !isdigit((unsigned char)value[0]) &&
                strncmp(value, "pg_", 3) != 0;
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

enum { KEYWORDS_MAX = 100 };

/* Parameters that libpq does not know are misspelt, as it knows them all. */
static bool refuse_unknown(const char *at, size_t size, struct error *error) {
    const char *names[KEYWORDS_MAX + 4] = {"schema", "pool", "ssl"};
    char key[64];
    size_t count = 3;
    bool known = false;
    PQconninfoOption *options = PQconndefaults();
    if (!options)
        return error_no_memory(error);
    snprintf(key, sizeof key, "%.*s", (int)size, at);
    for (PQconninfoOption *one = options; one->keyword && count < KEYWORDS_MAX; one++)
        names[count++] = one->keyword;
    for (size_t i = 0; !known && i < count; i++)
        known = strcmp(names[i], key) == 0;
    if (!known)
        error_unknown(error, ERROR_CONFIG, "store: unknown parameter", key, names, NULL);
    PQconninfoFree(options);
    return known;
}

/* Where the parameters begin: behind the user, which no ? may be a part of. NULL: it is unclear. */
static const char *find_query(const char *url) {
    const char *at = strchr(url, ':') + strlen("://"), *end = at + strcspn(at, "@/");
    if (*end == '@' && memchr(at, '?', (size_t)(end - at)))
        return NULL;
    at = *end == '@' ? end + 1 : at;
    end = at + strcspn(at, "?");
    return memchr(at, '@', (size_t)(end - at)) ? NULL : end;
}

/* Copies the URL into `rest` but for the parameters that are ours. */
static bool split(struct address *address, const char *url, struct text *rest,
                  struct error *error) {
    const char *query = find_query(url);
    char joint = '?';
    if (!query)
        return refuse_password(url, error);
    text_append(rest, url, (size_t)(query - url));
    for (const char *at = *query ? query + 1 : ""; *at;) {
        size_t size = strcspn(at, "&");
        enum answer ours = read_own(address, at, size, error);
        if (ours == FAILED || (ours == NO && !refuse_unknown(at, strcspn(at, "=&"), error)))
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

/* ---- values that libpq looks at as late as it connects ---- */

static bool is_number(const char *value, size_t size) {
    return size > 0 && size < 10 && strspn(value, "0123456789") >= size;
}

/* Of a list, as several hosts have it, each is a port; none at all is libpq's own. */
static bool are_ports(const char *value) {
    for (const char *at = value; *at; at += *at == ',') {
        size_t size = strcspn(at, ",");
        if (size && (!is_number(at, size) || atol(at) < 1 || atol(at) > 65535))
            return false;
        at += size;
    }
    return true;
}

static bool is_word(const char *value, const char *words) {
    const size_t size = strlen(value);
    for (const char *at = strstr(words, value); at; at = strstr(at + 1, value))
        if ((at == words || at[-1] == ' ') && strchr(", ", at[size]))
            return true;
    return false;
}

enum kind { A_PORT, A_NUMBER, A_WORD };

static const struct {
    const char *keyword;
    enum kind kind;
    const char *expected;
} values[] = {
    {"port", A_PORT, "a number from 1 to 65535, or one for each host"},
    {"connect_timeout", A_NUMBER, "seconds"},
    {"tcp_user_timeout", A_NUMBER, "milliseconds"},
    {"keepalives", A_NUMBER, "0 or 1"},
    {"keepalives_idle", A_NUMBER, "seconds"},
    {"keepalives_interval", A_NUMBER, "seconds"},
    {"keepalives_count", A_NUMBER, "a number"},
    {"sslmode", A_WORD, "disable, allow, prefer, require, verify-ca, verify-full"},
    {"target_session_attrs", A_WORD,
     "any, read-write, read-only, primary, standby, prefer-standby"},
};

static bool fits(enum kind kind, const char *value, const char *expected) {
    if (kind == A_WORD)
        return is_word(value, expected);
    return kind == A_PORT ? are_ports(value) : is_number(value, strlen(value));
}

static bool check_values(const struct address *address, struct error *error) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *value = address_option(address, values[i].keyword);
        if (value && !fits(values[i].kind, value, values[i].expected))
            return error_set(error, ERROR_CONFIG, "store: %s \"%.100s\": expected %s",
                             values[i].keyword, value, values[i].expected);
    }
    return true;
}

/* Each host with its port; one port may hold for all of them. */
static void add_hosts(struct text *name, const char *host, const char *port) {
    const bool list = strchr(port, ',') != NULL;
    for (size_t part = 0; *host || *port; host += *host == ',', port += *port == ',') {
        size_t size = strcspn(host, list ? "," : ""), digits = strcspn(port, ",");
        const bool colons = memchr(host, ':', size) != NULL; /* of IPv6 */
        text_add(name, "%s%s%.*s%s%s%.*s", part++ ? "," : "", colons ? "[" : "", (int)size, host,
                 colons ? "]" : "", digits ? ":" : "", (int)digits, port);
        host += size;
        port += digits;
    }
}

static bool describe(struct address *address, struct error *error) {
    const char *user = address_option(address, "user"), *host = address_option(address, "host"),
               *port = address_option(address, "port"),
               *database = address_option(address, "dbname");
    struct text name = {0};
    text_add(&name, "postgres://%s%s", user ? user : "", user ? "@" : "");
    add_hosts(&name, host && *host != '/' ? host : "", port ? port : "");
    text_add(&name, "/%s", database ? database : "");
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
    strcpy(address->schema, STORE_SCHEMA);
    if (!store_url_server(url))
        return address_refuse(url, error);
    if (!libpq_load(error))
        return false;
    bool fine = split(address, url, &rest, error);
    if (fine && !(address->options = PQconninfoParse(rest.data, NULL)))
        fine = address_refuse(url, error);
    text_clear(&rest);
    return fine && check_values(address, error) && describe(address, error);
}

/* The same for every program: FNV-1a. */
int32_t address_class(const struct address *address) {
    uint32_t sum = 2166136261u;
    for (const char *at = address->schema; *at; at++)
        sum = (sum ^ (uint8_t)*at) * 16777619u;
    return (int32_t)sum;
}
