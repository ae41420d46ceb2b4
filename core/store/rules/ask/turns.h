/* turns.h - questions about turns that stand outside of the frame of their instance. */
#pragma once

#include "store/rules/process/turn.h"
#include <string.h>

/* { turns, ended } of a body, or { gone }: it has none that goes on. */
json_t *body_ask(struct store *store, int64_t id, struct error *error);
/* [{ id, rev, frame }]: a page of its turns, the last first, with numbers below this one; 0: from
 * the last one on, which is what goes next once it is closed. */
json_t *body_turns_ask(struct store *store, int64_t id, int64_t below, struct error *error);

#define TURN_COLUMNS "t.rev, t.frame, " OPEN_BODY("id") ", " OPEN_BODY("token")
/* Of a turn whose body is open, in this instance. */
#define TURN_FROM(turn, instance)                                                                  \
    " FROM body_turn t WHERE t.id=" turn " AND " OPEN_BODY("instance") "=" instance
/* Puts the frame of the turn, whose columns begin at this one, into what ASK_FRAME says of its
 * instance. That one's own is then the one around. False: no memory. */
bool turn_frame_put(json_t *found, int64_t turn, struct row *row, int from);
/* Reads it, and puts it there. Takes the object. Null: the turn has ended. */
json_t *turn_frame(struct store *store, json_t *found, int64_t turn, struct error *error);

/* False: its frame has no body, so no turn stands outside of it. */
static inline bool turns_may(const char *frame) {
    return strstr(frame, "#multiInstanceBody\"") != NULL;
}

/* Adds the places of the first turns of an instance, as frame_places has them, and of those that
 * wait to be triggered. A last place, in the state "turns", counts the others. */
bool turns_places(struct store *store, json_t *places, int64_t instance, struct error *error);
/* The same for `at` of frame_show. */
bool turns_show(struct store *store, json_t *at, int64_t instance, struct error *error);
