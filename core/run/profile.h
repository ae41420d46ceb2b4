/* profile.h - what an executor tells the others about itself (rules §13): the gap watch, `executor
 * list` and the search for missing handlers read it in the store. */
#ifndef MOONSHIFT_RUN_PROFILE_H
#define MOONSHIFT_RUN_PROFILE_H

#include "base/acquire.h"
#include "base/settings.h"

/* { handlers: [names] (absent: any), acquisition, queue, workers }. A new reference; NULL: no
 * memory. */
json_t *profile_new(const struct settings *settings, const struct acquire *serves, int workers);

#endif
