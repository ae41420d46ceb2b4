/* json_contract.c - numbers and texts of JSON are read as jansson reads them, and written as the
 * library of C would write the shortest form. */
#include "base/json.h"
#include "base/json_scan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 300000 };

static int passed, failed;
static unsigned long long seed = 1;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static unsigned chance(unsigned of) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % of;
}

/* ---- reading ---- */

static size_t digits(char *out, unsigned most) {
    size_t count = chance(most) + 1;
    for (size_t i = 0; i < count; i++)
        out[i] = (char)('0' + (chance(4) ? chance(10) : 9 * chance(2)));
    return count;
}

/* Mostly a number. */
static size_t number_text(char *out) {
    size_t size = 0;
    if (chance(3) == 0)
        out[size++] = '-';
    size += digits(out + size, chance(2) ? 4 : 21);
    if (chance(2)) {
        out[size++] = '.';
        size += digits(out + size, chance(2) ? 3 : 21);
    }
    if (chance(3) == 0) {
        out[size++] = chance(2) ? 'e' : 'E';
        if (chance(2))
            out[size++] = chance(2) ? '+' : '-';
        size += digits(out + size, chance(2) ? 2 : 3);
    }
    if (chance(50) == 0)
        out[chance((unsigned)size)] = ".-+e"[chance(4)];
    return size;
}

static bool same_number(const json_t *value, const struct json_number *number) {
    if (json_is_real(value))
        return number->is_real && json_real_value(value) == number->real &&
               signbit(json_real_value(value)) == signbit(number->real);
    return json_is_integer(value) && !number->is_real && json_integer_value(value) == number->whole;
}

static bool is_written(const struct json_number *number) {
    char written[JSON_NUMBER_SIZE];
    size_t size = json_write_real(written, number->real);
    return size == number->size && memcmp(written, number->text, size) == 0;
}

static bool shortest(const char *text) {
    struct json_scan scan = {text, text + strlen(text)};
    struct json_number number;
    return json_scan_number(&scan, &number) && number.is_shortest;
}

/* Some of the shortest forms are not known as such: that costs time alone. */
static bool knows_shortest(void) {
    char text[80];
    for (int i = 0; i < NUMBERS; i++) {
        size_t size = number_text(text);
        struct json_scan scan = {text, text + size};
        struct json_number number;
        if (json_scan_number(&scan, &number) && number.is_shortest && !is_written(&number)) {
            printf("# %.*s\n", (int)number.size, text);
            return false;
        }
    }
    return shortest("0.75") && shortest("-0.0") && shortest("10.0") && shortest("0.0001") &&
           shortest("99999999999999.5") && !shortest("0.50") && !shortest("0.00001") &&
           !shortest("1e3") && !shortest("5");
}

static bool reads_numbers(void) {
    char text[80];
    for (int i = 0; i < NUMBERS; i++) {
        size_t size = number_text(text);
        struct json_scan scan = {text, text + size};
        struct json_number number;
        bool read = json_scan_number(&scan, &number) && scan.at == scan.end;
        json_t *value = json_read(text, size, "number", NULL);
        bool same = read ? same_number(value, &number) : value == NULL;
        json_decref(value);
        if (!same) {
            printf("# %.*s\n", (int)size, text);
            return false;
        }
    }
    return true;
}

/* ---- writing ---- */

static double some_double(void) {
    if (chance(2))
        return (double)chance(100000000) /
               (double[]){1, 10, 100, 1000, 1e5, 1e7, 1e9, 3}[chance(8)];
    unsigned long long bits = (unsigned long long)chance(1u << 31) << 33 ^
                              (unsigned long long)chance(1u << 31) << 2 ^ chance(4);
    double number;
    memcpy(&number, &bits, sizeof number);
    return isfinite(number) ? number : 0;
}

static bool same_digits(double number) {
    char expected[JSON_NUMBER_SIZE], written[JSON_NUMBER_SIZE];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(expected, sizeof expected, "%.*g", precision, number);
        if (strtod(expected, NULL) == number)
            break;
    }
    if (!strpbrk(expected, ".e"))
        strcat(expected, ".0");
    size_t size = json_write_real(written, number);
    bool same = size == strlen(expected) && memcmp(written, expected, size) == 0;
    if (!same)
        printf("# %s, not %.*s\n", expected, (int)size, written);
    return same;
}

static bool writes_numbers(void) {
    static const double edges[] = {0.0,
                                   -0.0,
                                   1.0,
                                   -1.0,
                                   1e-4,
                                   9.999e-5,
                                   1e15,
                                   1e14,
                                   1e16,
                                   99999999999999.9,
                                   999999999999999.0,
                                   0.1,
                                   0.5,
                                   1e-5,
                                   1.5e-4,
                                   5e-324,
                                   1e308,
                                   100.0,
                                   1e22,
                                   123.0,
                                   0.30000000000000004,
                                   12345678901234.5};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (!same_digits(edges[i]) || !same_digits(-edges[i]))
            return false;
    for (int i = 0; i < NUMBERS; i++)
        if (!same_digits(chance(2) ? some_double() : -some_double()))
            return false;
    return true;
}

static bool writes_whole(json_int_t number, const char *expected) {
    struct text text = {0};
    json_add_integer(&text, number);
    bool same = text.data && strcmp(text.data, expected) == 0;
    text_clear(&text);
    return same;
}

/* ---- keys ---- */

static bool finds_repeated(size_t count, size_t twice) {
    char names[100][12];
    struct json_key keys[100];
    for (size_t i = 0; i < count; i++) {
        int size = snprintf(names[i], sizeof names[i], "%s%zu", i % 2 ? "k" : "long-key-", i);
        keys[i] = json_key(names[i], (size_t)size);
    }
    if (twice)
        keys[twice] = json_key(names[0], strlen(names[0]));
    return json_keys_repeat(keys, count);
}

int main(void) {
    json_setup();
    check("numbers are read as jansson reads them", reads_numbers());
    check("numbers are written in their shortest form", writes_numbers());
    check("a number that is written in its shortest form is known as such", knows_shortest());
    check("whole numbers are written to the ends of 64 bits",
          writes_whole(INT64_MIN, "-9223372036854775808") &&
              writes_whole(INT64_MAX, "9223372036854775807") && writes_whole(0, "0") &&
              writes_whole(-10, "-10"));
    check("a key that is there twice is found among few and many",
          finds_repeated(2, 1) && finds_repeated(16, 15) && finds_repeated(99, 98));
    check("keys that differ do not repeat",
          !finds_repeated(0, 0) && !finds_repeated(16, 0) && !finds_repeated(99, 0));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
