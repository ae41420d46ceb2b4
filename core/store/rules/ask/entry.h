/* entry.h - from a row of the job log to an entry of it (rules §16). */
#pragma once

#include "store/rules/ground/state.h"

/* The columns behind those that every arm of the log has (LOG_COLUMNS in joblog.c). */
enum {
    ENTRY_INSTANCE = 15, /* then the root instance, activity, tenant, lane and schedule */
    ENTRY_RANK = 21,
    ENTRY_NTH,
    ENTRY_EDGE,
    ENTRY_ARM,
    ENTRY_PLACE,
    ENTRY_DEFINITION,
    ENTRY_HANDLER,
    ENTRY_DEPLOYMENT,
    ENTRY_CATEGORY,
    ENTRY_EXECUTOR,
    ENTRY_LINES
};

/* A new reference; NULL: no memory. */
json_t *entry_read(struct store *store, struct row *row, struct error *error);
