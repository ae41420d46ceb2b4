/* callers_contract.c - who asks over HTTP, and what that one may: on both engines. */
#include "../../store/contract.h"
#include "engine/command/token.h"
#include "http/who/callers.h"

static struct engine *engine;
static struct callers *callers;
static char token[TOKEN_SIZE];

static bool begin(struct contract *c, bool open) {
    static struct settings settings;
    settings = c->settings;
    settings.store = c->url;
    struct engine_options options = {
        .settings = &settings, .mode = STORE_WRITE, .clock = clock_system()};
    engine = engine_open(&options, &c->error);
    callers = callers_new(&(struct callers_options){.open = open, .settings = &settings});
    return engine && callers;
}

static void end(void) {
    callers_free(callers);
    engine_close(engine);
}

static bool make(struct contract *c, const char *described) {
    json_t *object = json_loads(described, 0, NULL);
    bool made = engine_token_create(engine, object, token, &c->error);
    json_decref(object);
    return made;
}

/* What comes of a request of this peer with this header. */
static enum caller_verdict ask(struct contract *c, struct socket_peer peer,
                               const char *authorization, struct caller *caller, int *retry_after) {
    struct named_text header = {"authorization", authorization};
    struct exchange exchange = {
        .peer = peer, .headers = &header, .header_count = authorization ? 1 : 0};
    enum caller_verdict verdict = callers_find(callers, engine, &exchange, caller, &c->error);
    if (retry_after)
        *retry_after = exchange.retry_after;
    return verdict;
}

static const struct socket_peer far = {.address = "192.0.2.1"}, near = {.address = "127.0.0.1"};

static enum caller_verdict show(struct contract *c, struct socket_peer peer, const char *shown,
                                struct caller *caller) {
    char header[2 * TOKEN_SIZE];
    snprintf(header, sizeof header, "Bearer %s", shown);
    return ask(c, peer, header, caller, NULL);
}

static enum caller_verdict verdict_of(struct contract *c, struct socket_peer peer,
                                      const char *shown) {
    struct caller caller;
    enum caller_verdict verdict = show(c, peer, shown, &caller);
    caller_clear(&caller);
    return verdict;
}

static void known(struct contract *c) {
    struct caller caller;
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"operate\"], \"tenant\": \"acme\","
                   " \"handlers\": [\"topic/*\", \"mail\"]}"));
    EXPECT(show(c, far, token, &caller) == CALLER_KNOWN);
    EXPECT(strcmp(caller.who, "token:ci") == 0 && caller.token > 0);
    EXPECT(caller_may(&caller, SCOPE_OPERATE | SCOPE_READ | SCOPE_PAYLOAD));
    EXPECT(!caller_may(&caller, SCOPE_ENQUEUE) && !caller_may(&caller, SCOPE_ADMIN));
    EXPECT(caller_sees_tenant(&caller, "acme") && !caller_sees_tenant(&caller, NULL));
    EXPECT(!caller_sees_tenant(&caller, "other"));
    EXPECT(caller_sees_handler(&caller, "topic/ocr") && caller_sees_handler(&caller, "mail"));
    EXPECT(!caller_sees_handler(&caller, "mails") && !caller_sees_handler(&caller, NULL));
    caller_clear(&caller);
    end();
}

static void unknown(struct contract *c) {
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    char other[TOKEN_SIZE];
    memcpy(other, token, sizeof other);
    other[TOKEN_SIZE - 2] = other[TOKEN_SIZE - 2] == 'a' ? 'b' : 'a';
    EXPECT(verdict_of(c, far, other) == CALLER_UNKNOWN);
    EXPECT(verdict_of(c, near, "") == CALLER_UNKNOWN);
    EXPECT(ask(c, near, NULL, &(struct caller){0}, NULL) == CALLER_UNKNOWN);
    end();
}

static void revoked(struct contract *c) {
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    EXPECT(engine_token_revoke(engine, "ci", &c->error));
    callers_forget(callers);
    EXPECT(verdict_of(c, far, token) == CALLER_UNKNOWN);
    EXPECT(!engine_token_revoke(engine, "ci", &c->error));
    EXPECT_ERROR("no token \"ci\"");
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    end();
}

