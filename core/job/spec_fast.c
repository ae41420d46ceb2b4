#include "job/spec_fast.h"
#include "base/ascii_scan.h"
#include "base/text.h"
#include "job/job.h"
#include <string.h>

enum { DEPTH_MAX = 24, MEMBERS_MAX = 16, NUMBER_MAX = 18, REAL_MAX = 15 };

/* Copies compactly from `at` to `out`, which never overtakes: nothing gets longer. Whatever is not
 * certain to come out of json_write the same way ends the reading. */
struct scan {
    const char *at, *end;
    char *out;
};

struct member {
    const char *key;
    size_t size;
};

#define ENTRY(member, type, key, source, column, said, ...)                                        \
    JOB_SAID_##said(&job_fields[JOB_FIELD_##member], )
const struct job_field *const spec_names[SPEC_NAMES] = {JOB_FIELDS(ENTRY)};

static void skip_blanks(struct scan *scan) {
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
        scan->at++;
}

/* The next byte behind white space, or 0. */
static char next_byte(struct scan *scan) {
    skip_blanks(scan);
    return scan->at < scan->end ? *scan->at : '\0';
}

static bool take(struct scan *scan, char byte) {
    if (next_byte(scan) != byte)
        return false;
    scan->at++;
    return true;
}

static bool take_copied(struct scan *scan, char byte) {
    if (!take(scan, byte))
        return false;
    *scan->out++ = byte;
    return true;
}

static bool copy(struct scan *scan, size_t size) {
    memcpy(scan->out, scan->at, size);
    scan->at += size;
    scan->out += size;
    return true;
}

/* ---- texts ---- */

/* Bytes up to the closing quote; `plain`: they are printable ASCII without escapes. Of escapes only
 * those that json_write would write, too. */
static bool text_end(const struct scan *scan, size_t *size, bool *plain) {
    bool high = false;
    *plain = true;
    const char *at = scan->at, *next = at; /* where eight are looked at again */
    for (;; at++) {
        for (; at >= next && scan->end - at >= 8 && ascii_is_text(at); next = at)
            at += 8;
        next = at >= next ? at + 8 : next;
        if (at == scan->end || *at == '"')
            break;
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x20)
            return false;
        if (byte != '\\' && byte < 0x7f)
            continue;
        *plain = false;
        high = high || byte >= 0x80;
        if (byte == '\\' && (++at == scan->end || !strchr("\"\\btnfr", *at) || *at == '\0'))
            return false;
    }
    *size = (size_t)(at - scan->at);
    return at < scan->end && (!high || utf8_valid(scan->at, *size, NULL));
}

static bool copy_text(struct scan *scan) {
    size_t size;
    bool plain;
    if (!take_copied(scan, '"') || !text_end(scan, &size, &plain))
        return false;
    return copy(scan, size + 1);
}

/* A text that is not empty, NUL-terminated. */
static bool copy_name(struct scan *scan, const char **name, size_t *size) {
    bool plain;
    if (*name || !take(scan, '"') || !text_end(scan, size, &plain) || !plain || *size == 0)
        return false;
    *name = scan->out;
    copy(scan, *size);
    *scan->out++ = '\0';
    scan->at++;
    return true;
}

/* ---- numbers ---- */

static bool is_digit(const struct scan *scan, const char *at) {
    return at < scan->end && *at >= '0' && *at <= '9';
}

/* Reads the digits behind the point. True: the number is already in its shortest form. Its last
 * digit is not 0, unless it is the only one, and a double can hold all of them. */
static bool fraction_end(const struct scan *scan, const char **at, size_t whole, bool zero) {
    const char *from = *at, *first = from;
    while (is_digit(scan, *at))
        ++*at;
    while (zero && first < *at && *first == '0')
        first++;
    size_t size = (size_t)(*at - from), significant = (size_t)(*at - first);
    if (size == 1 && *from == '0')
        return whole <= REAL_MAX;
    return size > 0 && (*at)[-1] != '0' && first - from <= 3 &&
           (zero ? 0 : whole) + significant <= REAL_MAX;
}

static bool number_end(const struct scan *scan, size_t *size, bool *real) {
    const char *at = scan->at + (*scan->at == '-'), *from = at;
    while (is_digit(scan, at))
        at++;
    size_t whole = (size_t)(at - from);
    bool zero = whole == 1 && *from == '0';
    if (whole == 0 || whole > NUMBER_MAX || (*from == '0' && !zero))
        return false;
    *real = at < scan->end && *at == '.';
    if (*real ? (at++, !fraction_end(scan, &at, whole, zero)) : zero && *scan->at == '-')
        return false;
    *size = (size_t)(at - scan->at);
    return at == scan->end || (*at != 'e' && *at != 'E' && *at != '.');
}

