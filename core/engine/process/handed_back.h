/* handed_back.h - one job as a worker outside hands it back: what it says, and the outcome that
 * this is. Private to core/engine/process/settle_list.c. */
#pragma once

#include "engine/engine_state.h"

enum hand {
    HAND_COMPLETE,
    HAND_FAIL,
    HAND_ERROR,
    HAND_SNOOZE,
    HAND_EXTEND,
    HAND_RELEASE,
    HAND_PROGRESS
};

/* Zero-initialise; clear with handed_back_clear. */
struct handed_back {
    int64_t id, token;
    enum hand hand;
    const json_t *said; /* borrowed */
    time_ms span;       /* `in`, or `lock`; 0: none */
    int64_t retries;    /* -1: the definition decides */
    bool permanent;
    double fraction;         /* of progress; -1: none */
    struct outcome *outcome; /* NULL: it is refused */
    bool over;               /* it has been written by itself, or refused */
    struct error refused;    /* code 0: it is not */
};

/* Reads an entry, which is the caller's as long as this is used. Says the n-th, from 1. */
bool handed_back_read(struct handed_back *one, const json_t *entry, size_t n, struct error *error);
void handed_back_clear(struct handed_back *one);
const char *handed_back_name(const struct handed_back *one);

/* True if the worker keeps the job. */
bool handed_back_goes_on(const struct handed_back *one);
/* True if it moves an instance. */
bool handed_back_walks(const struct handed_back *one);

/* Makes the outcome of a locked job, which is taken over, and asks its definition when a failed one
 * runs again, and those of the jobs that it creates. If one of these is refused, so is the entry.
 * Outside of a transaction. */
bool handed_back_make(struct handed_back *one, struct engine *engine, struct job *job,
                      struct error *error);
