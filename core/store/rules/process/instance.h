/* instance.h - instances of processes that live (rules §23): one row each, with a frame that says
 * all of them.
 *
 * rev tells the frames of an instance apart. It is the token of the run that has written the frame,
 * so no other frame ever gets it. A unit that was made from a frame that was never written finds no
 * instance with that rev. */
#pragma once

#include "job/outcome.h"
#include "job/unit.h"
#include "store/rules/ground/frames.h"

#define INSTANCE_COLUMNS "id, version, rev, root, parent, started, key, tenant, frame"

/* SQL: the first instance of a process that runs with this business key and this tenant. */
#define INSTANCE_TWIN(process, key, tenant)                                                        \
    "SELECT i.id FROM instance i JOIN process_version w ON w.id=i.version WHERE i.key=CAST(" key   \
    " AS TEXT) AND w.key=" process " AND (i.tenant=CAST(" tenant " AS TEXT) OR (i.tenant IS NULL"  \
    " AND CAST(" tenant " AS TEXT) IS NULL)) ORDER BY i.id LIMIT 1"

/* An instance that must be the only one of its process with the key; its twin is what has it, or 0.
 */
struct instance_key {
    int64_t version;
    const char *key, *tenant;
    int64_t twin;
};
/* Finds the twins of many. Only for an engine with `sets`. */
bool instance_twins(struct store *store, struct instance_key *keys, size_t count,
                    struct error *error);
/* Notes which units of a list begin instances that are alone: no other of the list has the key, and
 * none that runs. */
bool instances_alone(struct store *store, struct outcome *const *outcomes, size_t count,
                     struct error *error);
/* YES: it has a twin, and begins not. */
enum answer instance_twin(struct store *store, const struct unit_instance *one, int64_t *twin,
                          struct error *error);

/* The rev as the open transaction has it. NO: the instance has ended, or never was. */
enum answer instance_rev(struct store *store, int64_t id, int64_t *rev, struct error *error);
/* The same for a unit that minds this lane; *insisted: a run or a command insists on it. */
enum answer instance_rev_beside(struct store *store, int64_t id, int64_t lane, int64_t *rev,
                                bool *insisted, struct error *error);

/* Writes what a unit leaves of an instance that goes on. A new frame is written with the commit,
 * once for all units of the transaction. */
/* The version of one that migrates. */
bool instance_set_version(struct store *store, const struct unit_instance *one,
                          struct error *error);
bool instance_write(struct store *store, const struct unit_instance *one, int64_t rev,
                    struct error *error);
/* Removes the row of an instance that has ended. */
bool instance_remove(struct store *store, int64_t id, struct error *error);
