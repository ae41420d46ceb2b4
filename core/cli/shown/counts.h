/* counts.h - how many jobs there are, as people read it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Shows what is counted no further as "10000+". False: no memory. */
bool counts_show(json_t *counts);

/* Of each definition of `stats` that has, or had, any job: an object with its name, its counts and
 * its metrics. A new reference; NULL: no memory. */
json_t *counts_flat(const json_t *definitions);
