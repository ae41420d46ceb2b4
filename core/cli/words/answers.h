/* answers.h - what functions said of the good lines of a file, so that each is asked once though
 * the file is read twice. */
#pragma once

#include "engine/engine.h"

struct answers {
    struct engine_answers *list; /* by the line's number among the good ones */
    size_t count, room;
};

/* Keeps the answers of good line number `line`, from 0; takes their texts. What has no room is not
 * kept: it is asked again. */
void answers_keep(struct answers *answers, size_t line, const struct engine_answers *said);

/* The answers of a line; NULL: none were kept. */
const struct engine_answers *answers_find(const struct answers *answers, size_t line);

void answers_clear(struct answers *answers);
