/* mark.h - how far the ready jobs of a stream have been taken, while they are read slowly.
 *
 * A server keeps what was deleted as long as somebody may still look at it, such as a backup. What
 * has left `ready` then stands before what is left, and each page reads over it again. So, once a
 * page was slow, the next ones begin behind the last job that was taken: for a second at most, and
 * not after anything became ready here or the bell rang. Meanwhile a better job that another
 * process creates may wait. Under a virtual clock nothing waits so. */
#pragma once

#include "store/rules/place/merge.h"

/* A page of so many rows took so many microseconds. */
void marks_judge(struct store *store, int64_t took, int rows);
/* The last job that was taken of the stream; NULL: its first one is to be read. */
const struct mark *marks_find(const struct store *store, int64_t stream);
/* The job at this cursor has left `ready`; or it stays there. */
void marks_pass(struct store *store, const struct cursor *cursor);
void marks_stay(struct store *store, const struct cursor *cursor);
void marks_forget(struct store *store);
extern const struct txn_hook marks_hook; /* what was taken is back after a rollback */
