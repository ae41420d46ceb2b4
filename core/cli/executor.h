/* executor.h - how executors are shown to people. */
#ifndef MOONSHIFT_CLI_EXECUTOR_H
#define MOONSHIFT_CLI_EXECUTOR_H

#include "cli/table.h"

/* Prints the rows of store_executors as a table; adds to them what it shows. */
bool executors_print(json_t *rows, struct error *error);

#endif
