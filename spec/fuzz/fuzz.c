#include "fuzz.h"
#include "base/text.h"

const struct fuzz_row fuzz_targets[] = {
    {"alias", fuzz_alias},
    {"spec_fast", fuzz_spec_fast},
    {"cron", fuzz_cron},
    {"cycle", fuzz_cycle},
    {"head", fuzz_head},
    {"job_spec", fuzz_job_spec},
    {"filter", fuzz_filter},
    {"json", fuzz_json},
    {"lines", fuzz_lines},
    {"lua", fuzz_lua},
    {"command", fuzz_command},
    {"rate", fuzz_rate},
    {"retry", fuzz_retry},
    {"setting", fuzz_setting},
    {"settings", fuzz_settings},
    {"span", fuzz_span},
    {"text", fuzz_text},
    {"time", fuzz_time},
    {"tzif", fuzz_tzif},
    {"window", fuzz_window},
    {"xml", fuzz_xml},
    {"zone", fuzz_zone},
    {NULL, NULL},
};

fuzz_target *fuzz_find(const char *name) {
    for (const struct fuzz_row *row = fuzz_targets; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row->run;
    return NULL;
}

char *fuzz_copy(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    PROMISE(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

char *fuzz_line(char **rest) {
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    if (end)
        *end++ = 0;
    *rest = end;
    return line;
}

/* The number behind the last "(position ", or 0. */
static long position_of(const char *text) {
    static const char mark[] = "(position ";
    long position = 0;
    for (const char *at = text; (at = strstr(at, mark)); at++)
        position = strtol(at + sizeof mark - 1, NULL, 10);
    return position;
}

void fuzz_refusal(const struct error *error, const char *text) {
    size_t size = strlen(error->text);
    PROMISE(error->code != ERROR_NONE && error->code != ERROR_FAILED);
    PROMISE(size > 0 && size < sizeof error->text && utf8_valid(error->text, size, NULL));
    if (size + 4 < sizeof error->text) /* not cut */
        PROMISE(error->text[size - 1] != '.' && error->text[size - 1] != '\n');
    if (text && !strstr(text, "(position ") && strstr(error->text, "(position "))
        PROMISE(position_of(error->text) >= 1 &&
                position_of(error->text) <= (long)strlen(text) + 1);
}

const struct zone *fuzz_zone_named(const char *name) {
    static const char *const names[] = {
        "Europe/Berlin",     "Pacific/Apia",        "America/New_York", "Asia/Kathmandu",
        "Africa/Casablanca", "Australia/Lord_Howe", "Europe/Dublin"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return zone_find(name, NULL);
    return zone_find(NULL, NULL);
}

const time_ms fuzz_instants[] = {
    TIME_FIRST,
    TIME_FIRST + 1,
    INT64_C(-62135596800000), /* 0001-01-01 */
    -DAY_MS,
    -1,
    0,
    1,
    INT64_C(951782400000),  /* 2000-02-29 */
    INT64_C(1325066400000), /* Samoa is about to skip a day */
    INT64_C(1743296400000), /* clocks go forward in Europe */
    FUZZ_NOW,
    INT64_C(1792890000000), /* clocks go back in Europe */
    INT64_C(2147483648000), /* 2^31 seconds */
    INT64_C(4102444800000), /* 2100, no leap year */
    TIME_LAST - DAY_MS,
    TIME_LAST - 1,
    TIME_LAST,
};
const size_t fuzz_instant_count = sizeof fuzz_instants / sizeof *fuzz_instants;
