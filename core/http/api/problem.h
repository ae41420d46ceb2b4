/* problem.h - an error as the content of an answer (RFC 9457). */
#pragma once

#include "base/error.h"
#include "http/wire/exchange.h"

/* Fills the answer with an error: its status, and its code, sentence and field as an object. */
void problem_answer(struct exchange *exchange, const struct error *error);
