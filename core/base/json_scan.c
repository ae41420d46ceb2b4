#include "base/json_scan.h"
#include "base/ascii_scan.h"
#include "base/text.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* ---- texts ---- */

/* Moves to the next byte that is more than itself: a quote, a backslash, a control character, or a
 * part of a longer character. */
static inline const char *text_plain(const char *at, const char *end) {
    return at + ascii_size(at, (size_t)(end - at));
}

/* The same for a text whose first such byte, at `at`, is not its end. */
static bool text_unusual(struct json_scan *scan, struct json_piece *piece, const char *at) {
    const char *end = scan->end;
    bool high = false;
    for (; at < end && *at != '"'; at = text_plain(at, end)) {
        unsigned char byte = (unsigned char)*at++;
        if (byte < 0x20)
            return false;
        high = high || byte >= 0x80;
        piece->escaped = piece->escaped || byte == '\\';
        if (byte == '\\' && at < end && (unsigned char)*at < 0x80)
            at++;
    }
    if (at >= end)
        return false;
    piece->size = (size_t)(at - piece->text);
    scan->at = at + 1;
    return !high || utf8_valid(piece->text, piece->size, NULL);
}

bool json_scan_text(struct json_scan *scan, struct json_piece *piece) {
    const char *text = scan->at + 1, *at = text_plain(text, scan->end);
    *piece = (struct json_piece){.text = text, .size = (size_t)(at - text)};
    if (at == scan->end || *at != '"')
        return text_unusual(scan, piece, at);
    scan->at = at + 1;
    return true;
}

/* Four hexadecimal digits; -1: there are none. */
static int32_t hex_read(const char *at, const char *end) {
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = at[i] | 0x20;
        bool letter = digit >= 'a' && digit <= 'f';
        if (!letter && (at[i] < '0' || at[i] > '9'))
            return -1;
        value = value << 4 | (letter ? digit - 'a' + 10 : at[i] - '0');
    }
    return value;
}

/* Behind the u: one unit of UTF-16, or a high one and the low one that must follow. */
static uint32_t unicode_read(const char **at, const char *end) {
    int32_t high = hex_read(*at, end);
    if (high < 0)
        return 0;
    *at += 4;
    if (high < 0xD800 || high > 0xDFFF)
        return (uint32_t)high;
    int32_t low = high < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u'
                      ? hex_read(*at + 2, end)
                      : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return 0;
    *at += 6;
    return 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
}

uint32_t json_escape_read(const char **at, const char *end) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (end - *at < 2)
        return 0;
    char name = (*at)[1];
    *at += 2;
    if (name == 'u')
        return unicode_read(at, end);
    const char *found = name ? strchr(names, name) : NULL;
    return found ? (uint32_t)meanings[found - names] : 0;
}

size_t utf8_write(char *out, uint32_t character) {
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t size = 2 + (character >= 0x800) + (character >= 0x10000);
    for (size_t i = size; --i > 0; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)((0xF00 >> size) | character);
    return size;
}

bool json_unescape(const struct json_piece *piece, char *out, size_t *size) {
    const char *at = piece->text, *end = at + piece->size;
    char *to = out;
    while (at < end) {
        const char *next = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((next ? next : end) - at);
        memcpy(to, at, plain);
        to += plain;
        at += plain;
        uint32_t character = next ? json_escape_read(&at, end) : 0;
        if (next && character == 0)
            return false;
        to += next ? utf8_write(to, character) : 0;
    }
    *size = (size_t)(to - out);
    return true;
}

/* ---- numbers ---- */

enum { DIGITS_MAX = 19, POWER_MAX = 22, NUMBER_MAX = 100 };

/* What is read of a number: its digits without the point, as far as they fit. */
struct digits {
    uint64_t value;
    int count;    /* that count: no zeros in front */
    int exponent; /* of ten, for `value` */
};

static inline bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

/* Moves behind the digits. */
static inline const char *digits_read(struct digits *digits, const char *at, const char *end) {
    for (; is_digit(at, end); at++) {
        digits->count += digits->count > 0 || *at != '0';
        if (digits->count <= DIGITS_MAX)
            digits->value = digits->value * 10 + (uint64_t)(*at - '0');
    }
    return at;
}

