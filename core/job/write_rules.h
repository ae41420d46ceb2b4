/* write_rules.h - the settings that decide what is written. They are those of the program that asks
 * for it, also where another program writes it (rules §19).
 *
 * The list makes struct write_rules, the same members of struct settings, and what the mailbox
 * packs of them. A new setting that decides what is written is a line here, and a row of the table
 * in settings.c: the rules of the store read no other ones.
 *
 *   kind    PLAIN: its bytes; TEXT: a text; JSON: a value, owned
 *   type    of the member
 *   member  its name */
#pragma once

#include "base/clock.h"
#include <jansson.h>

enum history_level { HISTORY_NONE, HISTORY_FAILURES, HISTORY_FULL };

/* clang-format off */
#define WRITE_RULES(RULE)                                                                      \
    RULE(TEXT,  char *,             who)                /* in the operation log */             \
    RULE(PLAIN, enum history_level, history)                                                   \
    RULE(PLAIN, time_ms,            history_ttl)        /* of ended jobs; 0: kept for ever */  \
    RULE(PLAIN, bool,               incidents)                                                 \
    RULE(JSON,  json_t *,           notify)             /* who is told (notify.h); or NULL */  \
    RULE(PLAIN, time_ms,            notify_every)       /* of one cause, once in so long */    \
    RULE(PLAIN, int,                retries)                                                   \
    RULE(PLAIN, time_ms,            failed_job_wait)                                           \
    RULE(PLAIN, int,                crash_limit)                                               \
    RULE(PLAIN, bool,               ensure_due_date)                                           \
    RULE(PLAIN, bool,               produce_priorities)                                        \
    RULE(PLAIN, int64_t,            priority)           /* of jobs that get none */            \
    RULE(PLAIN, int64_t,            payload_max)        /* bytes */                            \
    RULE(TEXT,  char *,             zone)               /* of times that name none */          \
    RULE(PLAIN, bool,               lane_of_root)                                              \
    RULE(PLAIN, time_ms,            request_ttl)        /* of an answer kept under a key */
/* clang-format on */

#define WRITE_RULE_MEMBER(kind, type, member) type member;

struct write_rules {
    WRITE_RULES(WRITE_RULE_MEMBER)
};
