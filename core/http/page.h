/* page.h - the page for browsers: three files, as they stand in ui/. */
#ifndef MOONSHIFT_HTTP_PAGE_H
#define MOONSHIFT_HTTP_PAGE_H

#include "http/wire/exchange.h"

/* Answers a request for a file of the page. False: it is another request. */
bool page_answer(struct exchange *exchange);

#endif
