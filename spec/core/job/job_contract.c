/* job_contract.c - a job as text is its JSON object, written. */
#include "base/json.h"
#include "job/job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static bool same(const struct job *job) {
    struct text text = {0};
    json_t *object = job_to_json(job);
    char *whole = json_write(object, NULL);
    text_push(&text, "{", 1);
    job_write(job, &text);
    text_push(&text, "}", 1);
    bool equal = whole && text.data && strcmp(whole, text.data) == 0;
    if (!equal)
        printf("# %s\n# %s\n", whole ? whole : "?", text.data ? text.data : "?");
    text_clear(&text);
    free(whole);
    json_decref(object);
    return equal;
}

/* What every row has. */
static struct job plain(void) {
    return (struct job){
        .id = 7, .handler = "topic/ocr", .due = TIME_NONE, .created = 1790000000123, .retries = 3};
}

static void fields_are_same(void) {
    struct job job = plain();
    check("a plain job", same(&job));
    job.due = -1;
    job.priority = INT64_MIN;
    job.lane = "a \"lane\"\n\\ \x01 \xc3\xa4";
    job.message = "";
    job.token = INT64_MAX;
    job.type = JOB_TIMER;
    job.exclusive = true;
    check("one with escapes, bounds and a date before the epoch", same(&job));
    job = plain();
    job.state = JOB_DEAD;
    job.attempt = 4;
    job.suspended = 3;
    check("a dead and suspended one", same(&job));
    job = plain();
    job.instance_id = 12;
    job.lane_id = job_instance_lane(12);
    check("one with the lane of its instance", same(&job));
}

static void payloads_are_same(void) {
    static const char *const payloads[] = {
        "{}",
        "null",
        "[1,2.5,\"x\"]",
        " { \"a\" : [ 1 , 1e14 , 0.1, -0 ] } ",
        "\"\\u00e4 \\/ \\ud83d\\ude00\"",
        "{\"broken\":",
        "no JSON \x80 at all",
        "",
        "{\"a\":1} {}",
        "0.1000000000000000055511151231257827021181583404541015625000000000000000000000000000000",
    };
    struct job job = plain();
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        job.payload = payloads[i];
        job.payload_size = strlen(payloads[i]);
        check(payloads[i], same(&job));
    }
}

int main(void) {
    json_setup();
    fields_are_same();
    payloads_are_same();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
