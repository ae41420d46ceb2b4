#include "job/store_url.h"
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool store_url_server(const char *url) {
    return strncmp(url, "postgres://", strlen("postgres://")) == 0 ||
           strncmp(url, "postgresql://", strlen("postgresql://")) == 0;
}

/* Appends what fits. */
static void add(char shown[STORE_SHOWN], const char *text, size_t size) {
    size_t used = strlen(shown);
    snprintf(shown + used, STORE_SHOWN - used, "%.*s", (int)size, text);
}

/* Where the @ behind a password stands, which may have characters of a URL in it. NULL: there is no
 * user. */
static const char *user_end(const char *at) {
    const char *end = memrchr(at, '@', strcspn(at, "?"));
    return end ? end : memrchr(at, '@', strcspn(at, "=&"));
}

/* "me:secret@host" without what stands between the colon and the last @. */
static void add_authority(char shown[STORE_SHOWN], const char *at, size_t size) {
    const char *end = memrchr(at, '@', size);
    const char *colon = end ? memchr(at, ':', (size_t)(end - at)) : NULL;
    if (!colon) {
        add(shown, at, size);
        return;
    }
    add(shown, at, (size_t)(colon - at));
    add(shown, end, size - (size_t)(end - at));
}

/* True for the name of a parameter that says a password, also where it is misspelt. */
static bool is_secret(const char *at, size_t size) {
    static const char *const parts[] = {"pass", "pwd", "secret"};
    char letters[64];
    size_t count = 0;
    for (size_t i = 0; i < size && count < sizeof letters - 1; i++)
        if (isalpha((unsigned char)at[i]))
            letters[count++] = (char)tolower((unsigned char)at[i]);
    letters[count] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(letters, parts[i]))
            return true;
    return false;
}

/* One parameter of the query; of a password its name. */
static void add_parameter(char shown[STORE_SHOWN], const char *at, size_t size) {
    const char *equals = memchr(at, '=', size);
    if (equals && is_secret(at, (size_t)(equals - at)))
        size = (size_t)(equals - at) + 1;
    add(shown, at, size);
}

/* What follows the host: a path, and parameters behind ? and & or, as libpq has them, blanks. */
static void add_rest(char shown[STORE_SHOWN], const char *at) {
    static const char parts[] = "?& ";
    size_t size = strcspn(at, parts);
    add_parameter(shown, at, size);
    for (at += size; *at; at += 1 + size) {
        size = strcspn(at + 1, parts);
        add(shown, at, 1);
        add_parameter(shown, at + 1, size);
    }
}

/* A text that is no URL, as it lacks a slash: any colon may be the one before the password. */
static void add_unread(char shown[STORE_SHOWN], const char *text) {
    const char *end = user_end(text), *colon = end ? strchr(text, ':') : NULL;
    if (colon && colon < end) {
        add(shown, text, (size_t)(colon - text) + 1);
        text = end;
    }
    add_rest(shown, text);
}

const char *store_url_show(const char *url, char shown[STORE_SHOWN]) {
    static const char file[] = "sqlite:";
    const char *at = strstr(url, "://");
    shown[0] = 0;
    if (!at &&
        strncmp(url, file, strlen(file)) == 0) { /* a name of a file may have any character */
        add(shown, file, strlen(file));
        url += strlen(file);
        if (strncmp(url, "postgres", strlen("postgres")) == 0)
            add_unread(shown, url);
        else
            add_rest(shown, url);
        return shown;
    }
    if (!at) {
        add_unread(shown, url);
        return shown;
    }
    at += strlen("://");
    add(shown, url, (size_t)(at - url));
    const char *user = user_end(at) ? user_end(at) : at;
    size_t size = (size_t)(user - at) + strcspn(user, "/?");
    add_authority(shown, at, size);
    add_rest(shown, at + size);
    return shown;
}

#define SCHEMA "schema="

const char *store_url_schema(const char *url, size_t *size) {
    const char *found = NULL;
    for (const char *at = url + strcspn(url, "?"); *at; at += 1 + strcspn(at + 1, "&"))
        if (strncmp(at + 1, SCHEMA, strlen(SCHEMA)) == 0)
            found = at + 1 + strlen(SCHEMA);
    found = found ? found : STORE_SCHEMA;
    *size = strcspn(found, "&");
    return found;
}

char *store_url_in(const char *url, const char *schema, size_t size) {
    struct text text = {0};
    char joint = '?';
    size_t part = strcspn(url, "?");
    text_append(&text, url, part);
    for (const char *at = url + part; *at; at += part) {
        part = 1 + strcspn(at + 1, "&");
        if (strncmp(at + 1, SCHEMA, strlen(SCHEMA)) == 0)
            continue;
        text_append(&text, &joint, 1);
        text_append(&text, at + 1, part - 1);
        joint = '&';
    }
    text_add(&text, "%c" SCHEMA "%.*s", joint, (int)size, schema);
    if (text.failed)
        text_clear(&text);
    return text.data;
}
