/* tray.h - the mapped file "<store>-tray": where processes that each want to create one job lay
 * what they ask for, so that one of them writes for all (rules §1); see enqueue.c.
 *
 * A process has a place in it, by a lock that ends with it. Nothing in the file is worth anything
 * once nobody has a place: whoever comes first then makes it anew. It is never deleted. */
#ifndef MOONSHIFT_STORE_SQLITE_TRAY_H
#define MOONSHIFT_STORE_SQLITE_TRAY_H

#include "base/job.h"
#include "store/sqlite/gate.h"

enum { TRAY_PLACES = 64, TRAY_PLACE = 8192, TRAY_PARCEL = 6000 };

struct tray_answer {
    int64_t job; /* the new one, or the one that has the key */
    enum creation creation;
    enum error_code code; /* else why it was refused */
    char text[2048];
};

struct tray_map;

struct tray {
    struct gate file;     /* its bytes are locked as those of the gate are */
    struct tray_map *map; /* NULL: not open */
    int place;            /* of this process */
    int64_t ticket;       /* of what it asks for; no two are the same, in any process */
    bool unusable;        /* it could not be opened: everybody writes for himself */
    bool foreign;         /* something that is not ours lies in its place */
};

/* What lies in a place. */
struct tray_request {
    int place;
    uint32_t word; /* for tray_mark */
    int64_t ticket;
    time_ms now; /* when it is created */
    size_t size;
    unsigned char parcel[TRAY_PARCEL];
};

/* Opens the tray of the store at `path`, once. False: there is none to use; `foreign`: because
 * something else lies there, which `error` tells. */
bool tray_open(struct tray *tray, const char *path, struct error *error);
void tray_close(struct tray *tray);

/* Without waiting: the right to write for all. */
bool tray_lead(struct tray *tray);
/* Gives it back, and calls one that waits to take it. */
void tray_leave(struct tray *tray);

/* Lays a job into the own place. False: it is too large. */
bool tray_ask(struct tray *tray, const struct job *job, time_ms now);
/* Waits until it is answered (true), or until it may be time to lead, `wait` ms at the most. */
bool tray_wait(struct tray *tray, int wait);
bool tray_answered(const struct tray *tray);
/* Nothing is asked for any more. */
void tray_withdraw(struct tray *tray);

/* ---- for the one that leads, and for what lies in the own place ---- */

/* A copy of what is asked for there, and still waits for an answer, by a process that lives. */
bool tray_read(struct tray *tray, int place, struct tray_request *request);
/* Does the same lie there still? */
bool tray_waits(const struct tray *tray, int place, uint32_t word);
struct tray_answer *tray_answer(struct tray *tray, int place);
/* It is answered: its process goes on. */
void tray_mark(struct tray *tray, int place, uint32_t word);

#endif
