/* verify_texts.c - is every text JSON that is read as JSON? */
#include "base/json.h"
#include "store/rules/process/verify.h"
#include <string.h>

enum { PAGE = 500, SAY = 100 };

/* Columns that a program reads as JSON. */
static const struct {
    const char *sql, *subject, *says;
} texts[] = {
    {"SELECT id, variables FROM kept_message WHERE id>?1 AND variables IS NOT NULL"
     " ORDER BY id LIMIT ?2",
     "the variables of kept message", "are no JSON object"},
    {"SELECT id, properties FROM process_version WHERE id>?1 ORDER BY id LIMIT ?2",
     "the properties of process version", "are no JSON object"},
    {"SELECT id, properties FROM definition WHERE id>?1 ORDER BY id LIMIT ?2",
     "the properties of definition", "are no JSON object"},
    {"SELECT id, candidates FROM user_task WHERE id>?1 AND candidates IS NOT NULL"
     " ORDER BY id LIMIT ?2",
     "the candidates of task", "are no JSON object"},
    {"SELECT id, variables FROM past WHERE id>?1 AND variables IS NOT NULL ORDER BY id LIMIT ?2",
     "the variables of past instance", "are no JSON object"},
};

static bool is_fine(const char *text) {
    json_t *value = text ? json_read(text, strlen(text), "text", NULL) : NULL;
    bool fine = json_is_object(value);
    json_decref(value);
    return fine;
}

/* A page of rows behind *after; *count: how many it had. */
static bool texts_page(struct store *store, size_t which, int64_t *after, int *count, json_t *found,
                       struct error *error) {
    struct row *rows = db_query(&store->db, error, texts[which].sql, "in", *after, (int)PAGE);
    enum answer step = NO;
    for (*count = 0; (step = db_step(&store->db, rows, error)) == YES; (*count)++) {
        *after = row_int(rows, 0);
        if (!is_fine(row_text(rows, 1)) && json_array_size(found) < SAY)
            json_array_append_new(found, json_sprintf("%s %lld %s", texts[which].subject,
                                                      (json_int_t)*after, texts[which].says));
    }
    return step == NO;
}

bool texts_verify(struct store *store, json_t *found, struct error *error) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t after = INT64_MIN;
        int count = PAGE;
        while (count == PAGE)
            if (!texts_page(store, i, &after, &count, found, error))
                return false;
    }
    return true;
}
