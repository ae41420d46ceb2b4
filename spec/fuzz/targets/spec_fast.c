/* spec_fast.c - drafts read in short, from any text: what is taken is what jansson and json_write
 * make of it, and the job is the same. */
#include "../fuzz.h"
#include "base/json.h"
#include "job/job_spec.h"

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void same_payload(const struct job *a, const struct job *b) {
    PROMISE(!a->payload == !b->payload && a->payload_size == b->payload_size);
    PROMISE(!a->payload || memcmp(a->payload, b->payload, a->payload_size) == 0);
}

static void same_job(const struct job *a, const struct job *b) {
    const char *texts[][2] = {{a->handler, b->handler},   {a->lane, b->lane},
                              {a->instance, b->instance}, {a->root, b->root},
                              {a->activity, b->activity}, {a->tenant, b->tenant},
                              {a->category, b->category}, {a->repeat, b->repeat},
                              {a->term, b->term},         {a->unique_key, b->unique_key}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        PROMISE(same_text(texts[i][0], texts[i][1]));
    PROMISE(a->priority == b->priority && a->retries == b->retries && a->lane_id == b->lane_id &&
            a->exclusive == b->exclusive && a->due == b->due && a->type == b->type);
    same_payload(a, b);
}

static void same_spec(const struct job_spec *a, const struct job_spec *b) {
    same_job(&a->job, &b->job);
    PROMISE(same_text(a->zone, b->zone) && a->misfire == b->misfire && a->origin == b->origin &&
            a->starts == b->starts && a->unique_until == b->unique_until &&
            a->on_conflict == b->on_conflict && a->unchecked == b->unchecked &&
            a->priority_given == b->priority_given && a->retries_given == b->retries_given);
}

/* Both ways take it, or refuse it with the same words. */
static void same_draft(const struct spec_fast *fast, json_t *spec, const struct spec_rules *rules) {
    struct error one = {0}, other = {0};
    struct job_spec left, right;
    bool short_way = job_spec_fast(&left, fast, rules, FUZZ_NOW, &one);
    bool long_way = job_spec_read(&right, spec, rules, FUZZ_NOW, &other);
    PROMISE(short_way == long_way);
    if (short_way) {
        job_spec_define(&left, NULL, rules);
        job_spec_define(&right, NULL, rules);
        same_spec(&left, &right);
    } else
        PROMISE(strcmp(one.text, other.text) == 0);
    job_spec_clear(&left);
    job_spec_clear(&right);
}

void fuzz_spec_fast(const uint8_t *data, size_t size) {
    static const struct spec_rules rules = {
        .payload_max = 500, .retries = 3, .produce_priorities = true, .lane_of_root = true};
    char *room = malloc(size ? size * JSON_GROWTH : 1); /* of just its size, for the sanitizers */
    struct spec_fast fast = {0};
    size_t used = 0;
    PROMISE(room);
    if (size && spec_fast_read(&fast, (const char *)data, size, room, &used)) {
        struct error error = {0};
        json_t *spec = json_read_within((const char *)data, size, JSON_DEPTH + 1, "JSON", &error);
        PROMISE(used <= size * JSON_GROWTH && json_is_object(spec));
        same_draft(&fast, spec, &rules);
        json_decref(spec);
    }
    spec_fast_clear(&fast);
    free(room);
}
