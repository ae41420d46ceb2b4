#include "http/wire/target.h"
#include "base/text.h"
#include <ctype.h>
#include <string.h>

static int refuse(const char **why, int status, const char *reason) {
    *why = reason;
    return status;
}

static int digit(char byte) {
    return isdigit((unsigned char)byte) ? byte - '0' : tolower((unsigned char)byte) - 'a' + 10;
}

/* The byte that %XX stands for, or -1. */
static int escaped(const char *at) {
    if (!isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]))
        return -1;
    return digit(at[1]) * 16 + digit(at[2]);
}

/* Decodes in place. False: a broken escape, a NUL, or no UTF-8. */
static bool decode(char *text, bool plus_is_blank) {
    char *out = text;
    for (const char *at = text; *at; at++) {
        int byte = *at == '%' ? escaped(at) : (unsigned char)*at;
        if (byte <= 0)
            return false;
        if (*at == '%')
            at += 2;
        else if (*at == '+' && plus_is_blank)
            byte = ' ';
        *out++ = (char)byte;
    }
    *out = 0;
    return utf8_valid(text, (size_t)(out - text), NULL);
}

/* ---- the path ---- */

static bool part_fits(const char *part) {
    return part[0] && strcmp(part, ".") != 0 && strcmp(part, "..") != 0 && !strpbrk(part, "/\\") &&
           !utf8_has_control(part);
}

/* `path` begins with a slash. */
static int read_path(struct exchange *exchange, char *path, const char **why) {
    exchange->part_count = 0;
    if (!path[1])
        return 0;
    for (char *slash = path; slash;) {
        char *part = slash + 1;
        slash = strchr(part, '/');
        if (slash)
            *slash = 0;
        if (exchange->part_count == EXCHANGE_PARTS)
            return refuse(why, 404, "the path has more parts than any that is served");
        if (!decode(part, false) || !part_fits(part))
            return refuse(
                why, 400,
                "the path has an empty or a dotted part, or one that is not well encoded");
        exchange->parts[exchange->part_count++] = part;
    }
    return 0;
}

/* ---- the query ---- */

static int read_pair(struct exchange *exchange, char *pair, const char **why) {
    char *equals = strchr(pair, '=');
    if (equals)
        *equals++ = 0;
    if (exchange->query_count == EXCHANGE_PARAMETERS)
        return refuse(why, 400, "the query has more than 64 parameters");
    if (!pair[0] || !decode(pair, true) || (equals && !decode(equals, true)))
        return refuse(why, 400, "the query has a parameter that is not well encoded");
    exchange->query[exchange->query_count++] = (struct named_text){pair, equals ? equals : ""};
    return 0;
}

size_t target_parameters(const char *query) {
    size_t count = query != NULL;
    for (; query && *query && count < EXCHANGE_PARAMETERS; query++)
        count += *query == '&';
    return count;
}

static int read_query(struct exchange *exchange, char *query, const char **why) {
    int status = 0;
    char *rest = query;
    exchange->query_count = 0;
    while (status == 0 && rest && *rest) {
        char *pair = rest;
        rest = strchr(pair, '&');
        if (rest)
            *rest++ = 0;
        status = read_pair(exchange, pair, why);
    }
    return status;
}

int target_read(struct exchange *exchange, char *path, char *query, const char **why) {
    int status = read_path(exchange, path, why);
    return status ? status : read_query(exchange, query, why);
}
