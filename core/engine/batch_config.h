/* batch_config.h - the config of a batch that gives a command to instances (rules §17): what can be
 * known to be wrong before the first is looked at. */
#pragma once

#include "base/error.h"
#include "job/instance_batch.h"
#include <jansson.h>

/* True if each instance can be given the config as its command; NULL: none was given.
 * ERROR_INVALID names an unknown key with "did you mean", what is missing, a value of another type,
 * or all that is wrong with the operations. */
bool batch_config_check(const struct instance_batch *type, const json_t *config,
                        struct error *error);
