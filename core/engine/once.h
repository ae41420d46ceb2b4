/* once.h - commands under a key (rules §1): what is asked for again has the first answer. */
#ifndef MOONSHIFT_ENGINE_ONCE_H
#define MOONSHIFT_ENGINE_ONCE_H

#include "engine/intake.h"

/* From now on commands of engine_order and engine_batch_create are done under this key, each once:
 * the answer is kept in the transaction that does it. request->answer is called there without jobs,
 * when the command's out members are filled. A command that fails with request->found was done
 * before, perhaps by another process meanwhile, and nothing is written. Borrowed; NULL: no key. */
void engine_ask_under(struct engine *engine, struct engine_request *request);

/* As store_begin, for the transaction that does the command. False: error, or it was done. */
bool once_begin(struct engine *engine, struct error *error);
/* As engine_end, with the answer. */
bool once_end(struct engine *engine, bool ok, struct error *error);

#endif
