/* site.h - the page for browsers: three files, as they stand in ui/. */
#pragma once

#include "http/wire/exchange.h"

/* Answers a request for a file of the page. False: it is another request. */
bool site_answer(struct exchange *exchange);
