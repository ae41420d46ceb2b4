/* asked.h - what has been asked of the server, for contracts that compare few with many. */
#ifndef MOONSHIFT_SPEC_STORE_POSTGRES_ASKED_H
#define MOONSHIFT_SPEC_STORE_POSTGRES_ASKED_H

#include "../../contract.h"
#include "store/postgres/db/connection.h"

/* waits 0: what was to be asked has failed. */
struct asked {
    int64_t waits, statements;
};

static inline struct asked asked_now(struct contract *c) {
    const struct session *session = &postgres_of(c->store)->session;
    return (struct asked){session->waits, session->statements};
}

static inline struct asked asked_since(struct contract *c, struct asked before, bool done) {
    const struct asked now = asked_now(c);
    const struct asked none = {0};
    return done ? (struct asked){now.waits - before.waits, now.statements - before.statements}
                : none;
}

static inline bool as_much(struct asked few, struct asked many) {
    return few.waits > 0 && few.waits == many.waits && few.statements == many.statements;
}

#endif
