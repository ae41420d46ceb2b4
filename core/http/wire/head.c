#include "http/wire/head.h"
#include "base/text.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- bytes as they come ---- */

static int scan_refuse(struct head_scan *scan, int status, const char *why) {
    scan->why = why;
    return status;
}

/* The bytes of a line end come as a pair, and no other control character comes at all. */
static bool byte_fits(const char *bytes, size_t at) {
    unsigned char byte = (unsigned char)bytes[at];
    bool after_return = at > 0 && bytes[at - 1] == '\r';
    if (after_return || byte == '\n')
        return after_return && byte == '\n';
    return byte == '\r' || (byte >= ' ' && byte != 127);
}

/* The limits of a head that has so many bytes and may have more. */
static int scan_limits(struct head_scan *scan) {
    enum { AROUND = sizeof "METHOD------ HTTP/1.1" }; /* what else the first line may have */
    if (scan->lines == 0 && scan->at > HEAD_TARGET + AROUND)
        return scan_refuse(scan, 414, "the path is longer than 8 KiB");
    if (scan->lines > HEAD_LINES + 1) /* and the first line */
        return scan_refuse(scan, 431, "the request has more than 64 headers");
    if (scan->at >= HEAD_MAX)
        return scan_refuse(scan, 431, "the head of the request is larger than 16 KiB");
    return HEAD_MORE;
}

/* A line has ended before scan->at. An empty one ends the head. */
static int line_end(struct head_scan *scan) {
    bool empty = scan->at - scan->line == 2;
    scan->line = scan->at;
    if (!empty) {
        scan->lines++;
        return scan_limits(scan);
    }
    if (scan->lines == 0)
        return scan_refuse(scan, 400, "the request begins with an empty line");
    return HEAD_WHOLE;
}

int head_scan(struct head_scan *scan, const char *bytes, size_t size) {
    int state = HEAD_MORE;
    while (state == HEAD_MORE && scan->at < size) {
        if (!byte_fits(bytes, scan->at))
            return scan_refuse(scan, 400, "the head has a control character or a bare line end");
        state = bytes[scan->at++] == '\n' ? line_end(scan) : scan_limits(scan);
    }
    return state;
}

/* ---- the first line ---- */

static int refuse(struct head *head, int status, const char *why) {
    head->why = why;
    return status;
}

static bool is_method(const char *text) {
    size_t size = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return size > 0 && size <= 16 && !text[size];
}

static int read_version(struct head *head, const char *text) {
    if (strcmp(text, "HTTP/1.1") == 0)
        return HEAD_WHOLE;
    bool other = strlen(text) == 8 && strncmp(text, "HTTP/", 5) == 0 &&
                 isdigit((unsigned char)text[5]) && text[6] == '.' &&
                 isdigit((unsigned char)text[7]);
    return other ? refuse(head, 505, "the version is not HTTP/1.1")
                 : refuse(head, 400, "the first line is not METHOD PATH HTTP/1.1");
}

static int read_target(struct head *head, char *target) {
    if (target[0] != '/')
        return refuse(head, 400, "the path does not begin with a slash");
    if (strlen(target) > HEAD_TARGET)
        return refuse(head, 414, "the path is longer than 8 KiB");
    for (const char *at = target; *at; at++)
        if ((unsigned char)*at >= 127 || *at == '#')
            return refuse(head, 400, "the path has a character that must be encoded");
    char *mark = strchr(target, '?');
    if (mark)
        *mark++ = 0;
    head->path = target;
    head->query = mark;
    return HEAD_WHOLE;
}

static int read_first(struct head *head, char *line) {
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version)
        return refuse(head, 400, "the first line is not METHOD PATH HTTP/1.1");
    *target++ = *version++ = 0;
    if (!is_method(line))
        return refuse(head, 400, "the method is not a word of capital letters");
    head->method = line;
    int state = read_version(head, version);
    return state == HEAD_WHOLE ? read_target(head, target) : state;
}

/* ---- headers that decide how a request is read ---- */

/* The bytes of a name or an address: brackets are around those with colons (RFC 3986). 0: it is
 * neither. */
static size_t host_size(const char *value) {
    size_t size = 0;
    if (*value != '[') {
        while (isalnum((unsigned char)value[size]) || (value[size] && strchr(".-_", value[size])))
            size++;
        return size;
    }
    size = strspn(value + 1, "0123456789abcdefABCDEF:.");
    return memchr(value + 1, ':', size) && value[size + 1] == ']' ? size + 2 : 0;
}

