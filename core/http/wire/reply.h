/* reply.h - how an answer looks on the wire (RFC 9112), and problems as JSON (RFC 9457). */
#pragma once

#include "base/text.h"
#include "http/wire/exchange.h"

/* "Not Found" for 404; never NULL. */
const char *reply_reason(int status);

#define PROBLEM_TYPE "application/problem+json"

/* Answers with a problem. `detail` is a sentence; `field`: whose value is wrong, or NULL. */
void reply_problem_of(struct exchange *exchange, int status, const char *code, const char *detail,
                      const char *field);
/* The same with the code that follows from the status. */
void reply_problem(struct exchange *exchange, int status, const char *detail);

/* Appends the head of an answer; `now` is its date. `closes`: the connection ends behind it. */
void reply_head(struct text *out, const struct exchange *exchange, bool closes, time_ms now);
/* True if the content follows the head. */
bool reply_has_content(const struct exchange *exchange);
