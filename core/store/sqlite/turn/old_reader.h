/* old_reader.h - the write-ahead log, and who keeps it from being emptied: a reader that holds an
 * old state of the store. Frames that came after that state cannot go into the database. */
#pragma once

#include "store/sqlite/db/connection.h"

/* { bytes, held_bytes, held_age, process, program }, the last four only while a reader holds back
 * more than an executor lets pile up, null what is not known. JSON null: the store is in memory.
 * Outside of a transaction. NULL: error. */
json_t *held_tell(struct store *store, struct error *error);
