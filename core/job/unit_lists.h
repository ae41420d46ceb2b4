/* unit_lists.h - the lists of a unit and the members of their entries, as a table: what a walk says
 * is copied by it, and a unit is handed from one program to another (rules §23). */
#pragma once

#include "job/unit.h"

/* JSON: a text, which a walk gives as any value. WAITS: of enum unit_waits. */
enum unit_type { UNIT_NUMBER, UNIT_TIME, UNIT_TEXT, UNIT_JSON, UNIT_WAITS };

struct unit_member {
    const char *key;
    enum unit_type type;
    size_t at; /* bytes from the beginning of its struct */
};

/* A list: its entries, and where the unit has them and their count. */
struct unit_list {
    const char *key;
    const struct unit_member *members; /* the last has no key */
    size_t size, at, count_at;
};

/* All lists of a unit; the last has no key. */
extern const struct unit_list unit_lists[];
