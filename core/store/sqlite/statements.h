/* statements.h - what the rules ask in SQLite's own words. */
#ifndef MOONSHIFT_STORE_SQLITE_STATEMENTS_H
#define MOONSHIFT_STORE_SQLITE_STATEMENTS_H

#include "store/rules/ask/verify.h"
#include "store/rules/engine.h"

extern const struct store_sql sqlite_sql;
extern const struct verify_rule sqlite_verify[];

#endif
