/* sessions.h - browsers that are signed in: a cookie stands for a token, or for all rights.
 *
 * They are in memory alone and end with the program, after twelve hours, or with their token. A key
 * that the program prints on a terminal opens one session, within ten minutes. Any thread. */
#pragma once

#include "http/who/credential.h"
#include <stddef.h>

#define SESSION_SIZE 65 /* 32 random bytes in hexadecimal digits, and the NUL */
#define SESSION_COOKIE "moonshift"

struct sessions;

/* NULL: no memory. */
struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);

/* Opens one for a token; NULL: for all rights. The oldest goes if there are too many. False: no
 * random numbers. */
bool sessions_open(struct sessions *sessions, const char *token, char cookie[SESSION_SIZE]);

enum session_rights {
    SESSION_NONE,  /* no cookie of ours, or one whose time is over */
    SESSION_TOKEN, /* *token is filled (CREDENTIAL_SIZE bytes) */
    SESSION_ALL
};
/* What the header `Cookie` stands for; NULL: no header. */
enum session_rights sessions_find(struct sessions *sessions, const char *header, char *token);
/* Ends the session of this header. */
void sessions_close(struct sessions *sessions, const char *header);

/* Makes the key for one session with all rights; an earlier one counts no more. */
bool sessions_key(struct sessions *sessions, char key[SESSION_SIZE]);
/* True once: the key counts. */
bool sessions_redeem(struct sessions *sessions, const char *key);
