/* reader.h - a second connection: it reads a page of ready jobs while the first one writes.
 *
 * To find ready jobs and their rows is a third of what a long turn costs the server, and to write
 * the ends of runs is another. On two connections two processes of the server do both at once. The
 * second one sees the snapshot that the open transaction has exported. A server that knows the
 * snapshot and has the same timeline is that of the first connection: no former primary answers. */
#pragma once

#include "store/postgres/db/connection.h"

struct ready_page;

enum { READER_PATIENCE = 2000 };

/* Outside of a transaction: opens the connection if turns are long, and closes one
 * that is lost or has not been used for a minute. */
void reader_prepare(struct store *store);
/* In the flight that begins, behind the gate: asks for the snapshot. NULL: it is not needed, or
 * there is an error. */
struct row *reader_ask(struct store *store, struct error *error);
/* Its answer; NULL: none was asked for. */
bool reader_answer(struct store *store, struct row *row, struct error *error);

/* Is the page, with what can be written beside it, worth two connections? Then the next turns ask.
 */
bool reader_fits(struct store *store, const struct ready_page *page);
/* Returns the connection, in a transaction that sees what the open one has begun with. NULL: there
 * is none, or something was written since that pages show. */
struct db *reader_begin(struct store *store);
/* Everything is sent; and waits for the rows. False: they are to be read by the first one. */
bool reader_send(struct store *store);
bool reader_land(struct store *store);
void reader_close(struct store *store);
