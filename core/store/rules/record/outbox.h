/* outbox.h - see store/outbox.h (rules §1); and what the rest of the rules needs of it. */
#pragma once

#include "store/outbox.h"

#define INCIDENT_REFUSED_ROW "refusedRow" /* of the outbox, not of a job */

/* The incident is resolved: the row that it is about is tried again. */
bool outbox_try_again(struct store *store, int64_t incident, struct error *error);
