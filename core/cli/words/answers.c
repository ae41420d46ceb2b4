#include "cli/words/answers.h"
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 1 << 20, LINES_FEW = 1024 };

/* Room for so many lines. */
static bool answers_room(struct answers *answers, size_t count) {
    if (count <= answers->room)
        return true;
    size_t room = answers->room ? 2 * answers->room : LINES_FEW;
    while (room < count)
        room *= 2;
    struct engine_answers *list = realloc(answers->list, room * sizeof *list);
    if (!list)
        return false;
    answers->list = list;
    answers->room = room;
    return true;
}

void answers_keep(struct answers *answers, size_t line, const struct engine_answers *said) {
    if (!said->known)
        return;
    if (line >= LINES_MAX || !answers_room(answers, line + 1)) {
        free(said->unique);
        return;
    }
    size_t skipped = line - answers->count;
    memset(&answers->list[answers->count], 0, skipped * sizeof *answers->list);
    answers->list[line] = *said;
    answers->count = line + 1;
}

const struct engine_answers *answers_find(const struct answers *answers, size_t line) {
    bool known = line < answers->count && answers->list[line].known;
    return known ? &answers->list[line] : NULL;
}

void answers_clear(struct answers *answers) {
    for (size_t i = 0; i < answers->count; i++)
        free(answers->list[i].unique);
    free(answers->list);
    *answers = (struct answers){0};
}
