/* subscription.h - what waits for events: tokens of instances, and start events of the current
 * versions (instance 0, the version as token). A row is found by kind, name and key. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"
#include "store/rules/process/turn.h"

#define SUBSCRIPTION_COLUMNS                                                                       \
    "instance, token, kind, name, key, version, activity, created, priority"
/* What waits for a message, and start events. */
#define RECEIVER(key)                                                                              \
    "s.instance, s.token, s.version, s.activity, s.key, " key " AS business, v.key AS process"
#define RECEIVER_COLUMNS RECEIVER("i.key")
#define STARTING_COLUMNS RECEIVER("CAST(NULL AS TEXT)")

bool subscription_write(struct store *store, const struct unit_subscription *one, time_ms now,
                        struct error *error);
/* Removes those of a token; token 0: of the whole instance. */
bool subscriptions_remove(struct store *store, int64_t instance, int64_t token,
                          struct error *error);
/* The token moves, and what waits for it. */
bool subscriptions_move(struct store *store, const struct unit_move *move, struct error *error);
bool subscriptions_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                                struct error *error);

/* Whom a message is for. Only the name must be said. */
struct message_to {
    const char *name, *key;   /* key NULL or "": only receivers of any key */
    int64_t instance;         /* 0: any */
    int64_t token;            /* of that instance; 0: any */
    const char *business_key; /* NULL: any */
    bool starts;              /* only start events, whatever waits */
};
/* What a question says; borrows its texts. */
struct message_to message_to_read(const json_t *question);
/* SQL: subscriptions for a message of that name and key, of which `which` is true. Each arm goes by
 * its key: a planner that takes the table for a small one leaves a list of keys to a filter. */
#define WAITING_FOR(name_, key_, which)                                                            \
    "SELECT * FROM subscription WHERE kind='message' AND name=" name_ " AND key='' AND " which     \
    " UNION ALL SELECT * FROM subscription WHERE kind='message' AND name=" name_ " AND key=" key_  \
    " AND " key_ "<>'' AND " which
/* The same of instances: of one, of those with a business key, or of all. A business key leads to
 * instances that wait at a few places each. Without `||''` a plan might go through all of a name.
 */
#define WAITING(name_, key_, instance_, business)                                                  \
    WAITING_FOR(name_, key_,                                                                       \
                "CAST(" business " AS TEXT) IS NULL AND instance BETWEEN CASE WHEN " instance_     \
                "=0 THEN 1 ELSE " instance_ " END AND CASE WHEN " instance_                        \
                "=0 THEN 9223372036854775807 ELSE " instance_ " END")                              \
    " UNION ALL SELECT w.* FROM instance b JOIN subscription w ON w.instance=b.id"                 \
    " WHERE b.key=CAST(" business " AS TEXT) AND (" instance_ "=0 OR b.id=" instance_ ")"          \
    " AND w.kind||''='message' AND w.name||''=" name_ " AND (w.key='' OR w.key=" key_ ")"
/* SQL: of subscriptions `s` with their instances `i`, those for which the message ?1 is: ?2 its
 * key, ?3 the instance, ?4 the token, ?5 the business key. */
#define RECEIVING(joined)                                                                          \
    " FROM (" WAITING("?1", "?2", "?3",                                                            \
                      "?5") ") AS s JOIN instance i ON i.id=s.instance " joined                    \
                            " WHERE (?4=0 OR s.token=?4) AND " OPEN_TOKEN("s.token")
/* SQL: the start events for it, ?3 0. */
#define STARTING " FROM (" WAITING_FOR("?1", "?2", "instance=0 AND ?3=0") ") AS s"
/* [{ instance, token, version, process, activity, key, business_key }]: those that wait; else the
 * start events of that name, with instance 0. At most a hundred. */
json_t *subscription_receivers(struct store *store, const struct message_to *to,
                               struct error *error);

/* The start events with a condition, of processes that are not suspended; `process` NULL: of any */
json_t *subscription_conditions(struct store *store, const char *process, struct error *error);

/* The same of many messages: a list of these lists. Only for an engine with `sets`. */
json_t *subscription_receivers_many(struct store *store, const struct message_to *to, size_t count,
                                    struct error *error);