static void barred(struct contract *c) {
    int retry_after = 0;
    struct caller caller;
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    for (int i = 0; i < 20; i++)
        EXPECT(verdict_of(c, far, "ms_guess") == CALLER_UNKNOWN);
    EXPECT(ask(c, far, "Bearer ms_guess", &caller, &retry_after) == CALLER_BARRED);
    EXPECT(retry_after > 0 && retry_after <= 60);
    EXPECT(verdict_of(c, near, token) == CALLER_KNOWN);
    EXPECT(verdict_of(c, near, "ms_guess") == CALLER_UNKNOWN);
    end();
}

/* Whether it was asked for before or not: behind a proxy many share one address. */
static void spared(struct contract *c) {
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    for (int i = 0; i < 30; i++)
        EXPECT(verdict_of(c, far, "ms_guess") == (i < 20 ? CALLER_UNKNOWN : CALLER_BARRED));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    callers_forget(callers);
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    EXPECT(engine_token_revoke(engine, "ci", &c->error));
    EXPECT(make(c, "{\"name\": \"new\", \"scopes\": [\"read\"]}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    end();
}

/* Those who invent tokens push out none that count, nor what was counted of them. */
static void invented(struct contract *c) {
    char guess[TOKEN_SIZE];
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"], \"rate\": \"1/PT1H\"}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    for (int i = 0; i < 600; i++) {
        snprintf(guess, sizeof guess, "ms_%d", i);
        EXPECT(verdict_of(c, near, guess) == (i < 20 ? CALLER_UNKNOWN : CALLER_BARRED));
    }
    EXPECT(verdict_of(c, far, token) == CALLER_TOO_FAST);
    end();
}

/* More tokens than are kept: those that have a rate are counted on. */
static void many(struct contract *c) {
    char described[128], counted[TOKEN_SIZE];
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"], \"rate\": \"1/PT1H\"}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    memcpy(counted, token, sizeof counted);
    for (int i = 0; i < 300; i++) {
        snprintf(described, sizeof described, "{\"name\": \"n%d\", \"scopes\": [\"read\"]}", i);
        EXPECT(make(c, described) && verdict_of(c, near, token) == CALLER_KNOWN);
    }
    EXPECT(verdict_of(c, far, counted) == CALLER_TOO_FAST);
    end();
}

/* A request that has waited was counted when it came. */
static enum caller_verdict verdict_again(struct contract *c, struct socket_peer peer) {
    char text[2 * TOKEN_SIZE];
    struct caller caller = {0};
    snprintf(text, sizeof text, "Bearer %s", token);
    struct named_text header = {"authorization", text};
    struct exchange exchange = {.peer = peer, .headers = &header, .header_count = 1, .again = true};
    enum caller_verdict verdict = callers_find(callers, engine, &exchange, &caller, &c->error);
    caller_clear(&caller);
    return verdict;
}

static void too_fast(struct contract *c) {
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"], \"rate\": \"2/PT1H\"}"));
    EXPECT(verdict_of(c, far, token) == CALLER_KNOWN);
    EXPECT(verdict_of(c, near, token) == CALLER_KNOWN);
    EXPECT(verdict_again(c, far) == CALLER_KNOWN);
    EXPECT(verdict_of(c, far, token) == CALLER_TOO_FAST);
    EXPECT(verdict_again(c, far) == CALLER_KNOWN);
    for (int i = 0; i < 21; i++)
        verdict_of(c, far, "ms_guess");
    EXPECT(verdict_again(c, far) == CALLER_KNOWN);
    EXPECT(engine_token_revoke(engine, "ci", &c->error));
    callers_forget(callers);
    EXPECT(verdict_again(c, far) == CALLER_BARRED);
    for (int i = 0; i < 21; i++)
        EXPECT(verdict_again(c, near) == CALLER_UNKNOWN);
    end();
}

static void local(struct contract *c) {
    struct socket_peer peer = {.local = true, .user = getuid(), .address = "unix"};
    struct caller caller;
    EXPECT(begin(c, false));
    EXPECT(ask(c, peer, NULL, &caller, NULL) == CALLER_KNOWN);
    EXPECT(caller_may(&caller, SCOPE_ALL) && strncmp(caller.who, "unix:", 5) == 0);
    peer.user = getuid() + 1;
    EXPECT(ask(c, peer, NULL, &caller, NULL) == CALLER_UNKNOWN);
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    EXPECT(show(c, peer, token, &caller) == CALLER_KNOWN);
    EXPECT(!caller_may(&caller, SCOPE_OPERATE));
    end();
}

