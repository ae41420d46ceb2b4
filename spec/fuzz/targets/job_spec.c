/* job_spec.c - jobs as JSON lines: what is taken can be stored as it is, what is refused says why.
 */
#include "job/job_spec.h"
#include "../fuzz.h"
#include "base/json.h"
#include "time/span.h"

static void name(const char *text) {
    PROMISE(!text || (*text && strlen(text) <= JOB_NAME_MAX));
}

static void storable(const struct job_spec *spec) {
    const struct job *job = &spec->job;
    const char *names[] = {job->lane,     job->instance,   job->root,   job->activity,
                           job->category, job->tenant,     job->repeat, spec->zone,
                           job->term,     job->unique_key, job->handler};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        name(names[i]);
    PROMISE(job->handler && job->retries >= 1 && job->attempt == 1);
    PROMISE(job->due == TIME_NONE || (job->due >= TIME_FIRST && job->due <= TIME_LAST));
    PROMISE(!job->repeat || job->due != TIME_NONE);
    PROMISE(spec->unique_until == TIME_NONE || spec->unique_until > FUZZ_NOW);
    PROMISE((job->lane_id != 0) == (job->lane && job->exclusive));
}

/* A job as users see it, from a copy of its own. */
static void shown(const struct job *job) {
    struct job *copy = job_copy(job);
    json_t *json = job_to_json(copy), *payload = json_object_get(json, "payload");
    PROMISE(json);
    if (job->payload) {
        json_t *given = json_read(job->payload, job->payload_size, "payload", NULL);
        PROMISE(given && json_equal(given, payload));
        json_decref(given);
    } else
        PROMISE(json_is_object(payload) && json_object_size(payload) == 0);
    json_decref(json);
    job_free(copy);
}

static void line(const char *text, const struct spec_rules *rules) {
    struct error error = {0};
    struct job_spec spec;
    json_t *object = json_read(text, strlen(text), "JSON", &error);
    if (!object) {
        fuzz_refusal(&error, NULL);
        return;
    }
    if (job_spec_read(&spec, object, rules, FUZZ_NOW, &error)) {
        job_spec_define(&spec, NULL, rules);
        PROMISE(spec.job.payload_size <= rules->payload_max);
        storable(&spec);
        shown(&spec.job);
        if (!job_spec_keyed(&spec, &error))
            fuzz_refusal(&error, NULL);
    } else
        fuzz_refusal(&error, NULL);
    job_spec_clear(&spec);
    json_decref(object);
}

void fuzz_job_spec(const uint8_t *data, size_t size) {
    static const struct spec_rules plain = {
        .payload_max = 1000, .retries = 3, .produce_priorities = true};
    static const struct spec_rules other = {.payload_max = 64,
                                            .retries = 1,
                                            .ensure_due_date = true,
                                            .lane_of_root = true,
                                            .schedule = true};
    char *text = fuzz_copy(data, size), *rest = text;
    for (char *at; (at = fuzz_line(&rest));) {
        line(at, &plain);
        line(at, &other);
    }
    free(text);
}
