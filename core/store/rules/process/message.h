/* message.h - messages that are delivered with a unit (rules §23): each becomes a job of the
 * process that receives it, `process/<key>:command`. A message may be kept for a time until
 * something waits for it. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

#define KEPT_COLUMNS "id, name, key, instance, business_key, variables, created, until, job"

/* Refuses a message that nothing waits for and that is not to be kept (ERROR_NOT_FOUND), or for
 * which several wait (ERROR_CONFLICT, with the first of them). */
bool message_check(struct store *store, const struct unit_message *one, struct error *error);
/* Creates the job that gives the receiver the message, or keeps the message. Nothing may have
 * changed since the check. A message that may be kept is a row until the unit of that job is
 * written; of one that the unit has taken the row goes. */
bool message_deliver(struct store *store, const struct unit_message *one, time_ms now,
                     struct error *error);

/* Creates the job of an order that brings its message. */
bool message_order(struct store *store, struct store_order *order, time_ms now,
                   struct error *error);
/* An instance ends, or a token goes: the jobs that wait for it are about to be removed. What they
 * would bring is offered by messages_offer. */
bool messages_unbind(struct store *store, int64_t instance, int64_t running, struct error *error);
/* Gives what was unbound to whatever waits for it now; else it is kept for its time. */
bool messages_offer(struct store *store, time_ms now, struct error *error);

/* Gives a new subscription the oldest message that is kept for it. Its instance has its row. */
bool message_give(struct store *store, const struct unit_subscription *to, time_ms now,
                  struct error *error);
/* Removes kept messages whose time is over, at most *room, which is less by those. */
bool messages_clean(struct store *store, int64_t *room, time_ms now, struct error *error);
