/* subscription.h - what waits for events: tokens of instances, and start events of the current
 * versions (instance 0, the version as token). A row is found by kind, name and key. */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_SUBSCRIPTION_H
#define MOONSHIFT_STORE_RULES_PROCESS_SUBSCRIPTION_H

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
/* SQL: of subscriptions `s` with their instances `i`, those for which the message ?1 is: ?2 its
 * key, ?3 the instance, ?4 the token, ?5 the business key. */
#define RECEIVING(joined)                                                                          \
    " FROM subscription s JOIN instance i ON i.id=s.instance " joined " WHERE s.kind='message'"    \
    " AND s.name=?1 AND s.key IN ('', ?2) AND s.instance>0 AND (?3=0 OR s.instance=?3)"            \
    " AND (?4=0 OR s.token=?4) AND (i.key=?5 OR CAST(?5 AS TEXT) IS NULL) AND " OPEN_TOKEN(        \
        "s.token")
/* [{ instance, token, version, process, activity, key, business_key }]: those that wait; else the
 * start events of that name, with instance 0. At most a hundred. */
json_t *subscription_receivers(struct store *store, const struct message_to *to,
                               struct error *error);

/* The same of many messages: a list of these lists. Only for an engine with `sets`. */
json_t *subscription_receivers_many(struct store *store, const struct message_to *to, size_t count,
                                    struct error *error);

#endif
