#include "time/schedule_policy.h"
#include "base/json.h"
#include <string.h>

#define CATCH_UP_MAX 10000

static bool read_overlap(const json_t *value, enum overlap *overlap, struct error *error) {
    static const char *const names[] = {"skip", "queue", "replace"};
    const char *text = json_string_value(value);
    for (int i = 0; text && i <= OVERLAP_REPLACE; i++)
        if (strcmp(text, names[i]) == 0) {
            *overlap = (enum overlap)i;
            return true;
        }
    return !value || json_is_null(value) ||
           json_refuse("overlap", value, "\"skip\", \"queue\" or \"replace\"", error);
}

/* A day counts 24 hours. */
static bool read_jitter(const json_t *value, time_ms *jitter, struct error *error) {
    struct span span;
    if (!value || json_is_null(value))
        return true;
    if (!span_from_json(value, "jitter", &span, error))
        return false;
    if (span.months)
        return json_refuse("jitter", value, "a duration without months", error);
    *jitter = time_add(span.ms, span.days < 3660 ? span.days * DAY_MS : 3660 * DAY_MS);
    return true;
}

static bool read_catch_up(const json_t *spec, int32_t *catch_up, struct error *error) {
    const json_t *value = json_object_get(spec, "catch_up");
    const char *misfire = json_string_value(json_object_get(spec, "misfire"));
    int64_t count = 0;
    if (!value || json_is_null(value))
        return true;
    if (!json_whole(value, 1, CATCH_UP_MAX, &count))
        return json_refuse("catch_up", value, "a whole number from 1 to 10000", error);
    if (!misfire || strcmp(misfire, "all") != 0)
        return error_set(error, ERROR_INVALID, "catch_up: expected misfire = \"all\" beside it");
    *catch_up = (int32_t)count;
    return true;
}

bool schedule_policy_read(const json_t *spec, struct schedule_policy *policy, struct error *error) {
    *policy = (struct schedule_policy){0};
    return read_overlap(json_object_get(spec, "overlap"), &policy->overlap, error) &&
           read_jitter(json_object_get(spec, "jitter"), &policy->jitter, error) &&
           read_catch_up(spec, &policy->catch_up, error);
}

bool schedule_policy_key(const char *key) {
    return strcmp(key, "overlap") == 0 || strcmp(key, "jitter") == 0 ||
           strcmp(key, "catch_up") == 0;
}

/* Bits that depend on each bit of the name and of the date. */
static uint64_t mix(const char *name, time_ms date) {
    uint64_t bits = (uint64_t)text_hash(name) + (uint64_t)date * UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

time_ms schedule_policy_delay(const struct schedule_policy *policy, const char *name,
                              const struct cycle *cycle, time_ms date) {
    time_ms room = policy->jitter;
    if (room <= 0)
        return 0;
    time_ms next = cycle_next(cycle, date);
    if (next != TIME_NEVER && next - date < room)
        room = next - date;
    return (time_ms)(mix(name, date) % (uint64_t)room);
}
