#include "job/store_url.h"
#include "base/text.h"
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

/* One parameter of the query; of a password its name. */
static void add_parameter(char shown[STORE_SHOWN], const char *at, size_t size) {
    const char *equals = memchr(at, '=', size);
    const char *word = equals ? equals - strlen("password") : at;
    if (word >= at && equals && strncmp(word, "password", strlen("password")) == 0)
        size = (size_t)(equals - at) + 1;
    add(shown, at, size);
}

const char *store_url_show(const char *url, char shown[STORE_SHOWN]) {
    const char *at = strstr(url, "://");
    shown[0] = 0;
    if (!at) {
        add(shown, url, strlen(url));
        return shown;
    }
    at += strlen("://");
    add(shown, url, (size_t)(at - url));
    const char *user = user_end(at) ? user_end(at) : at;
    size_t size = (size_t)(user - at) + strcspn(user, "/?");
    add_authority(shown, at, size);
    at += size;
    size = strcspn(at, "?&");
    add(shown, at, size);
    for (at += size; *at; at += 1 + size) {
        size = strcspn(at + 1, "&");
        add(shown, at, 1);
        add_parameter(shown, at + 1, size);
    }
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
