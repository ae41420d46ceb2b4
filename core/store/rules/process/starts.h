/* starts.h - what begins instances by itself (rules §23): start timers and start events of the
 * current version of a process. The job of a start timer has no instance; its execution is the
 * version. */
#pragma once

#include "store/rules/ground/state.h"

struct starts {
    const char *key;
    int64_t from, to; /* versions; from 0: the process is new */
    int64_t deployment;
    const json_t *process; /* as it is declared: { timers, events } */
    const struct store_deployment *of;
};

/* Timers and events become those of the version `to`. A timer whose text is the same stays as it
 * is, with its date. */
bool starts_move(struct store *store, const struct starts *starts, time_ms now,
                 struct error *error);

/* Ends those of a version whose process the folder has no longer. Its instances go on. */
bool starts_end(struct store *store, const char *key, int64_t version, time_ms now,
                struct error *error);
/* True if the process declares some, and the version has been kept without any. */
bool starts_lack(struct store *store, const json_t *process, int64_t version);
/* What is kept of a version beside its text: { timers, events, … }. A new reference, or NULL. */
json_t *starts_kept(struct store *store, int64_t version);
