/* forget.c - the history of a batch's jobs goes with it (rules §17). */
#include "store/rules/batch/batch.h"
#include "store/rules/record/history.h"

struct forgotten {
    int64_t job, seq; /* seq 0: of an attempt */
};

/* Everything that is known of a job that has ended. */
static bool forget_job(struct store *store, const struct forgotten *one, struct error *error) {
    return (!one->seq || history_remove(store, one->job, one->seq, error)) &&
           db_run(&store->db, error, "DELETE FROM attempt WHERE job=?1", "i", one->job) &&
           db_run(&store->db, error, "DELETE FROM line WHERE job=?1", "i", one->job) &&
           db_run(&store->db, error, "DELETE FROM snooze WHERE job=?1", "i", one->job) &&
           db_run(&store->db, error, "DELETE FROM incident WHERE job=?1 AND ended IS NOT NULL", "i",
                  one->job);
}

static int forget_read(struct store *store, struct row *rows, struct forgotten *list,
                       struct error *error) {
    int count = 0;
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        list[count++] = (struct forgotten){row_int(rows, 0), row_int(rows, 1)};
    return step == FAILED ? -1 : count;
}

bool batch_forget(struct store *store, int64_t batch, int limit, int *count, struct error *error) {
    struct forgotten list[1000];
    const int room = (int)(sizeof list / sizeof *list);
    int most = limit < room ? limit : room;
    *count = forget_read(store,
                         db_query(&store->db, error,
                                  "SELECT job, seq FROM ended WHERE batch=?1 LIMIT ?2", "in", batch,
                                  most),
                         list, error);
    if (*count == 0) /* levels of history that keep failures only */
        *count = forget_read(store,
                             db_query(&store->db, error,
                                      "SELECT DISTINCT job, 0 FROM attempt WHERE batch=?1 LIMIT ?2",
                                      "in", batch, most),
                             list, error);
    bool done = *count >= 0;
    for (int i = 0; done && i < *count; i++)
        done = forget_job(store, &list[i], error);
    return done;
}
