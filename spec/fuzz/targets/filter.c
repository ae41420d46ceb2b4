/* filter.c - questions to a store: { kind: { filters, sort, … } } is answered or refused, and never
 * becomes SQL that SQLite cannot read. Another "job" beside it must not change the answer. */
#include "../fuzz.h"
#include "base/json.h"
#include "store/batch.h"
#include "store/store.h"

static struct store *store;

static void open_store(void) {
    static struct settings settings;
    struct error error = {0};
    static const char payload[] = "{\"a\":[1,{\"b\":\"x\"}]}";
    struct job_spec spec = {.job = {.handler = "work",
                                    .due = TIME_NONE,
                                    .retries = 3,
                                    .lane = "lane",
                                    .payload = payload,
                                    .payload_size = sizeof payload - 1}};
    PROMISE(settings_init(&settings, &error));
    store = store_open("sqlite::memory:", STORE_CREATE, &settings, &error);
    PROMISE(store && store_create(store, &spec, 0, FUZZ_NOW, &error));
}

static void question(const char *name, json_t *asked) {
    struct error error = {0};
    enum ask_kind kind = store_ask_find(name);
    if (kind == ASK_KINDS)
        return;
    json_t *answer = store_ask(store, kind, asked, FUZZ_NOW, &error);
    if (answer)
        PROMISE(!store_ask_table(kind)->columns || json_is_array(answer));
    else
        fuzz_refusal(&error, NULL);
    json_decref(answer);
}

/* As many as are counted are listed, of one job. */
static void counted(const json_t *filters) {
    struct error error = {0};
    int64_t count = -1;
    json_t *jobs = store_jobs(store, filters, NULL, FUZZ_NOW, &error);
    bool fine = store_jobs_count(store, filters, FUZZ_NOW, &count, &error);
    PROMISE(fine == (jobs != NULL));
    PROMISE(!fine || (count >= 0 && count <= 1 && (size_t)count == json_array_size(jobs)));
    json_decref(jobs);
}

void fuzz_filter(const uint8_t *data, size_t size) {
    const char *kind;
    json_t *asked, *object = json_read((const char *)data, size, "question", NULL);
    if (!store)
        open_store();
    json_object_foreach(object, kind, asked) {
        question(kind, asked);
        counted(json_object_get(asked, "filters"));
    }
    json_decref(object);
}
