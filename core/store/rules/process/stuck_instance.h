/* stuck_instance.h - instances in which a token waits for what can never come (rules §23): each has
 * an open incident as long as this is so. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

#define INCIDENT_INSTANCE_STUCK "instanceStuck"

/* True for the instance i that waits for neither job, task, message, trigger, condition nor called
 * one. */
#define WAITS_FOR_NOTHING                                                                          \
    "(NOT EXISTS(SELECT 1 FROM live j WHERE j.instance_id=i.id)"                                   \
    " AND NOT EXISTS(SELECT 1 FROM user_task u WHERE u.instance=i.id)"                             \
    " AND NOT EXISTS(SELECT 1 FROM subscription s WHERE s.instance=i.id)"                          \
    " AND NOT EXISTS(SELECT 1 FROM instance c WHERE c.parent=i.id)"                                \
    " AND NOT EXISTS(SELECT 1 FROM body b WHERE b.instance=i.id)"                                  \
    " AND i.frame NOT LIKE '%,\"trigger\"%' AND i.frame NOT LIKE '%,\"condition\"%'"               \
    " AND i.frame NOT LIKE '%,\"on condition\"%')"

/* True for the instance i while nothing moves it: it has an open incident of this kind, or waits
 * for nothing. */
#define STUCK_INSTANCE                                                                             \
    "(EXISTS(SELECT 1 FROM incident n WHERE n.instance_id=i.id AND n.ended IS NULL"                \
    " AND n.type='" INCIDENT_INSTANCE_STUCK "') OR " WAITS_FOR_NOTHING ")"

/* Opens one at the activity one->stuck, unless the instance has one. */
bool stuck_instance_open(struct store *store, const struct unit_instance *one, const char *message,
                         time_ms now, struct error *error);
bool stuck_instance_close(struct store *store, int64_t instance, time_ms now, struct error *error);

/* Opens or ends it, as the unit says. The row of the instance is written already. One that a look
 * has opened (clean/strays.c) ends with the instance, or with a later look. */
bool stuck_instance_note(struct store *store, const struct unit_instance *one, time_ms now,
                         struct error *error);

/* The same of a turn outside of the frame: the incident is that of its instance. */
bool stuck_turn_note(struct store *store, const struct unit_turn *one, time_ms now,
                     struct error *error);