static void open(struct contract *c) {
    struct caller caller;
    EXPECT(begin(c, true));
    EXPECT(ask(c, near, NULL, &caller, NULL) == CALLER_KNOWN);
    EXPECT(caller_may(&caller, SCOPE_ALL) && strcmp(caller.who, "open") == 0);
    EXPECT(verdict_of(c, near, "ms_guess") == CALLER_UNKNOWN);
    end();
}

static void used(struct contract *c) {
    int64_t at = 0;
    EXPECT(begin(c, false));
    EXPECT(make(c, "{\"name\": \"ci\", \"scopes\": [\"read\"]}"));
    EXPECT(callers_write_used(callers, engine, &c->error));
    EXPECT(db_value(&c->store->db, &c->error, &at,
                    "SELECT count(*) FROM api_token WHERE used IS NOT NULL", "") == YES);
    EXPECT(at == 0 && verdict_of(c, far, token) == CALLER_KNOWN);
    EXPECT(callers_write_used(callers, engine, &c->error));
    EXPECT(db_value(&c->store->db, &c->error, &at,
                    "SELECT count(*) FROM api_token WHERE used IS NOT NULL", "") == YES);
    EXPECT(at == 1);
    end();
}

static void refuses(struct contract *c) {
    EXPECT(begin(c, false));
    EXPECT(!make(c, "{\"name\": \"a\", \"scopes\": [\"reed\"]}"));
    EXPECT_ERROR("unknown scope \"reed\" (did you mean \"read\"?)");
    EXPECT(!make(c, "{\"name\": \"a\"}"));
    EXPECT_ERROR("scopes: expected one at least (read, payload, enqueue, work, operate, admin)");
    EXPECT(!make(c, "{\"scopes\": [\"read\"]}"));
    EXPECT_ERROR("token: expected a name");
    EXPECT(!make(c, "{\"name\": \"a\", \"scopes\": [\"read\"], \"expires\": \"2020-01-01\"}"));
    EXPECT_ERROR("expires \"2020-01-01\": expected a time that is not over");
    EXPECT(!make(c, "{\"name\": \"a\", \"scopes\": [\"read\"], \"handlers\": [\"*x\"]}"));
    EXPECT_ERROR("handlers \"*x\": expected names, such as \"topic/*\"");
    EXPECT(!make(c, "{\"name\": \"a\", \"scopes\": [\"read\"], \"tennant\": \"x\"}"));
    EXPECT_ERROR("unknown key \"tennant\" (did you mean \"tenant\"?)");
    EXPECT(make(c, "{\"name\": \"a\", \"scopes\": [\"read\"], \"expires\": \"P1D\"}"));
    EXPECT(!make(c, "{\"name\": \"a\", \"scopes\": [\"read\"]}"));
    EXPECT_ERROR("token \"a\": the name is taken (expected another one; moonshift token revoke"
                 " frees it)");
    end();
}

/* From these networks the figures are read without a token, and with a wrong one not. */
static void figures(struct contract *c) {
    static const struct {
        const char *path, *address;
        enum caller_verdict verdict;
    } rows[] = {
        {"metrics", "192.0.2.1", CALLER_KNOWN},     {"metrics", "::ffff:192.0.2.9", CALLER_KNOWN},
        {"metrics", "2001:db8::1", CALLER_KNOWN},   {"metrics", "198.51.100.1", CALLER_UNKNOWN},
        {"metrics", "2001:db8::2", CALLER_UNKNOWN}, {"metrics", "unix", CALLER_UNKNOWN},
        {"v1", "192.0.2.1", CALLER_UNKNOWN},
    };
    json_t *list = json_pack("[ss]", "192.0.2.0/24", "2001:db8::1");
    struct caller caller;
    EXPECT(begin(c, false));
    callers_free(callers);
    struct settings settings = {.metrics_from = list};
    callers = callers_new(&(struct callers_options){.settings = &settings});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exchange exchange = {.parts = {rows[i].path}, .part_count = 1};
        snprintf(exchange.peer.address, sizeof exchange.peer.address, "%s", rows[i].address);
        EXPECT(callers_find(callers, engine, &exchange, &caller, &c->error) == rows[i].verdict);
        EXPECT(caller.scopes == (rows[i].verdict == CALLER_KNOWN ? SCOPE_READ : 0));
        caller_clear(&caller);
    }
    struct named_text header = {"authorization", "Bearer ms_no"};
    struct exchange wrong = {
        .parts = {"metrics"}, .part_count = 1, .headers = &header, .header_count = 1, .peer = far};
    EXPECT(callers_find(callers, engine, &wrong, &caller, &c->error) == CALLER_UNKNOWN);
    caller_clear(&caller);
    end();
    json_decref(list);
}

