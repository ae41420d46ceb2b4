/* stock.h - the stock handlers that a folder has (rules §13). The harmless ones are everywhere;
 * those that act on the machine or beyond it are there where the setting `stock` names them. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* False for a stock handler that must be asked for and is not in `asked`, an array of names or
 * NULL. */
bool stock_has(const json_t *asked, const char *handler);

/* Whether there is a stock handler of this name. */
bool stock_is(const char *handler);

/* Whether each text in `asked` is a stock handler; `label` is what an error calls the setting. */
bool stock_check(const json_t *asked, const char *label, struct error *error);
