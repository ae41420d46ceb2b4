/* cors.h - pages of other origins that may ask (the setting cors_origins; fetch.spec.whatwg.org):
 * they show a token of their own, and never a cookie. Pure. */
#pragma once

#include "http/wire/exchange.h"

/* Notes in the exchange that its page is one of `origins`, and may read the answer. */
void cors_admit(struct exchange *exchange, const json_t *origins);

/* True if it was a browser's question what such a page may ask, which is answered. */
bool cors_answer(struct exchange *exchange);
