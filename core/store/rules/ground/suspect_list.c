#include "store/rules/ground/suspect_list.h"
#include "base/list.h"
#include <stdlib.h>

void suspects_clear(struct suspects *suspects) {
    free(suspects->list);
    *suspects = (struct suspects){0};
}

static bool add_one(struct suspects *suspects, int64_t job) {
    int64_t *list = list_room(suspects->list, suspects->count, sizeof *list);
    if (!list)
        return false;
    suspects->list = list;
    list[suspects->count++] = job;
    return true;
}

bool suspects_refresh(struct store *store, struct error *error) {
    struct suspects *suspects = &store->suspects;
    enum answer step = NO;
    if (suspects->version && suspects->version == store->meta.executors)
        return true;
    suspects_clear(suspects);
    struct row *rows = db_query(&store->db, error, "SELECT job FROM suspect ORDER BY job", "");
    while ((step = db_step(&store->db, rows, error)) == YES)
        if (!add_one(suspects, row_int(rows, 0)))
            return row_stop(rows) || db_no_memory(&store->db, error);
    if (step == NO)
        suspects->version = store->meta.executors;
    return step == NO;
}

static int by_id(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int64_t *suspects_at(const struct suspects *suspects, int64_t job) {
    return suspects->count ? bsearch(&job, suspects->list, suspects->count, sizeof job, by_id)
                           : NULL;
}

bool suspects_find(const struct store *store, int64_t job) {
    return suspects_at(&store->suspects, job) != NULL;
}
