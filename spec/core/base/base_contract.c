/* base_contract.c - what the words everybody uses promise in C, beyond what Lua can ask them. */
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "job/job.h"
#include "job/job_spec.h"
#include "job/outcome.h"
#include "job/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static bool cleans(const char *data, size_t size, size_t max, const char *expected) {
    char *clean = utf8_clean(data, size, max);
    bool same = clean && strcmp(clean, expected) == 0;
    free(clean);
    return same;
}

static bool shows(const char *words, const char *expected) {
    struct text text = {0};
    text_add_visible(&text, words, "\n");
    bool same = text.data && strcmp(text.data, expected) == 0;
    text_clear(&text);
    return same;
}

static bool grows(void) {
    struct text text = {0};
    char expected[1000] = "";
    for (int i = 0; i < 200; i++) {
        text_add(&text, "%d,", i);
        sprintf(expected + strlen(expected), "%d,", i);
    }
    bool same = text.size == strlen(expected) && strcmp(text.data, expected) == 0;
    text_clear(&text);
    return same;
}

static void check_text(void) {
    size_t bad = 0;
    check("overlong forms, surrogates and stray bytes are not UTF-8",
          !utf8_valid("\xC0\x80", 2, NULL) && !utf8_valid("\xE0\x80\x80", 3, NULL) &&
              !utf8_valid("\xED\xA0\x80", 3, NULL) && !utf8_valid("\xF4\x90\x80\x80", 4, NULL) &&
              !utf8_valid("\x80", 1, NULL) && !utf8_valid("\xE2\x82", 2, NULL));
    check("the first bad byte is named", !utf8_valid("ab\xFF", 3, &bad) && bad == 2);
    check("cleaning replaces bad bytes and zero bytes",
          cleans("a\xFF\0z", 4, 100, "a\xEF\xBF\xBD\xEF\xBF\xBDz"));
    check("cleaning cuts at a character's edge",
          cleans("ab\xE2\x82\xAC", 5, 4, "ab") && cleans("ab", 2, 1, "a") && cleans("", 0, 0, ""));
    check("cleaning takes good text up to the last byte that is allowed",
          cleans("a longer text\xFF and on", 21, 100, "a longer text\xEF\xBF\xBD and on") &&
              cleans("a longer text", 13, 12, "a longer tex") &&
              cleans("abc\xF0\x9F\x98\x80", 7, 6, "abc") &&
              cleans("abc\xFF"
                     "defghijkl",
                     13, 7,
                     "abc\xEF\xBF\xBD"
                     "d") &&
              cleans("abc\xFF", 4, 5, "abc"));
    check("a text grows by what is formatted", grows());
    check("what steers a terminal is spelled out between what does not",
          shows("one\x1B two\n\xE2\x80\xAE\xC3\xA9", "one\\u001b two\n\\u202e\xC3\xA9"));
    check("a prefix counts characters", utf8_prefix("a\xE2\x82\xACz", 2) == 4 &&
                                            utf8_prefix("ab", 9) == 2 && utf8_prefix("", 1) == 0);
    check("C0, DEL and C1 are control characters",
          utf8_has_control("a\n") && utf8_has_control("\x7F") && utf8_has_control("\xC2\x85") &&
              !utf8_has_control("\xC2\xA0 \xC3\xA9"));
}

static void check_error(void) {
    struct error error = {0};
    char large[4000];
    error_set(&error, ERROR_INVALID, "key \"%s\"", "a\xFF z");
    check("an error's text is UTF-8 whatever it quotes", strcmp(error.text, "key \"a? z\"") == 0);
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    memcpy(large + 2045, "\xE2\x82\xAC", 3);
    error_set(&error, ERROR_INVALID, "%s", large);
    check("an error that is too long ends with a whole character", strlen(error.text) == 2045);
    error_set(&error, ERROR_FULL, "store: %s", "full");
    error_set(&error, error.code, "%s", error.text);
    check("an error may quote itself", strcmp(error.text, "store: full") == 0);
    check("an error may be left out", !error_set(NULL, ERROR_IO, "x"));
}

static void check_job(void) {
    char handler[] = "work", payload[] = {'{', '}'};
    struct job job = {.handler = handler, .payload = payload, .payload_size = 2, .id = 7};
    job.next = &job;
    struct job *copy = job_copy(&job);
    handler[0] = payload[0] = 'x';
    check("a copy has its own texts and stands alone",
          copy && strcmp(copy->handler, "work") == 0 && memcmp(copy->payload, "{}", 3) == 0 &&
              !copy->lane && !copy->next && copy->id == 7);
    json_t *damaged = job_to_json(&job);
    check("a damaged payload is shown as the text it is",
          strcmp(json_string_value(json_object_get(damaged, "payload")), "x}") == 0);
    json_decref(damaged);
    check("lane ids are positive and tell lanes apart",
          job_lane_id("") > 0 && job_lane_id("a") > 0 && job_lane_id("a") != job_lane_id("b") &&
              job_lane_id("a") == job_lane_id("a"));
    outcome_free(outcome_new(copy, OUTCOME_SUCCESS));
}

