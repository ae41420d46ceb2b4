#include "http/who/sessions.h"
#include "base/thread.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    SESSIONS = 256,
    HOURS_12 = 12 * 3600 * 1000, /* ms */
    MINUTES_10 = 10 * 60 * 1000,
    RANDOM = 32
};

struct session {
    char cookie[SESSION_SIZE];
    char token[CREDENTIAL_SIZE]; /* "": all rights */
    time_ms opened;              /* of the monotonic clock */
    bool used;                   /* the place is taken */
};

struct sessions {
    struct mutex mutex;
    struct session list[SESSIONS];
    char key[SESSION_SIZE]; /* "": none counts */
    time_ms key_made;
};

struct sessions *sessions_new(void) {
    struct sessions *sessions = calloc(1, sizeof *sessions);
    if (sessions)
        mutex_init(&sessions->mutex);
    return sessions;
}

void sessions_free(struct sessions *sessions) {
    if (!sessions)
        return;
    mutex_free(&sessions->mutex);
    explicit_bzero(sessions, sizeof *sessions);
    free(sessions);
}

static bool draw(char text[SESSION_SIZE]) {
    unsigned char drawn[RANDOM];
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
        return false;
    for (size_t i = 0; i < sizeof drawn; i++)
        sprintf(text + 2 * i, "%02x", drawn[i]);
    return true;
}

/* The same time is taken wherever they differ. */
static bool same(const char *left, const char *right) {
    unsigned differs = 0;
    for (size_t i = 0; i < SESSION_SIZE; i++)
        differs |= (unsigned)(left[i] ^ right[i]);
    return differs == 0;
}

/* ---- under the mutex ---- */

static struct session *oldest(struct sessions *sessions) {
    struct session *found = &sessions->list[0];
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &sessions->list[i];
        if (!session->used)
            return session;
        if (session->opened < found->opened)
            found = session;
    }
    return found;
}

static struct session *session_of(struct sessions *sessions, const char *cookie) {
    const time_ms now = clock_monotonic();
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &sessions->list[i];
        if (session->used && now - session->opened >= HOURS_12)
            *session = (struct session){0};
        if (session->used && same(session->cookie, cookie))
            return session;
    }
    return NULL;
}

/* ---- cookies ---- */

/* The value of our cookie in the header (RFC 6265). False: there is none that can be one. */
static bool cookie_read(const char *header, char cookie[SESSION_SIZE]) {
    static const char name[] = SESSION_COOKIE "=";
    for (const char *at = header; at && *at; at += *at == ';') {
        at += strspn(at, " ");
        size_t size = strcspn(at, ";");
        bool ours = strncmp(at, name, sizeof name - 1) == 0;
        if (ours && size == sizeof name - 1 + SESSION_SIZE - 1) {
            memcpy(cookie, at + sizeof name - 1, SESSION_SIZE - 1);
            cookie[SESSION_SIZE - 1] = 0;
            return true;
        }
        at += size;
    }
    return false;
}

bool sessions_open(struct sessions *sessions, const char *token, char cookie[SESSION_SIZE]) {
    if (!draw(cookie))
        return false;
    mutex_lock(&sessions->mutex);
    struct session *session = oldest(sessions);
    *session = (struct session){.opened = clock_monotonic(), .used = true};
    memcpy(session->cookie, cookie, SESSION_SIZE);
    snprintf(session->token, sizeof session->token, "%s", token ? token : "");
    mutex_unlock(&sessions->mutex);
    return true;
}

enum session_rights sessions_find(struct sessions *sessions, const char *header, char *token) {
    char cookie[SESSION_SIZE];
    enum session_rights rights = SESSION_NONE;
    if (!cookie_read(header, cookie))
        return SESSION_NONE;
    mutex_lock(&sessions->mutex);
    const struct session *session = session_of(sessions, cookie);
    if (session) {
        memcpy(token, session->token, CREDENTIAL_SIZE);
        rights = *token ? SESSION_TOKEN : SESSION_ALL;
    }
    mutex_unlock(&sessions->mutex);
    return rights;
}

void sessions_close(struct sessions *sessions, const char *header) {
    char cookie[SESSION_SIZE];
    if (!cookie_read(header, cookie))
        return;
    mutex_lock(&sessions->mutex);
    struct session *session = session_of(sessions, cookie);
    if (session)
        *session = (struct session){0};
    mutex_unlock(&sessions->mutex);
}

/* ---- the key ---- */

bool sessions_key(struct sessions *sessions, char key[SESSION_SIZE]) {
    if (!draw(key))
        return false;
    mutex_lock(&sessions->mutex);
    memcpy(sessions->key, key, SESSION_SIZE);
    sessions->key_made = clock_monotonic();
    mutex_unlock(&sessions->mutex);
    return true;
}

bool sessions_redeem(struct sessions *sessions, const char *key) {
    mutex_lock(&sessions->mutex);
    bool counts = *sessions->key && clock_monotonic() - sessions->key_made < MINUTES_10 &&
                  strlen(key) == SESSION_SIZE - 1 && same(sessions->key, key);
    if (counts)
        *sessions->key = 0;
    mutex_unlock(&sessions->mutex);
    return counts;
}
