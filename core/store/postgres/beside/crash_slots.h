/* crash_slots.h - the slots of executors on this machine (store/rules/fleet/slots.h). */
#pragma once

#include "store/rules/fleet/slots.h"

struct store;

/* Slots of the executor that joins, or none where they cannot be made; and away with them. */
bool crash_slots_enter(struct store *store, int64_t id, int workers, struct error *error);
void crash_slots_quit(struct store *store);
/* Where they are, put into `path`; NULL: there are none. */
const char *crash_slots_path(const struct store *store, char *path, size_t size);
/* None as well: the executor is on another machine. */
enum slots_life crash_slots_life(struct store *store, int64_t executor);
