#include "job/caller/origin.h"
#include "base/json.h"
#include <string.h>
#include <strings.h>

/* ":5173", or nothing. */
static bool is_port(const char *text) {
    size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    return !*text || (digits > 0 && digits <= 5 && !text[1 + digits] && text[1] != '0');
}

/* Behind the scheme; "": it has another one. */
static const char *host_of(const char *origin) {
    const bool plain = strncmp(origin, "http://", 7) == 0;
    const bool safe = strncmp(origin, "https://", 8) == 0;
    return plain || safe ? strstr(origin, "://") + 3 : "";
}

bool origin_host_is(const char *origin, const char *host) {
    return *host && strcasecmp(host_of(origin), host) == 0;
}

/* Browsers write a host in small letters, and leave out the port that the scheme has anyway. */
static bool is_origin(const char *text) {
    const bool plain = strncmp(text, "http://", 7) == 0;
    const char *host = host_of(text);
    const bool six = *host == '[';
    const char *letters = six ? "0123456789abcdef:" : "abcdefghijklmnopqrstuvwxyz0123456789.-_";
    const size_t size = strspn(host + six, letters);
    const char *port = host + six + size + (six && host[six + size] == ']');
    if (size == 0 || (six && port[-1] != ']'))
        return false;
    return is_port(port) && strcmp(port, plain ? ":80" : ":443") != 0;
}

bool origins_check(const json_t *list, const char *label, struct error *error) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        const char *text = json_string_value(one);
        if (text && !is_origin(text))
            return json_refuse(label, one, "an origin such as \"https://ops.example.com\"", error);
    }
    return true;
}

bool origins_have(const json_t *list, const char *origin) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
        if (strcmp(json_string_value(one), origin) == 0)
            return true;
    return false;
}