/* Who asks behind a proxy: the name counts from there alone, and gives what its entry says. */
static enum caller_verdict named(struct contract *c, struct socket_peer peer, const char *user,
                                 const char *groups, struct caller *caller) {
    struct named_text headers[] = {{"x-forwarded-user", user}, {"x-forwarded-groups", groups}};
    const size_t count = (user != NULL) + (groups != NULL);
    struct exchange exchange = {.peer = peer, .headers = headers, .header_count = count};
    return callers_find(callers, engine, &exchange, caller, &c->error);
}

static void forwarded(struct contract *c) {
    static const char users[] =
        "{\"anna\": \"read\", \"@ops\": [\"operate\"], \"@dev\": \"enqueue\","
        " \"@acme\": {\"scopes\": \"work\", \"tenant\": \"acme\", \"handlers\": [\"mail*\"]},"
        " \"*\": \"payload\"}";
    static const struct {
        const char *user, *groups;
        unsigned scopes;
    } rows[] = {
        {"anna", "ops", SCOPE_READ},
        {"ben", "dev", SCOPE_ENQUEUE},
        {"ben", "x, dev ,ops", SCOPE_ENQUEUE | SCOPE_OPERATE | SCOPE_READ | SCOPE_PAYLOAD},
        {"ben", "acme", SCOPE_WORK},
        {"ben", "acme,dev", SCOPE_NONE}, /* they see different things */
        {"ben", "none", SCOPE_PAYLOAD},
        {"ben", NULL, SCOPE_PAYLOAD},
        {"ops", NULL, SCOPE_PAYLOAD},
        {"*", NULL, SCOPE_PAYLOAD},
    };
    struct caller caller, other;
    struct settings settings = {.trust_proxy = json_pack("[ss]", "192.0.2.0/24", "unix"),
                                .user_scopes = json_loads(users, 0, NULL)};
    struct socket_peer local = {.local = true, .user = getuid(), .address = "unix"};
    EXPECT(begin(c, true));
    callers_free(callers);
    callers = callers_new(&(struct callers_options){.open = true, .settings = &settings});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EXPECT(named(c, far, rows[i].user, rows[i].groups, &caller) == CALLER_KNOWN);
        EXPECT(caller.scopes == rows[i].scopes && caller.keys < 0 && !caller.token);
        EXPECT(strncmp(caller.who, "user:", 5) == 0 && strcmp(caller.who + 5, rows[i].user) == 0);
        caller_clear(&caller);
    }
    EXPECT(named(c, local, "ben", "acme", &caller) == CALLER_KNOWN);
    EXPECT(strcmp(caller.tenant, "acme") == 0 && caller_sees_handler(&caller, "mailing"));
    EXPECT(named(c, far, "anna", NULL, &other) == CALLER_KNOWN && other.keys != caller.keys);
    caller_clear(&caller);
    caller_clear(&other);
    /* What such a peer hands on without a name has no rights, neither the owner's nor of --open. */
    EXPECT(named(c, local, "", NULL, &caller) == CALLER_UNKNOWN);
    EXPECT(named(c, local, NULL, NULL, &caller) == CALLER_UNKNOWN);
    EXPECT(named(c, far, NULL, NULL, &caller) == CALLER_UNKNOWN);
    EXPECT(named(c, near, NULL, NULL, &caller) == CALLER_KNOWN);
    EXPECT(strcmp(caller.who, "open") == 0);
    end();
    json_decref(settings.trust_proxy);
    json_decref(settings.user_scopes);
}

static const struct check checks[] = {
    {"a token says who asks, and what that one may and sees", known},
    {"what is no token is refused", unknown},
    {"a token that is revoked is refused, and its name is free", revoked},
    {"who shows twenty unknown tokens waits a minute, and no other", barred},
    {"who shows the right one does not wait with them", spared},
    {"wrong tokens, however many, push out none that count", invented},
    {"a rate is counted on where more tokens are shown than are kept", many},
    {"beyond its rate a token is too fast", too_fast},
    {"the owner of the process may all over a unix socket, another user shows a token", local},
    {"where all is open everybody may all, but for a wrong token", open},
    {"the figures are open to some networks, and nothing else is", figures},
    {"a user whom a trusted proxy names has the scopes of an entry, and the proxy none", forwarded},
    {"when a token was used is written once", used},
    {"a token that cannot be is refused, with the reason", refuses},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
