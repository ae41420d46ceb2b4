#include "store/rules/place/mark.h"
#include <stdlib.h>

enum { SLOW = 5000, SLOW_ROW = 10 }; /* µs: of a page, and more for each of its rows */
enum { KEPT = 1000 };                /* ms */

static bool holds(const struct store *store) {
    const struct marks *marks = &store->marks;
    return marks->until && marks->placed == store->placed && clock_monotonic() < marks->until;
}

void marks_forget(struct store *store) {
    store->marks.until = 0;
    store->marks.count = 0;
}

void marks_judge(struct store *store, int64_t took, int rows) {
    if (holds(store))
        return;
    marks_forget(store);
    if (!store->self.steady || took < SLOW + (int64_t)rows * SLOW_ROW)
        return;
    store->marks.until = clock_monotonic() + KEPT;
    store->marks.placed = store->placed;
}

static struct mark *mark_kept(const struct store *store, int64_t stream) {
    const struct marks *marks = &store->marks;
    for (size_t i = 0; i < marks->count; i++)
        if (marks->list[i].stream == stream)
            return &marks->list[i];
    return NULL;
}

const struct mark *marks_find(const struct store *store, int64_t stream) {
    const struct mark *mark = holds(store) ? mark_kept(store, stream) : NULL;
    return mark && mark->passed ? mark : NULL;
}

/* The mark of the stream; NULL: no memory, or no marks are kept. */
static struct mark *mark_of(struct store *store, int64_t stream) {
    struct marks *marks = &store->marks;
    if (!marks->until)
        return NULL;
    struct mark *mark = mark_kept(store, stream);
    if (mark)
        return mark;
    struct mark *list = realloc(marks->list, (marks->count + 1) * sizeof *list);
    if (!list)
        return NULL;
    marks->list = list;
    list[marks->count] = (struct mark){.stream = stream};
    return &list[marks->count++];
}

void marks_pass(struct store *store, const struct cursor *cursor) {
    struct mark *mark = cursor->lane ? NULL : mark_of(store, cursor->stream);
    if (!mark || mark->stays)
        return;
    mark->passed = true;
    mark->rank = cursor->head.rank;
    mark->place = cursor->head.place;
    mark->id = cursor->head.id;
}

void marks_stay(struct store *store, const struct cursor *cursor) {
    struct mark *mark = mark_of(store, cursor->stream);
    if (mark)
        mark->stays = true;
}

const struct txn_hook marks_hook = {.drop = marks_forget};
