/* driver.h - PostgreSQL as the driver of a connection (store/sql/db.h), over libpq.
 *
 * The connection is in pipeline mode. Statements are sent as they come; a flight ends when somebody
 * waits for rows, for a number of changes or for an end of the transaction. Then all results of the
 * flight are read at once: one round trip. An error is that of the whole flight. */
#pragma once

#include "store/postgres/db/address.h"
#include "store/sql/db.h"

enum { FLIGHT_MAX = 2048 };

struct statement;
struct store;

/* A message whose answer has not been read yet. */
struct sent {
    struct statement *statement;
    bool prepares; /* it makes the statement known; otherwise it runs it */
    bool ahead;    /* its rows are kept, whoever waits */
    bool counted;  /* it must change so many rows: */
    int wanted;
};

/* What other clients have made of the session shows that it is no session of ours. */
#define SESSION_SHARED                                                                             \
    "a pool gives this connection to other clients, too (expected pool=transaction in the URL)"

/* What a connection to PostgreSQL holds besides. */
struct session {
    struct db *db;
    PGconn *link;
    struct sent flight[FLIGHT_MAX];
    size_t count;
    size_t parted;              /* of these, the first so many are a flight of their own */
    bool queues;                /* a transaction is open: what need not wait is queued */
    bool failed;                /* a statement of the transaction has failed, with this: */
    struct error failure;       /* (also the last one outside of a transaction) */
    char state[6];              /* SQLSTATE of that error; "": the connection was lost */
    bool asks;                  /* that error is of a question made of filters */
    bool lost;                  /* the connection is of no use any more */
    bool cancelled;             /* the present wait was ended by us */
    const struct store *begins; /* a transaction of it begins; NULL: none, or it has begun */
    time_ms begun;              /* since then, monotonic: it waits while the store has patience */
    int changes;                /* of the statement run last */
    int64_t waits, statements;  /* for the server, and sent to it, so far */
    unsigned names;             /* given to statements */
    unsigned generation;        /* of the connection, counted from 1, */
    time_ms since;              /* and since when it is there, monotonic */
    bool ending;                /* a commit is under way */
    time_ms ends_by; /* monotonic: its end, or what became of it, is known by then; or 0 */
    struct statement *settings; /* not NULL: they hold for a transaction, and this makes them */
    bool settled;               /* it was sent in the open transaction */
    bool minded;                /* the open transaction has written what pages show; see reader.h */
    bool opens;                 /* its settings are on their way */
    bool spare; /* set before it is opened: another connection can do its work, and nobody waits
                   for it beyond the deadline */
};

/* Connects to the server. The schema is the only one in which unqualified names are looked for; it
 * need not exist. After an error `db` still is to be closed. */
bool session_open(struct session *session, struct db *db, const struct address *address,
                  struct error *error);

/* After a loss, outside of a transaction: connects again. The locks of the session are gone. */
bool session_reopen(struct session *session, const struct address *address, struct error *error);

/* Ends the flight: reads the results of all that was sent. The rows of the last statement are kept
 * in it if it is `into`. False: a statement of the flight, or an earlier one of the transaction,
 * has failed. */
bool session_land(struct session *session, struct statement *into, struct error *error);

/* Sends a statement whose rows are asked for behind the next wait. */
bool session_send_ahead(struct session *session, struct statement *statement, struct error *error);

/* Ends the connection and forgets what it holds. */
void session_close(struct session *session);

/* Sends the statement with its bound values; with `name` as a kept one. */
bool session_send(struct session *session, struct statement *statement, struct error *error);

/* What was sent so far goes to the server at once, which begins with it. Whoever waits for the
 * answers is told of a loss. */
void session_push(struct session *session);

/* What was sent so far is a flight of its own: the server answers at once, and the next wait reads
 * its answers as well. Nobody waits for them now. */
void session_part(struct session *session);

/* Runs statements without parameters, one behind another, and waits for them. */
bool session_execute(struct session *session, const char *sql, struct error *error);

/* From here on statements that only run are queued; and no more, whatever has failed. */
void session_enter(struct session *session);
void session_leave(struct session *session);

/* Before the transaction goes back to a savepoint: what has failed since then is no matter. */
void session_return(struct session *session);

/* Reads what the server has sent by itself. True: a notification has come since the last call. One
 * of the channel `apart` only sets *of_it. */
bool session_notified(struct session *session, const char *apart, bool *of_it);
int session_socket(const struct session *session);

/* The longest number as text is -1.2345678901234567e-300, and its end. */
enum { NUMBER_ROOM = 32 };

/* A statement as libpq wants it. */
struct statement {
    struct session *session;
    char *sql;           /* its parameters are $1, $2 */
    char name[16];       /* "": it is not kept */
    unsigned known;      /* generation of the connection that knows it by its name; 0: none */
    bool stands;         /* `result` has rows; `at` is the present one */
    bool ahead;          /* it was sent before its rows are asked for */
    bool minded;         /* it may write what pages show; see reader.h */
    int count;           /* of parameters */
    Oid *types;          /* of each parameter; 0: the server finds out */
    const char **values; /* NULL but between the binding and the sending */
    int *sizes, *formats;
    char (*numbers)[NUMBER_ROOM]; /* what values of numbers point to, */
    char **arrays;                /* and arrays: they are the statement's own */
    int bound;                    /* so many of them */
    bool asked;                   /* it was made of filters, and is not kept */
    PGresult *result;
    int at;
    char (*texts)[32]; /* numbers of the present row as texts; NULL: none was asked for */
};

struct array;

/* Binds an array that has ended to a parameter, counted from 0. The statement takes it over: the
 * array is empty then. False: there was no memory to fill it. */
bool statement_bind_array(struct row *row, int at, struct array *array);

/* From here on every parameter is NULL. What was bound goes. */
void statement_unbind(struct statement *statement);

/* Sends a bound statement: its first step comes later, and then waits only if nothing has waited
 * since. */
bool statement_send_ahead(struct row *row, struct error *error);

extern const struct db_driver postgres_driver;
