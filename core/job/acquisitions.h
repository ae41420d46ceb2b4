/* acquisitions.h - named acquisitions: settings of the search for jobs that several engines of an
 * executor share, as { slow = { page = 8, wait = "PT30S" } } (rules §13, §19). */
#pragma once

#include "job/settings.h"

/* Keeps a copy of `value` (null: none) in place of what *field holds. False: not a table of tables,
 * or one of them has a setting that is unknown, wrong, or no matter of acquisition. */
bool acquisitions_set(json_t **field, const json_t *value, struct error *error);

/* Makes `settings` those of one engine of an executor whose own are `executor` (may be the same).
 * The executor's name, workers, queue, keep_alive and shutdown_wait take the place of the engine's.
 * The values of the acquisition that the engine names win over the engine's own moonshift.lua.
 * False: it names one that is not declared. */
bool acquisitions_apply(struct settings *settings, const struct settings *executor,
                        struct error *error);
