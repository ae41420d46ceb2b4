/* power_work.h - what the transactions of a store at work consist of; each notes in life->pending
 * what it was told. */
#ifndef MOONSHIFT_SPEC_POWER_WORK_H
#define MOONSHIFT_SPEC_POWER_WORK_H

#include "power_life.h"

enum { WORK_LEASE = 300000 }; /* ms */

extern const struct acquire work_everything;

typedef bool life_body(struct life *life, struct store *store);

life_body work_enqueue, work_operate, work_batch, work_note, work_tidy;
/* What is suspended or dead comes back. */
life_body work_revive;

/* Outcomes of what is held, timers, new locks; `success`: of every run that ends. */
void work_turn_begin(bool success);
life_body work_turn;
void work_turn_over(struct life *life, bool committed);

#endif
