/* process_question.h - what commands to processes ask of the store: each at once, or those of many
 * commands together. */
#pragma once

#include "engine/engine.h"

/* Asks the store, unless the answer is known; takes the question over. Where engine->questions is
 * an object, the question is noted there, and NULL is the answer. NULL: error. */
json_t *process_ask(struct engine *engine, enum ask_kind kind, json_t *question,
                    struct error *error);
/* Asks for all that was noted at once, and has the answers in engine->answers; *more false: it was
 * nothing. */
bool process_questions_ask(struct engine *engine, bool *more, struct error *error);
