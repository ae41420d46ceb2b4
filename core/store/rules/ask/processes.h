/* processes.h - questions about processes: their versions, what runs, what waits, what was. */
#ifndef MOONSHIFT_STORE_RULES_ASK_PROCESSES_H
#define MOONSHIFT_STORE_RULES_ASK_PROCESSES_H

#include "store/rules/ground/kinds.h"
#include "store/rules/ground/state.h"

/* { id, version, rev, frame, parent, root, key, tenant, started }; null: it has ended. */
json_t *store_frame(struct store *store, int64_t id, struct error *error);
/* Of { id } or { key [, number | tag | deployment] } (none of these: the current one): { id, key,
 * number, kind, hash, deployment, path, text, current, suspended }. With text = false that is null:
 * a large file is not read. ERROR_NOT_FOUND. */
json_t *store_version(struct store *store, const json_t *question, struct error *error);
/* Where the instances of a process stand: { version, instances, suspended, at: [{ activity, state,
 * count }], incidents: [{ activity, count }] }. `version` is the number of the current one. Reads
 * the frame of each instance. ERROR_NOT_FOUND: there is no process of this key. */
json_t *store_standing(struct store *store, const char *key, struct error *error);

#endif
