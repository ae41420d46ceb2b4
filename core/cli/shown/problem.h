/* problem.h - one line for each thing that is wrong with a script folder. */
#pragma once

#include <jansson.h>

/* Prints { file, line, column, message } to standard error, with its place as far as it has one.
 * `label` stands before the message ("" for none). */
void problem_print(const json_t *problem, const char *label);
