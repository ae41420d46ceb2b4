/* sessions_contract.c - browsers that are signed in. */
#include "../../store/contract.h"
#include "http/who/sessions.h"

static struct sessions *sessions;

/* The rights of a browser that sends this cookie among others. */
static enum session_rights rights(const char *cookie, char *token) {
    char header[256];
    snprintf(header, sizeof header, "theme=dark; moonshift=%s; a=b", cookie);
    return sessions_find(sessions, header, token);
}

static void of_token(struct contract *c) {
    char cookie[SESSION_SIZE], token[CREDENTIAL_SIZE];
    sessions = sessions_new();
    EXPECT(sessions_open(sessions, "ms_1", cookie));
    EXPECT(rights(cookie, token) == SESSION_TOKEN && strcmp(token, "ms_1") == 0);
    EXPECT(sessions_open(sessions, NULL, cookie));
    EXPECT(rights(cookie, token) == SESSION_ALL);
    sessions_free(sessions);
}

static void strange(struct contract *c) {
    char cookie[SESSION_SIZE], token[CREDENTIAL_SIZE];
    sessions = sessions_new();
    EXPECT(sessions_open(sessions, "ms_1", cookie));
    EXPECT(rights("", token) == SESSION_NONE && rights("0", token) == SESSION_NONE);
    EXPECT(sessions_find(sessions, NULL, token) == SESSION_NONE);
    cookie[5] = cookie[5] == 'a' ? 'b' : 'a';
    EXPECT(rights(cookie, token) == SESSION_NONE);
    memset(cookie, 0, sizeof cookie);
    EXPECT(rights(cookie, token) == SESSION_NONE);
    sessions_free(sessions);
}

static void closed(struct contract *c) {
    char cookie[SESSION_SIZE], header[256], token[CREDENTIAL_SIZE];
    sessions = sessions_new();
    EXPECT(sessions_open(sessions, "ms_1", cookie));
    snprintf(header, sizeof header, "moonshift=%s", cookie);
    sessions_close(sessions, header);
    EXPECT(rights(cookie, token) == SESSION_NONE);
    sessions_free(sessions);
}

static void many(struct contract *c) {
    char first[SESSION_SIZE], cookie[SESSION_SIZE], token[CREDENTIAL_SIZE];
    sessions = sessions_new();
    EXPECT(sessions_open(sessions, "ms_1", first));
    for (int i = 0; i < 255; i++)
        EXPECT(sessions_open(sessions, "ms_2", cookie));
    EXPECT(rights(first, token) == SESSION_TOKEN);
    for (int i = 0; i < 256; i++)
        EXPECT(sessions_open(sessions, "ms_2", cookie));
    EXPECT(rights(first, token) == SESSION_NONE && rights(cookie, token) == SESSION_TOKEN);
    sessions_free(sessions);
}

static void key(struct contract *c) {
    char first[SESSION_SIZE], second[SESSION_SIZE];
    sessions = sessions_new();
    EXPECT(!sessions_redeem(sessions, ""));
    EXPECT(sessions_key(sessions, first) && sessions_key(sessions, second));
    EXPECT(!sessions_redeem(sessions, first));
    EXPECT(sessions_redeem(sessions, second) && !sessions_redeem(sessions, second));
    sessions_free(sessions);
}

static const struct check checks[] = {
    {"a cookie stands for a token, or for all rights", of_token},
    {"another cookie stands for nothing", strange},
    {"a session that is closed has ended", closed},
    {"of too many the oldest ends", many},
    {"the newest key opens one session, once", key},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
