/* notify.h - the setting `notify`: which handlers are told of what, { incident =
 * "alerts/incident" }, as a flag "incident=alerts/incident" (rules §10). */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* *field becomes a copy, NULL where no handler is told. `label` is what an error calls the setting.
 */
bool notify_set(json_t **field, const json_t *value, const char *label, struct error *error);

/* The handler that is told of incidents, or NULL. */
const char *notify_incident(const json_t *notify);