static void check_job_spec(void) {
    char zone[] = "UTC";
    struct job_spec spec = {.job.handler = "work", .zone = zone, .unique = zone, .next = &spec};
    struct job_spec *copy = job_spec_copy(&spec);
    zone[0] = 'x';
    check("a copy of a spec has what only a creator says, and stands alone",
          copy && strcmp(copy->zone, "UTC") == 0 && strcmp(copy->job.handler, "work") == 0 &&
              !copy->next && !copy->job.schedule && !copy->unique);
    job_spec_free_list(copy);
}

static void check_clock(void) {
    struct outcome outcome = {0};
    struct clock *clock = clock_virtual_new(5);
    clock_advance(clock, 10);
    check("a virtual clock moves when it is told to", clock_now(clock) == 15);
    clock_advance(clock, INT64_MAX);
    check("a virtual clock stops short of never", clock_now(clock) < TIME_NEVER);
    clock_advance(clock_system(), INT64_MAX);
    check("the system's clock does not listen", clock_now(clock_system()) < clock_now(clock));
    clock_release(clock_retain(clock));
    clock_release(clock);
    clock = clock_real_new();
    time_ms off = clock_now(clock) - clock_now(clock_system());
    check("a new clock is as the system's", off >= 0 && off < 60000);
    clock_follow(clock, 5 - clock_since_boot(), 20);
    check("a clock that follows another machine's has its time",
          clock_now(clock) >= 5 && clock_now(clock) < 60005);
    check("such a clock goes on by itself", !clock_is_virtual(clock));
    outcome_end(&outcome, clock);
    check("a delay is counted from the latest time that the end of a run can be",
          outcome.ended >= 5 && outcome.ended < 60005 && outcome.ended_by == outcome.ended + 20);
    outcome_end(&outcome, clock_system());
    check("which is the time itself where the clock is this machine's",
          outcome.ended > 1005 && outcome.ended_by == outcome.ended);
    clock_release(clock);
}

static char line[4096];

static void keep(void *arg, const char *text) {
    (void)arg;
    snprintf(line, sizeof line, "%s", strstr(text, "level") ? strstr(text, "level") : text);
}

static void check_log(void) {
    log_sink(keep, NULL);
    log_event(LOG_ERROR, "silent", "");
    check("the log is silent until it is configured", line[0] == 0);
    log_configure(LOG_LOGFMT, LOG_INFO);
    log_event(LOG_INFO, "job failed", "job:l handler:s none:s why:s due:t", INT64_C(7), "a/b", NULL,
              "said \"no\"\n\xFF", (time_ms)0);
    check("a line of logfmt quotes what is not a bare word",
          strcmp(line, "level=info event=\"job failed\" job=7 handler=a/b "
                       "why=\"said \\\"no\\\"\\n\xEF\xBF\xBD\" due=1970-01-01T00:00:00.000Z") == 0);
    line[0] = 0;
    log_event(LOG_DEBUG, "detail", "");
    check("a line below the level is not written", line[0] == 0);
    log_configure(LOG_JSON, LOG_INFO);
    log_event(LOG_WARN, "slow", "job:l tries:d", INT64_C(7), 2);
    check("a line of JSON keeps the order",
          strcmp(line, "level\":\"warn\",\"event\":\"slow\",\"job\":7,\"tries\":2}") == 0);
    log_configure(LOG_OFF, LOG_INFO);
    log_sink(NULL, NULL);
}

static void check_settings(void) {
    struct settings settings;
    struct error error = {ERROR_NONE, ""};
    check("the defaults hold together",
          settings_init(&settings, &error) && settings_check(&settings, &error));
    settings_apply_text(&settings, ORIGIN_FLAG, "lock_time", "PT1S", &error);
    settings_apply_text(&settings, ORIGIN_ENVIRONMENT, "lock_time", "PT9S", &error);
    check("a stronger origin stays", settings.lock_time == 1000);
    check("a value is refused in the words of its origin",
          !settings_apply_text(&settings, ORIGIN_FLAG, "lock_time", "soon", &error) &&
              error.code == ERROR_USAGE && strncmp(error.text, "--lock-time: ", 13) == 0);
    check("what was refused changes nothing", settings.lock_time == 1000);
    settings_clear(&settings);
}

int main(void) {
    json_setup();
    check_text();
    check_error();
    check_job();
    check_job_spec();
    check_clock();
    check_log();
    check_settings();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
