/* guard.h - what is refused before anybody looks for a route: names that are not ours, pages of
 * other sites, bodies of other kinds (docs/server.md). Pure. */
#ifndef MOONSHIFT_HTTP_GUARD_H
#define MOONSHIFT_HTTP_GUARD_H

#include "http/wire/exchange.h"

/* `hosts`: an array of further names of ours; NULL: none. True: it may go on. False: the answer
 * says why not. */
bool guard_pass(struct exchange *exchange, const json_t *hosts);

#endif
