/* searched.h - variables that instances are found by (rules §23): those that a process names in
 * `search`, with a text, a number, true or false in the outermost scope. They stay as long as the
 * instance is in the history. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

/* A value takes the place of the one before, which may be of another type. */
#define SEARCHED_AGAIN                                                                             \
    " ON CONFLICT(instance, name) DO UPDATE SET text=excluded.text, number=excluded.number,"       \
    " whole=excluded.whole"

bool searched_write(struct store *store, const struct unit_searched *one, struct error *error);
/* Removes all of an instance. */
bool searched_remove(struct store *store, int64_t instance, struct error *error);

/* Notes what a version names: a list of texts, or NULL. */
bool searched_declare(struct store *store, int64_t version, const json_t *names,
                      struct error *error);

/* Adds `variables` to each row of an instance: an object with those of them that it has. */
bool searched_show(struct store *store, json_t *rows, struct error *error);
