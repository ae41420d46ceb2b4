/* turn.h - bodies of multi-instance activities whose turns stand outside of the frame of their
 * instance, each with a row and a frame of its own (rules §23).
 *
 * A body that is closed has no turn that goes on. What its turns have goes behind, a page at a
 * time: a job walks each page, which ends the instances that the turns have called. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

/* True for a token that is in the frame of its instance, or of a turn whose body is open. */
#define OPEN_TOKEN(token)                                                                          \
    "(" token ">=0 OR (SELECT ob.closed FROM body ob WHERE ob.id="                                 \
    "(SELECT ot.body FROM body_turn ot WHERE ot.id=(-" token ")>>20))=0)"

/* The body of `body_turn t`, if it is open. A join would leave it to a planner to look through all
 * bodies for that of a turn. */
#define OPEN_BODY(column) "(SELECT ob." column " FROM body ob WHERE ob.id=t.body AND ob.closed=0)"

enum { TURNS_AT_ONCE = 200 }; /* that one unit clears */

/* The rev of a turn as the open transaction has it. NO: it has ended, or its body is closed. */
enum answer body_turn_rev(struct store *store, int64_t id, int64_t *rev, struct error *error);
/* Writes a turn, or removes the row of one that has ended. */
bool body_turn_write(struct store *store, const struct unit_turn *one, int64_t rev,
                     struct error *error);

/* NO: other turns have ended since the unit has read how many did. */
enum answer body_guard(struct store *store, const struct unit_body *one, struct error *error);
/* Makes the row of a body, counts turns that have ended, closes it or clears a page of it. */
bool body_write(struct store *store, const struct unit_body *one, time_ms now, struct error *error);

/* The counts are written before the commit. A body whose turns have all ended gets the job that
 * leaves it. */
extern const struct txn_hook bodies_hook;
