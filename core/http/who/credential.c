#include "http/who/credential.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The value behind the scheme's name; NULL: it is another scheme. */
static const char *value_of(const char *header, const char *scheme) {
    size_t size = strlen(scheme);
    if (strncasecmp(header, scheme, size) != 0 || header[size] != ' ')
        return NULL;
    return header + size + strspn(header + size, " ");
}

static int digit_of(char letter) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = letter ? strchr(digits, letter) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Base64 (RFC 4648) as text. False: it is none, or too long. */
static bool decode(const char *text, char *out, size_t room) {
    unsigned bits = 0, count = 0;
    size_t size = 0;
    for (; *text && *text != '='; text++) {
        int digit = digit_of(*text);
        if (digit < 0 || size + 1 >= room)
            return false;
        bits = bits << 6 | (unsigned)digit;
        count += 6;
        if (count >= 8)
            out[size++] = (char)(bits >> (count -= 8) & 0xFF);
    }
    out[size] = 0;
    return text[strspn(text, "=")] == 0 && strlen(out) == size;
}

static bool take(const char *text, char *token) {
    size_t size = strlen(text);
    if (size == 0 || size >= CREDENTIAL_SIZE)
        return false;
    memcpy(token, text, size + 1);
    return true;
}

bool credential_read(const char *header, char *token) {
    const char *value = header ? value_of(header, "Bearer") : NULL;
    if (value)
        return take(value, token);
    char pair[2 * CREDENTIAL_SIZE];
    if (!header || !(value = value_of(header, "Basic")) || !decode(value, pair, sizeof pair))
        return false;
    const char *colon = strchr(pair, ':');
    return colon && take(colon + 1, token);
}