static int read_host(struct head *head, const char *value) {
    const size_t size = host_size(value);
    const char *port = value + size;
    if (!*value)
        return refuse(head, 400, "the Host is empty");
    size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;
    if (size == 0 || (*port && *port != ':') || (*port && port[1 + digits]) || digits > 5)
        return refuse(head, 400, "the Host is no name or address, with a port or without");
    head->host = value;
    return HEAD_WHOLE;
}

static int read_length(struct head *head, const char *value) {
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || value[digits])
        return refuse(head, 400, "the Content-Length is not a whole number");
    if (digits > 18)
        return refuse(head, 413, "the body is too large");
    head->length = 0;
    for (; *value; value++)
        head->length = head->length * 10 + (size_t)(*value - '0');
    return HEAD_WHOLE;
}

static int read_encoding(struct head *head, const char *value) {
    (void)value;
    return refuse(head, 411, "a body has a Content-Length (no Transfer-Encoding)");
}

static int read_expect(struct head *head, const char *value) {
    head->expects = strcasecmp(value, "100-continue") == 0;
    return head->expects ? HEAD_WHOLE : refuse(head, 417, "Expect is not 100-continue");
}

/* A list of words. */
static int read_connection(struct head *head, const char *value) {
    while (*value) {
        size_t size = strcspn(value, ", ");
        head->closes = head->closes || (size == 5 && strncasecmp(value, "close", 5) == 0);
        value += size;
        value += strspn(value, ", ");
    }
    return HEAD_WHOLE;
}

/* Headers that come once, if at all, and what each means here. */
static const struct {
    const char *name;
    int (*read)(struct head *head, const char *value); /* NULL: nothing */
} single[] = {
    {"host", read_host},
    {"content-length", read_length},
    {"transfer-encoding", read_encoding},
    {"expect", read_expect},
    {"content-type", NULL},
    {"authorization", NULL},
    {"origin", NULL},
    {"sec-fetch-site", NULL},
    {"idempotency-key", NULL},
    {"if-match", NULL},
    {"traceparent", NULL},
    {"x-forwarded-user", NULL},
    {"x-forwarded-groups", NULL},
};

/* ---- headers ---- */

static const char *seen(const struct head *head, const char *name) {
    for (size_t i = 0; i < head->header_count; i++)
        if (strcmp(head->headers[i].name, name) == 0)
            return head->headers[i].value;
    return NULL;
}

static int read_meaning(struct head *head, const char *name, const char *value) {
    if (strcmp(name, "connection") == 0)
        return read_connection(head, value);
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        if (strcmp(single[i].name, name) != 0)
            continue;
        if (seen(head, name))
            return refuse(head, 400, "a header that comes once is there twice");
        return single[i].read ? single[i].read(head, value) : HEAD_WHOLE;
    }
    return HEAD_WHOLE;
}

/* Makes the name lower case. False: it is empty or has an illegal character. */
static bool read_name(char *name) {
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("!#$%&'*+-.^_`|~", *at))
            return false;
        *at = (char)tolower((unsigned char)*at);
    }
    return name[0] != 0;
}

/* The blanks around a value are no part of it. */
static char *trim(char *value) {
    value += strspn(value, " ");
    size_t size = strlen(value);
    while (size > 0 && value[size - 1] == ' ')
        value[--size] = 0;
    return value;
}

static int read_header(struct head *head, char *line) {
    char *colon = strchr(line, ':');
    if (!colon)
        return refuse(head, 400, "a header has no colon");
    *colon = 0;
    if (!read_name(line))
        return refuse(head, 400, "the name of a header is empty or has an illegal character");
    char *value = trim(colon + 1);
    if (!utf8_valid(value, strlen(value), NULL) || utf8_has_control(value))
        return refuse(head, 400, "the value of a header is not valid UTF-8");
    int state = read_meaning(head, line, value);
    head->headers[head->header_count++] = (struct named_text){line, value};
    return state;
}

/* ---- all of it ---- */

/* Cuts off the line at *at, and moves behind it. */
static char *next_line(char **at) {
    char *line = *at, *end = strstr(line, "\r\n");
    *end = 0;
    *at = end + 2;
    return line;
}

int head_read(struct head *head, char *bytes, size_t size) {
    char *at = bytes;
    *head = (struct head){0};
    bytes[size - 1] = 0; /* the last line is empty, and ends here */
    int state = read_first(head, next_line(&at));
    while (state == HEAD_WHOLE && *at != '\r')
        state = read_header(head, next_line(&at));
    if (state == HEAD_WHOLE && !head->host)
        return refuse(head, 400, "the Host is missing");
    return state;
}
