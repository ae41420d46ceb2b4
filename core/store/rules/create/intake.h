/* intake.h - what the other verbs must know of jobs that are in no place yet (rules §1). */
#pragma once

#include "store/intake.h"
#include "store/rules/ground/row.h"

/* What a row of this table is. */
struct intake {
    int64_t id, reached, last, removed;
    bool released;
    bool bare; /* all of its jobs are (place_plain); not known of another program's */
};

/* ERROR_CONFLICT: it is gone. */
bool intake_load(struct store *store, int64_t id, struct intake *intake, struct error *error);

/* The rows behind `reached` that one step takes, by their ids: (reached, to]; *more: there may be
 * others. To count the rows would read each of their pages. */
bool intake_reach(struct store *store, const struct intake *intake, int rows, int64_t *to,
                  bool *more, struct error *error);
/* The rows up to `to` are dealt with; if there are no others the intake goes. */
bool intake_advance(struct store *store, const struct intake *intake, int64_t to, bool more,
                    struct error *error);

/* The next rows go, and are counted. */
bool intake_remove(struct store *store, struct intake *intake, bool *more, struct error *error);
/* The next rows get their places. */
bool intake_place(struct store *store, const struct intake *intake, bool *more, time_ms now,
                  struct error *error);
