/* command.h - the two requests of a command that is alone: one reads and holds its lane, the other
 * writes what it did.
 *
 * The second says first what it builds on: the counters of `meta`, and what waits for the instance.
 * The server compares that behind the gate. Where anything is another one by then it refuses the
 * transaction, and the command is written again by one that reads before it writes. */
#pragma once

#include "store/rules/ground/state.h"

/* Reads in a transaction that has begun what the next command may build on. NULL: error. */
struct row *command_ask(struct store *store, struct error *error);
bool command_answer(struct store *store, struct row *row, struct error *error);
/* Before the commit: numbers that were drawn are counted here, not in the table. */
bool command_counts(struct store *store, struct error *error);
void command_over(struct store *store, bool committed);
/* The store is closed. */
void command_clear(struct store *store);
