/* server_clock.h - the server's clock, measured beside other requests. */
#pragma once

#include "base/clock.h"

struct store;

/* The server's clock was so in a flight that began at this monotonic instant. */
void postgres_note_clock(struct store *store, time_ms begun, time_ms server);
/* Warns if this machine's is another one. */
void postgres_tell_clock(const struct store *store);
