/* message.h - messages that are delivered with a unit (rules §23): each becomes a job of the
 * process that receives it, `process/<key>:command`. */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_MESSAGE_H
#define MOONSHIFT_STORE_RULES_PROCESS_MESSAGE_H

#include "job/unit.h"
#include "store/rules/state.h"

/* Refuses a message that nothing waits for (ERROR_NOT_FOUND), or for which several wait
 * (ERROR_CONFLICT, with the first of them). */
bool message_check(struct store *store, const struct unit_message *one, struct error *error);
/* Creates the job that gives the receiver the message. Nothing may have changed since the check. */
bool message_deliver(struct store *store, const struct unit_message *one, time_ms now,
                     struct error *error);

#endif
