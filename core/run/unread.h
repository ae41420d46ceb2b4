/* unread.h - jobs that a turn has locked before it has read their rows. */
#pragma once

#include "run/outcomes.h"

/* Reads them, behind the commit. Those that cannot be read stay unread. */
void unread_read(struct store *store, struct turn *turn);
/* The next turn gives back what is still unread: after the outcomes of this one are done. A job
 * whose row cannot be read is set aside. True: there was some. */
bool unread_drop(struct store *store, struct turn *turn, struct outcomes *outcomes, time_ms now);
