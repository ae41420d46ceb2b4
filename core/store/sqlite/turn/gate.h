/* gate.h - the file "<store>-gate": bytes locked by every process that writes.
 *
 * Locks belong to the open file: they end with it, also after kill -9, and two stores in one
 * process keep each other out like two processes. The file is never deleted. */
#pragma once

#include "store/sqlite/db/connection.h"

enum gate_byte {
    GATE_WAITING,       /* shared: a writer waits; the others stand back */
    GATE_CHECKPOINTER,  /* exclusive: the right to checkpoint */
    GATE_WRITER,        /* shared by a writer, exclusive during a checkpoint */
    GATE_OPEN,          /* shared: the store is open for writing; see location.h */
    GATE_EXECUTORS = 16 /* + id, exclusive: the executor with that id lives */
};

/* Opens (creates) the gate beside the database at `path`. */
bool gate_open(struct gate *gate, const char *path, struct error *error);
/* For those that only read: opens it, if it is there, to look who holds what and at its page. */
void gate_look(struct gate *gate, const char *path);
void gate_close(struct gate *gate);

/* Without waiting. Taking what is held already is fine. */
bool gate_take(struct gate *gate, int64_t byte, bool exclusive);
void gate_drop(struct gate *gate, int64_t byte);

/* True if no other store holds the byte in any way. */
bool gate_free(const struct gate *gate, int64_t byte);

/* Waits until another store ends its transaction, 0.2 ms at the most. `turn` was read before the
 * caller found that it has to wait. */
uint32_t gate_turn(const struct gate *gate);
void gate_wait(const struct gate *gate, uint32_t turn);
/* The transaction has ended and the bytes are free: those that wait look at once. */
void gate_ended(const struct gate *gate);

/* This store waits to write, until it says that it does no more. */
void gate_queue(struct gate *gate);
void gate_unqueue(struct gate *gate);
/* Waits, up to 5 ms, while another store waits to write. True: it did wait. */
bool gate_stand_back(const struct gate *gate);
