/* unit_rows.h - the rows that units of instances write and remove (rules §23), many at a time.
 *
 * Where a statement costs more than its row (store_engine.sets), rows are kept until the commit, or
 * until a statement names one of their tables (db.keeps). Then each kind is one statement, in the
 * order of enum unit_rows. A row that must come behind one that is kept for later in that order
 * has all written before it. Elsewhere each row is a statement at once. */
#ifndef MOONSHIFT_STORE_RULES_RECORD_UNIT_ROWS_H
#define MOONSHIFT_STORE_RULES_RECORD_UNIT_ROWS_H

#include "store/rules/ground/state.h"
#include "store/rules/ground/txn_hook.h"

/* Runs a statement for one row, as db_run does, or keeps its row: the letters are i, z, T, t or d,
 * and texts are copied. The first value is the instance; of some kinds the second one says which of
 * its rows it is (see kinds in unit_rows.c). */
bool unit_row(struct store *store, struct error *error, enum unit_rows kind, const char *sql,
              const char *letters, ...);

void unit_rows_clear(struct store *store);

extern const struct txn_hook unit_rows_hook;

#endif
