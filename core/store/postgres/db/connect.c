#include "store/postgres/db/connect.h"
#include "base/clock.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSAL_WAIT 5000 /* ms */

/* What holds unless the URL or the environment says otherwise. The server is given up when it is
 * silent for 10 s. */
static const char *const defaults[][2] = {
    {"connect_timeout", "5"},     {"tcp_user_timeout", "10000"}, {"keepalives_idle", "5"},
    {"keepalives_interval", "2"}, {"keepalives_count", "3"},     {"application_name", "moonshift"},
};

enum { OPTIONS_MAX = 80 };

/* libpq asks the environment by itself. */
static const char *default_of(const PQconninfoOption *option) {
    if (option->envvar && getenv(option->envvar))
        return NULL;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strcmp(defaults[i][0], option->keyword) == 0)
            return defaults[i][1];
    return NULL;
}

struct words {
    const char *keywords[OPTIONS_MAX + 1], *values[OPTIONS_MAX + 1];
};

static void collect(struct words *words, const struct address *address) {
    size_t count = 0;
    for (const PQconninfoOption *one = address->options; one->keyword && count < OPTIONS_MAX;
         one++) {
        const char *value = one->val ? one->val : default_of(one);
        if (strcmp(one->keyword, "client_encoding") == 0)
            value = "UTF8";
        if (!value || !*value)
            continue;
        words->keywords[count] = one->keyword;
        words->values[count++] = value;
    }
    words->keywords[count] = words->values[count] = NULL;
}

/* ---- several servers ---- */

static const char **value_of(struct words *words, const char *keyword) {
    for (size_t i = 0; words->keywords[i]; i++)
        if (strcmp(words->keywords[i], keyword) == 0)
            return &words->values[i];
    return NULL;
}

static const char **hosts_of(struct words *words) {
    const char **hosts = value_of(words, "host");
    return hosts ? hosts : value_of(words, "hostaddr");
}

/* Takes the first one out of a list; a word that is no list holds for all hosts. */
static void drop_first(struct words *words, const char *keyword) {
    const char **value = value_of(words, keyword);
    const char *next = value ? strchr(*value, ',') : NULL;
    if (next)
        *value = next + 1;
}

static bool drop_host(struct words *words) {
    const char **hosts = hosts_of(words);
    if (!hosts || !strchr(*hosts, ','))
        return false;
    drop_first(words, "host");
    drop_first(words, "hostaddr");
    drop_first(words, "port");
    return true;
}

/* libpq stops at a host that accepts the connection and hangs up, such as a proxy whose server is
 * away. The hosts behind it are tried as well. */
PGconn *connect_to(const struct address *address) {
    struct words words;
    collect(&words, address);
    for (;;) {
        PGconn *link = PQconnectdbParams(words.keywords, words.values, 0);
        if (!link || PQstatus(link) == CONNECTION_OK || !drop_host(&words))
            return link;
        PQfinish(link);
    }
}

/* Waits for what the connection waits for. False: too long. */
static bool connect_await(PGconn *link, PostgresPollingStatusType wanted, time_ms end) {
    const short events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    struct pollfd socket = {.fd = PQsocket(link), .events = events};
    const time_ms left = end - clock_monotonic();
    return left > 0 && poll(&socket, 1, (int)left) > 0;
}

/* With this verbosity libpq says the SQLSTATE instead of the words. */
static void connect_ask(PGconn *link) {
    const time_ms end = clock_monotonic() + REFUSAL_WAIT;
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    PQsetErrorVerbosity(link, PQERRORS_SQLSTATE);
    while ((status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) &&
           connect_await(link, status, end))
        status = PQconnectPoll(link);
}

/* False: no host answers. */
static bool refused_with(const struct words *words, char state[6]) {
    static const char mark[] = "FATAL:  ";
    PGconn *link = PQconnectStartParams(words->keywords, words->values, 0);
    if (link && PQstatus(link) != CONNECTION_BAD)
        connect_ask(link);
    const char *said = link ? strstr(PQerrorMessage(link), mark) : NULL;
    bool told = said && strlen(said) >= strlen(mark) + 5;
    if (told)
        snprintf(state, 6, "%.5s", said + strlen(mark));
    PQfinish(link);
    return told;
}

const char *connect_refusal(const struct address *address, char state[6]) {
    struct words words;
    collect(&words, address);
    bool told = refused_with(&words, state);
    while (!told && drop_host(&words))
        told = refused_with(&words, state);
    if (!told)
        strcpy(state, "08001");
    return state;
}
