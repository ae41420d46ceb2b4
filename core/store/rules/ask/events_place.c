#include "store/rules/ask/events_place.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 3 }; /* of a row */

/* ---- rows ---- */

static int compare(int64_t left, int64_t right) {
    return (left > right) - (left < right);
}

int events_row_compare(const struct events_row *left, const struct events_row *right) {
    if (left->at != right->at)
        return compare(left->at, right->at);
    return left->id != right->id ? compare(left->id, right->id) : compare(left->n, right->n);
}

bool events_reach_told(const struct events_reach *reach, const struct events_row *row) {
    for (size_t i = 0; i < reach->count; i++)
        if (events_row_compare(&reach->told[i], row) == 0)
            return true;
    return false;
}

/* In their order, so that places that say the same are the same text. */
void events_reach_tell(struct events_reach *reach, const struct events_row *row) {
    size_t at = reach->count++;
    for (; at > 0 && events_row_compare(&reach->told[at - 1], row) > 0; at--)
        reach->told[at] = reach->told[at - 1];
    reach->told[at] = *row;
}

void events_reach_move(struct events_reach *reach, const struct events_row *row) {
    size_t past = 0;
    while (past < reach->count && events_row_compare(&reach->told[past], row) <= 0)
        past++;
    reach->count -= past;
    memmove(reach->told, reach->told + past, reach->count * sizeof *reach->told);
    reach->row = *row;
}

/* ---- texts: [ended, opened, [executor, …], [at, id, n, …], …], where the instants behind the
 * first of a list count from that one ---- */

static bool add(json_t *list, const struct events_row *row, time_ms from) {
    return json_array_append_new(list, json_integer(row->at - from)) == 0 &&
           json_array_append_new(list, json_integer(row->id)) == 0 &&
           json_array_append_new(list, json_integer(row->n)) == 0;
}

static json_t *write_reach(const struct events_reach *reach) {
    json_t *list = json_array();
    bool done = list && add(list, &reach->row, 0);
    for (size_t i = 0; done && i < reach->count; i++)
        done = add(list, &reach->told[i], reach->row.at);
    return json_kept(list, done);
}

json_t *events_place_write(const struct events_place *place) {
    json_t *list = json_pack("[I, I, O]", (json_int_t)place->ended, (json_int_t)place->opened,
                             place->executors);
    bool done = list != NULL;
    for (int i = 0; done && i < LATES; i++)
        done = json_array_append_new(list, write_reach(&place->late[i])) == 0;
    char *text = done ? json_write(list, NULL) : NULL;
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    json_decref(list);
    return value;
}

static bool are_integers(const json_t *list) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
        if (!json_is_integer(one))
            return false;
    return json_is_array(list);
}

static struct events_row row_at(const json_t *list, size_t at) {
    return (struct events_row){json_integer_value(json_array_get(list, at)),
                               json_integer_value(json_array_get(list, at + 1)),
                               json_integer_value(json_array_get(list, at + 2))};
}

static bool read_reach(struct events_reach *reach, const json_t *list) {
    size_t size = json_array_size(list);
    if (!are_integers(list) || size < NUMBERS || size % NUMBERS || size > NUMBERS * (TOLD_MOST + 1))
        return false;
    reach->row = row_at(list, 0);
    for (size_t at = NUMBERS; at < size; at += NUMBERS) {
        struct events_row row = row_at(list, at);
        if (__builtin_add_overflow(row.at, reach->row.at, &row.at) ||
            events_row_compare(&row, &reach->row) <= 0)
            return false;
        events_reach_tell(reach, &row);
    }
    return true;
}

bool events_place_read(struct events_place *place, const char *text, struct error *error) {
    json_t *list = json_read(text, strlen(text), "place", NULL);
    bool fine = json_array_size(list) == NUMBERS + LATES &&
                json_is_integer(json_array_get(list, 0)) &&
                json_is_integer(json_array_get(list, 1)) && are_integers(json_array_get(list, 2));
    *place = (struct events_place){0};
    for (size_t i = 0; fine && i < LATES; i++)
        fine = read_reach(&place->late[i], json_array_get(list, NUMBERS + i));
    if (fine) {
        place->ended = json_integer_value(json_array_get(list, 0));
        place->opened = json_integer_value(json_array_get(list, 1));
        place->executors = json_incref(json_array_get(list, 2));
    }
    json_decref(list);
    return fine ||
           error_set(error, ERROR_INVALID,
                     "Last-Event-ID: \"%.60s\" is none (expected the id of an event)", text);
}

void events_place_clear(struct events_place *place) {
    json_decref(place->executors);
    place->executors = NULL;
}
