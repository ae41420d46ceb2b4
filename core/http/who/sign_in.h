/* sign_in.h - /v1/session: a browser shows a token once and has a cookie from then on.
 *
 *   POST    with a token, or with { key } of a terminal: opens a session
 *   GET     says who asks: { who, scopes, tenant, handlers }
 *   DELETE  ends the session */
#pragma once

#include "http/who/callers.h"

/* True if it is such a request. */
bool sign_in_is(const struct exchange *exchange);

/* Answers one that shows a key, which needs no other proof. False: it shows none, or one that does
 * not count. */
bool sign_in_by_key(struct callers *callers, struct exchange *exchange);
/* Answers any other one, whose caller is known. */
void sign_in_answer(struct callers *callers, const struct caller *caller,
                    struct exchange *exchange);
