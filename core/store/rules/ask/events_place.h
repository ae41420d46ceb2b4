/* events_place.h - how far events were told: a text that holds in any process (rules §16). */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include <jansson.h>

/* The first ones have rows with an instant alone. */
enum event {
    EVENT_JOB_FAILED,
    EVENT_INCIDENT_CLOSED,
    EVENT_BATCH_ENDED,
    EVENT_INSTANCE_ENDED,
    EVENT_JOB_ENDED,
    EVENT_INCIDENT_OPENED,
    EVENT_EXECUTOR_JOINED,
    EVENT_EXECUTOR_LEFT,
    EVENTS
};
#define LATES EVENT_JOB_ENDED

/* A row of such a kind, in its order: n is the attempt of a failure. */
struct events_row {
    time_ms at;
    int64_t id, n;
};

enum { TOLD_MOST = 32 }; /* rows that a place names of a kind */

struct events_reach {
    struct events_row row;             /* all up to it were told */
    struct events_row told[TOLD_MOST]; /* and these behind it */
    size_t count;
};

struct events_place {
    int64_t ended, opened; /* the numbers told last: of ends of jobs, of incidents */
    struct events_reach late[LATES];
    json_t *executors; /* ids of those that live; the place's */
};

/* Reads a text of events_place_write; places_clear in any case. False: it is none. */
bool events_place_read(struct events_place *place, const char *text, struct error *error);
/* A new text; NULL: no memory. */
json_t *events_place_write(const struct events_place *place);
void events_place_clear(struct events_place *place);

/* Negative, 0 or positive: a row comes before the other one, is it, comes behind it. */
int events_row_compare(const struct events_row *left, const struct events_row *right);
bool events_reach_told(const struct events_reach *reach, const struct events_row *row);
/* Names a row as told; there is room. */
void events_reach_tell(struct events_reach *reach, const struct events_row *row);
/* All up to this row were told. */
void events_reach_move(struct events_reach *reach, const struct events_row *row);
