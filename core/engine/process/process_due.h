/* process_due.h - timers of instances whose dates come from expressions: they are asked again
 * before an operator's command counts the dates anew. */
#pragma once

#include "engine/engine.h"

/* Adds what the dates of the jobs come from now to a command that counts them anew by their ids. A
 * timer that cannot be asked here, as no folder has its process, keeps the text that it was made
 * with. False: an expression fails. */
bool process_due_ask(struct engine *engine, json_t *command, struct error *error);
