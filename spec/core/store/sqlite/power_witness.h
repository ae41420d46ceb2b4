/* power_witness.h - everything a database holds as one number, seen by a connection of its own that
 * knows nothing of the store. */
#ifndef MOONSHIFT_SPEC_POWER_WITNESS_H
#define MOONSHIFT_SPEC_POWER_WITNESS_H

#include <stdint.h>

struct witness;

/* Goes round every power_vfs; NULL: it does not open. */
struct witness *witness_open(const char *path);
void witness_close(struct witness *witness); /* NULL is fine; changes nothing */
/* Of all rows of all tables; 0: not readable. */
uint64_t witness_sum(struct witness *witness);

#endif
