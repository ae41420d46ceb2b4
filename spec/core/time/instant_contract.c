/* instant_contract.c - instants as people write them, where clocks change: in a zone of the
 * settings and on any other wall (rules §14). */
#include "base/json.h"
#include "time/instant.h"
#include <stdio.h>
#include <string.h>

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static time_ms at(const char *iso) {
    time_ms time = TIME_NONE;
    time_parse(iso, &time, NULL);
    return time;
}

/* The text, read in a zone at an instant, is this instant; `exact` as expected. */
static bool reads(const char *zone, const char *now, const char *text, const char *expected,
                  bool exact) {
    struct wall wall = wall_of_zone(zone_find(zone, NULL));
    time_ms time = TIME_NONE;
    bool is = !exact;
    return instant_parse(text, &wall, at(now), &time, &is, NULL) && time == at(expected) &&
           is == exact;
}

static bool refuses(const char *text, const char *expected) {
    struct wall wall = wall_of_zone(zone_find(NULL, NULL));
    struct error error = {0};
    time_ms time = 7;
    return !instant_parse(text, &wall, 0, &time, NULL, &error) && error.code == ERROR_INVALID &&
           strstr(error.text, expected) && strstr(error.text, "such as \"") != NULL;
}

static void check_words(void) {
    const char *berlin = "Europe/Berlin", *before = "2026-03-28T22:30:00Z"; /* 23:30 there */
    check("now is now, and needs no zone",
          reads(berlin, before, "now", before, true) && reads(NULL, before, "now", before, true));
    check("days are those of the wall, not of UTC",
          reads(berlin, before, "today", "2026-03-27T23:00:00Z", false) &&
              reads(NULL, before, "today", "2026-03-28", false) &&
              reads(berlin, "2026-03-28T23:30:00Z", "today", "2026-03-28T23:00:00Z", false) &&
              reads(berlin, before, "yesterday 12:00", "2026-03-27T11:00:00Z", false));
    check(
        "a day's time is the one on the wall, though the clocks change in between",
        reads(berlin, before, "tomorrow 08:00", "2026-03-29T06:00:00Z", false) &&
            reads(berlin, "2026-10-24T12:00:00Z", "tomorrow 08:00", "2026-10-25T07:00:00Z", false));
    check("days from now keep the time of the day, hours are elapsed time",
          reads(berlin, before, "+1d", "2026-03-29T21:30:00Z", false) &&
              reads(berlin, before, "+24h", "2026-03-29T22:30:00Z", false) &&
              reads(berlin, before, "-1w", "2026-03-21T22:30:00Z", false) &&
              reads(berlin, before, "+P1M", "2026-04-28T21:30:00Z", false));
    check("a time that is skipped is the first after the gap, one that comes twice the first",
          reads(berlin, before, "2026-03-29 02:30", "2026-03-29T01:00:00Z", false) &&
              reads(berlin, before, "2026-10-25 02:30", "2026-10-25T00:30:00Z", false));
    check("a text with a zone is exact",
          reads(berlin, before, "2026-07-01T08:00Z", "2026-07-01T08:00:00Z", true) &&
              reads(berlin, before, "2026-07-01T08:00-05:00", "2026-07-01T13:00:00Z", true));
}

static void check_refusals(void) {
    check("what is no time is refused with examples",
          refuses("next week", "expected a time") && refuses("", "expected a time") &&
              refuses("Today", "expected a time") && refuses("-P1M", "months are not counted"));
    struct error error = {0};
    struct wall wall = wall_of_zone(zone_find(NULL, NULL));
    time_ms time;
    check("so is a time of the day that is none, and a duration of unclear months",
          !instant_parse("today 25:00", &wall, 0, &time, NULL, &error) &&
              strstr(error.text, "as in \"08:00\"") &&
              !instant_parse("+5M", &wall, 0, &time, NULL, &error) &&
              strstr(error.text, "P1M for months"));
}

static void check_format(void) {
    struct wall berlin = wall_of_zone(zone_find("Europe/Berlin", NULL));
    struct wall katmandu = wall_of_zone(zone_find("Asia/Kathmandu", NULL));
    struct wall york = wall_of_zone(zone_find("America/New_York", NULL));
    char text[3][INSTANT_TEXT_SIZE];
    instant_format(at("2026-07-01T06:00:00Z"), &berlin, text[0]);
    instant_format(at("2026-01-01T00:00:00.500Z"), &katmandu, text[1]);
    instant_format(at("2026-01-01T00:00:00Z"), &york, text[2]);
    check("an instant is shown with its offset",
          strcmp(text[0], "2026-07-01T08:00:00+02:00") == 0 &&
              strcmp(text[1], "2026-01-01T05:45:00.500+05:45") == 0 &&
              strcmp(text[2], "2025-12-31T19:00:00-05:00") == 0);
}

static void check_settle(void) {
    const struct zone *berlin = zone_find("Europe/Berlin", NULL);
    json_t *command =
        json_pack("{ss,ss,s{ss,ss},ss}", "due", "tomorrow 08:00", "removal_time", "never", "query",
                  "created_after", "-1h", "handler", "today", "at", "2026-01-01");
    struct error error = {0};
    json_t *before = json_deep_copy(command);
    json_t *found = instants_resolve(command, berlin, at("2026-07-01T12:00:00Z"), &error);
    json_t *expected =
        json_pack("{ss,ss,s{ss,ss},ss}", "due", "2026-07-02T06:00:00.000Z", "removal_time", "never",
                  "query", "created_after", "2026-07-01T11:00:00.000Z", "handler", "today", "at",
                  "2025-12-31T23:00:00.000Z");
    check("commands and filters get instants where they hold times, and nowhere else",
          json_equal(found, expected));
    check("and the object that was given stays as it is", json_equal(command, before));
    json_decref(command);
    json_decref(before);
    json_decref(found);
    json_decref(expected);
    command = json_pack("{ss}", "due", "2026-02-30");
    check("a date that is none is refused by its key",
          !instants_resolve(command, berlin, 0, &error) &&
              strncmp(error.text, "due: time \"2026-02-30\": day 30 is not in month 02", 48) == 0);
    json_decref(command);
}

int main(void) {
    check_words();
    check_refusals();
    check_format();
    check_settle();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
