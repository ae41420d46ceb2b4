#include "base/calendar.h"
#include "base/clamp.h"
#include <stdio.h>

int64_t divide_down(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

/* Years are counted from March, in eras of 400 of them, so that the leap day ends its year. */
int64_t civil_to_days(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = divide_down(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void civil_from_days(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = divide_down(days, 146097), of_era = days - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

/* Writes the last digits of a number and what follows them; returns where that ends. */
static char *put_digits(char *text, int number, int count, char behind) {
    for (int at = count; at-- > 0; number /= 10)
        text[at] = (char)('0' + number % 10);
    text[count] = behind;
    return text + count + 1;
}

void time_format(time_ms time, char *text) {
    text[0] = 0;
    if (time == TIME_NONE)
        return;
    time = clamp(time, TIME_FIRST, TIME_LAST);
    int64_t days = divide_down(time, DAY_MS), year;
    int month, day, ms = (int)(time - days * DAY_MS);
    civil_from_days(days, &year, &month, &day);
    text = put_digits(text, (int)year, 4, '-');
    text = put_digits(text, month, 2, '-');
    text = put_digits(text, day, 2, 'T');
    text = put_digits(text, ms / 3600000, 2, ':');
    text = put_digits(text, ms / 60000 % 60, 2, ':');
    text = put_digits(text, ms / 1000 % 60, 2, '.');
    text = put_digits(text, ms % 1000, 3, 'Z');
    *text = 0;
}