/* Moves behind the exponent, whose E is at `at`; NULL: it has no digit. */
static const char *exponent_read(struct digits *digits, const char *at, const char *end) {
    at++;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    int exponent = 0;
    if (!is_digit(at, end))
        return NULL;
    for (; is_digit(at, end); at++)
        exponent = exponent > 9999 ? exponent : exponent * 10 + (*at - '0');
    digits->exponent += negative ? -exponent : exponent;
    return at;
}

/* As jansson: by the library, whose point is the locale's. */
static bool real_by_library(struct json_number *number) {
    char copy[NUMBER_MAX + 1];
    memcpy(copy, number->text, number->size);
    copy[number->size] = '\0';
    char *point = strchr(copy, '.');
    if (point)
        *point = *localeconv()->decimal_point;
    number->real = strtod(copy, NULL);
    return !isinf(number->real);
}

/* Both the digits and the power of ten are exact as doubles: one operation rounds once. */
static bool real_value(struct json_number *number, const struct digits *digits) {
    static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int power = digits->exponent;
    bool exact = FLT_EVAL_METHOD == 0 && digits->count <= DIGITS_MAX &&
                 digits->value <= UINT64_C(1) << 53 && power >= -POWER_MAX && power <= POWER_MAX;
    if (!exact)
        return number->size <= NUMBER_MAX && real_by_library(number);
    double real = (double)digits->value;
    real = power < 0 ? real / powers[-power] : real * powers[power];
    number->real = *number->text == '-' ? -real : real;
    return true;
}

/* Up to 15 digits are read back as they are; zeros behind others are not written. */
static bool is_shortest(const struct json_number *number, const struct digits *digits) {
    const char *last = number->text + number->size - 1;
    bool ends = *last != '0' || last[-1] == '.';
    return ends && digits->count < 16 && (fabs(number->real) >= 1e-4 || digits->value == 0);
}

/* Both ends of 64 bits are whole numbers. */
static bool whole_value(struct json_number *number, const struct digits *digits) {
    bool negative = *number->text == '-';
    if (digits->count > DIGITS_MAX || digits->value > (uint64_t)INT64_MAX + negative)
        return false;
    number->whole = (int64_t)(negative ? 0 - digits->value : digits->value);
    return true;
}

bool json_scan_number(struct json_scan *scan, struct json_number *number) {
    const char *end = scan->end, *from = scan->at + (*scan->at == '-');
    struct digits digits = {0};
    const char *at = digits_read(&digits, from, end);
    if (at == from || (*from == '0' && at - from > 1))
        return false;
    number->text = scan->at;
    number->is_real = at < end && (*at == '.' || *at == 'e' || *at == 'E');
    if (at < end && *at == '.') {
        const char *point = ++at;
        at = digits_read(&digits, at, end);
        digits.exponent -= (int)(at - point < NUMBER_MAX ? at - point : NUMBER_MAX);
        if (at == point)
            return false;
    }
    bool powered = at < end && (*at == 'e' || *at == 'E');
    if (powered)
        at = exponent_read(&digits, at, end);
    if (!at)
        return false;
    number->size = (size_t)(at - number->text);
    scan->at = at;
    bool fine = number->is_real ? real_value(number, &digits) : whole_value(number, &digits);
    number->is_shortest = number->is_real && !powered && is_shortest(number, &digits);
    return fine;
}

/* ---- keys ---- */

enum { KEYS_FEW = 16 };

static int key_compare(const void *left, const void *right) {
    const struct json_key *one = left, *other = right;
    if (one->mark != other->mark)
        return one->mark < other->mark ? -1 : 1;
    if (one->size != other->size)
        return one->size < other->size ? -1 : 1;
    return memcmp(one->text, other->text, one->size);
}

bool json_keys_repeat(struct json_key *keys, size_t count) {
    bool few = count <= KEYS_FEW;
    if (!few)
        qsort(keys, count, sizeof *keys, key_compare);
    for (size_t i = 1; i < count; i++)
        for (size_t j = few ? 0 : i - 1; j < i; j++)
            if (json_key_same(&keys[i], &keys[j]))
                return true;
    return false;
}
