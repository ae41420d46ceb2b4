/* processes.h - questions about processes: their versions, what runs, what waits, what was. */
#pragma once

#include "store/rules/ground/kinds.h"
#include "store/rules/ground/state.h"

/* True of an instance whose version is `v`: by itself, or with its process. */
#define BY_ITSELF(id)                                                                              \
    "EXISTS(SELECT 1 FROM suspended_instance h WHERE h.instance=CAST(" id " AS TEXT))"
#define BY_PROCESS                                                                                 \
    "(v.suspended&2<>0"                                                                            \
    " OR EXISTS(SELECT 1 FROM process h WHERE h.key=v.key AND h.suspended&2<>0))"
#define INSTANCE_SUSPENDED(id) "(" BY_ITSELF(id) " OR " BY_PROCESS ")"

/* Of an instance `i` and its version `v`: what frame_read takes. */
#define FRAME_COLUMNS                                                                              \
    "i.version, i.rev, i.frame, i.parent, i.root, i.key, i.tenant, i.started, v.key AS process,"   \
    " CASE WHEN " INSTANCE_SUSPENDED("i.id") " THEN 1 ELSE 0 END AS held"
#define FRAME_FROM " FROM instance i JOIN process_version v ON v.id=i.version WHERE i.id="
/* As store_frame; the columns begin at this one. NULL: no memory. */
json_t *frame_read(struct row *row, int from, int64_t id);

/* { id, version, rev, frame, parent, root, key, tenant, started }; null: it has ended. */
json_t *store_frame(struct store *store, int64_t id, int64_t token, struct error *error);
/* The same of the frame that an instance has itself, with `at` and more that frame_show adds. */
json_t *store_frame_places(struct store *store, int64_t id, struct error *error);
/* The same of the instance that a job belongs to, with the job's `token` in it. Null: of none. */
json_t *store_frame_of_job(struct store *store, int64_t job, struct error *error);
/* The same of many { instance, token, at }: a list. Only for an engine with `sets`. */
json_t *store_frames(struct store *store, const json_t *questions, struct error *error);
/* Of { id } or { key [, number | tag | deployment] } (none of these: the current one): { id, key,
 * number, kind, hash, deployment, path, text, current, suspended }. With text = false that is null:
 * a large file is not read. ERROR_NOT_FOUND. */
json_t *store_version(struct store *store, const json_t *question, struct error *error);
/* Where the instances of a process stand, `number` 0: of all its versions: { version, instances,
 * suspended, at: [{ activity, state, count }], incidents: [{ activity, count }] }. `version` is the
 * number of the current one. Reads the frame of each instance. ERROR_NOT_FOUND: there is no process
 * of this key. */
json_t *store_standing(struct store *store, const char *key, int64_t number, struct error *error);