static bool copy_number(struct scan *scan) {
    size_t size;
    bool real;
    return number_end(scan, &size, &real) && copy(scan, size);
}

static bool read_whole(struct scan *scan, int64_t *number) {
    size_t size;
    bool real;
    if (next_byte(scan) == '\0' || !number_end(scan, &size, &real) || real)
        return false;
    bool negative = *scan->at == '-';
    *number = 0;
    for (size_t i = negative; i < size; i++)
        *number = *number * 10 + (scan->at[i] - '0');
    *number = negative ? -*number : *number;
    scan->at += size;
    return true;
}

/* ---- values ---- */

static bool copy_word(struct scan *scan, const char *word) {
    size_t size = strlen(word);
    return (size_t)(scan->end - scan->at) >= size && memcmp(scan->at, word, size) == 0 &&
           copy(scan, size);
}

static bool copy_value(struct scan *scan, int depth);

static bool copy_array(struct scan *scan, int depth) {
    take_copied(scan, '[');
    if (take_copied(scan, ']'))
        return true;
    do {
        if (!copy_value(scan, depth + 1))
            return false;
    } while (take_copied(scan, ','));
    return take_copied(scan, ']');
}

static bool is_new(const struct member *members, int count) {
    const struct member *last = &members[count];
    for (int i = 0; i < count; i++)
        if (members[i].size == last->size && memcmp(members[i].key, last->key, last->size) == 0)
            return false;
    return true;
}

static bool copy_object(struct scan *scan, int depth) {
    struct member members[MEMBERS_MAX];
    int count = 0;
    take_copied(scan, '{');
    if (take_copied(scan, '}'))
        return true;
    do {
        next_byte(scan);
        if (count == MEMBERS_MAX)
            return false;
        members[count].key = scan->out;
        if (!copy_text(scan))
            return false;
        members[count].size = (size_t)(scan->out - members[count].key);
        if (!is_new(members, count++) || !take_copied(scan, ':') || !copy_value(scan, depth + 1))
            return false;
    } while (take_copied(scan, ','));
    return take_copied(scan, '}');
}

static bool copy_value(struct scan *scan, int depth) {
    char byte = next_byte(scan);
    if (depth > DEPTH_MAX)
        return false;
    switch (byte) {
    case '{':
        return copy_object(scan, depth);
    case '[':
        return copy_array(scan, depth);
    case '"':
        return copy_text(scan);
    case 't':
        return copy_word(scan, "true");
    case 'f':
        return copy_word(scan, "false");
    case 'n':
        return copy_word(scan, "null");
    default:
        return byte != '\0' && copy_number(scan);
    }
}

/* ---- a job ---- */

static bool read_payload(struct spec_fast *fast, struct scan *scan) {
    if (fast->payload)
        return false;
    fast->payload = scan->out;
    if (!copy_value(scan, 1))
        return false;
    fast->payload_size = (size_t)(scan->out - fast->payload);
    return true;
}

static bool is_key(const char *at, size_t size, const char *key) {
    return strlen(key) == size && memcmp(at, key, size) == 0;
}

static bool read_value(struct spec_fast *fast, struct scan *scan, const char *key, size_t size) {
    if (is_key(key, size, "payload"))
        return read_payload(fast, scan);
    if (is_key(key, size, "priority")) {
        bool again = fast->priority_given;
        fast->priority_given = true;
        return !again && read_whole(scan, &fast->priority);
    }
    for (int i = 0; i < SPEC_NAMES; i++)
        if (is_key(key, size, spec_names[i]->key))
            return copy_name(scan, &fast->names[i], &fast->sizes[i]);
    return false;
}

static bool read_member(struct spec_fast *fast, struct scan *scan) {
    size_t size;
    bool plain;
    if (!take(scan, '"') || !text_end(scan, &size, &plain))
        return false;
    const char *key = scan->at;
    scan->at += size + 1;
    return take(scan, ':') && read_value(fast, scan, key, size);
}

bool spec_fast_read(struct spec_fast *fast, const char *text, size_t size, char *room,
                    size_t *used) {
    struct scan scan = {text, text + size, room};
    *fast = (struct spec_fast){0};
    if (!take(&scan, '{'))
        return false;
    do {
        if (!read_member(fast, &scan))
            return false;
    } while (take(&scan, ','));
    if (!take(&scan, '}'))
        return false;
    *used = (size_t)(scan.out - room);
    return next_byte(&scan) == '\0' && scan.at == scan.end && fast->names[SPEC_NAME_handler];
}
