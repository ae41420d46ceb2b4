/* spelling.h - the text of a statement as the server is to read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes ?2 as $2, and a bare ? with the next number. Functions of the server get the name of their
 * schema. Writes into `to`; NULL: it only counts. Returns the greatest number; *size becomes the
 * number of bytes. */
int spelling_write(const char *sql, char *to, size_t *size);

/* True if a statement may change what a page of ready jobs shows: places, lanes, rows of jobs. The
 * rows of jobs that have ended are in no page. */
bool spelling_minds(const char *sql);
