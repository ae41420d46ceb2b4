/* site.h - the page for browsers: three files, as they stand in ui/. */
#ifndef MOONSHIFT_HTTP_SITE_H
#define MOONSHIFT_HTTP_SITE_H

#include "http/wire/exchange.h"

/* Answers a request for a file of the page. False: it is another request. */
bool site_answer(struct exchange *exchange);

#endif
