/* version.h - processes and their versions (rules §23). A version is one text of a process: the
 * same hash is the same version. New instances get the current one, and only that one has start
 * timers and start events. */
#pragma once

#include "store/rules/ground/state.h"

/* YES: the versions of the folder are current already. */
enum answer versions_known(struct store *store, const struct store_deployment *deployment,
                           struct error *error);
/* Makes the versions of a folder current: of each { key, hash, path, kind, tag, properties, timers,
 * events, history_time_to_live }. A text that is known makes no row: `current` goes back to
 * it. Start timers and start events follow; a timer with the same text keeps its date. Those of a
 * process that a folder of this name has no longer end. A timer of a process is { activity, text,
 * spec }, spec the keys of its job; an event { kind, name, key, activity }. */
bool versions_deploy(struct store *store, const struct store_deployment *deployment, int64_t id,
                     time_ms now, struct error *error);

/* How a process or a version of it is suspended: a mask. */
enum version_suspension { VERSION_ACTIVE = 0, VERSION_SUSPENDED = 1, VERSION_WITH_INSTANCES = 2 };

/* Suspends or activates a process, or one version of it by its number (0: the process). The catalog
 * is to be read again. ERROR_NOT_FOUND: there is none. */
bool version_suspend(struct store *store, const char *key, int64_t number, int how,
                     struct error *error);
/* YES: the instance is suspended with its process, or with the version of it. */
enum answer version_holds(struct store *store, int64_t instance, struct error *error);
