/* session.c - one connection: how it begins, how a flight of statements is read, and what errors of
 * the server mean. */
#include "base/text.h"
#include "store/postgres/db/connect.h"
#include "store/postgres/db/driver.h"
#include "store/rules/ground/transaction.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_BUDGET 5000 /* ms, as in every engine */
#define STATEMENT_WAIT 30000 /* ms; the server ends what takes longer, */
#define ANSWER_WAIT 40000    /* and a server that does not even do that is gone */
#define OPENING_WAIT 10000   /* ms for the settings of a new session */
#define LOOK_EVERY 100       /* ms between two looks at what may end a wait */

/* ---- errors ---- */

struct error_class {
    const char *state; /* SQLSTATE, or how it begins */
    enum error_code code;
};

/* The first that fits. */
static const struct error_class classes[] = {
    {"53", ERROR_FULL},           {"40001", ERROR_BUSY},     {"40P01", ERROR_BUSY},
    {"55P03", ERROR_BUSY},        {"28", ERROR_CONFIG},      {"3D", ERROR_CONFIG},
    {"3F", ERROR_CONFIG},         {"42501", ERROR_CONFIG},   {"42P01", ERROR_CONFIG},
    {"XX001", ERROR_DAMAGED},     {"XX002", ERROR_DAMAGED},  {"58", ERROR_IO},
    {"57014", ERROR_INTERRUPTED}, {"08", ERROR_UNAVAILABLE}, {"57P", ERROR_UNAVAILABLE},
    {"42703", ERROR_CONFIG},      {"42P05", ERROR_CONFIG},   {"26000", ERROR_CONFIG},
    {"", ERROR_FAILED},
};

static enum error_code code_of(const char *state) {
    size_t at = 0;
    while (strncmp(state, classes[at].state, strlen(classes[at].state)) != 0)
        at++;
    return classes[at].code;
}

/* The connection is of no use, though it may not know yet. */
static bool state_is_loss(const char *state) {
    return strncmp(state, "08", 2) == 0 || strncmp(state, "57P", 3) == 0 ||
           strcmp(state, "25006") == 0 || strcmp(state, "25P03") == 0;
}

/* Whether a commit took place is not known then: nothing may go on as if it had not. */
static enum error_code loss_code(const struct session *session) {
    return session->ending ? ERROR_IO : ERROR_UNAVAILABLE;
}

/* Notes the first error of a flight. */
static void note_failure(struct session *session, const char *state, const char *text) {
    if (session->failed)
        return;
    size_t size = strcspn(text, "\n");
    session->failed = true;
    snprintf(session->state, sizeof session->state, "%s", state);
    bool lost = state_is_loss(state);
    session->lost = session->lost || lost;
    session->db->corrupt = session->db->corrupt || code_of(state) == ERROR_DAMAGED;
    error_set(&session->failure, lost ? loss_code(session) : code_of(state), "store \"%s\": %.*s",
              session->db->name, (int)(size < 1000 ? size : 1000), text);
}

static void note_loss(struct session *session, const char *why) {
    session->lost = true;
    if (session->failed)
        return;
    size_t size = strcspn(why, "\n");
    session->failed = true;
    session->state[0] = 0;
    error_set(&session->failure, loss_code(session),
              "store \"%s\": the connection was lost%s (%.*s)", session->db->name,
              session->ending ? " during a commit" : "", (int)(size < 500 ? size : 500), why);
}

static bool tell_failure(struct session *session, struct error *error) {
    struct db *db = session->db;
    if (strcmp(session->state, "57014") == 0 && db->deadline)
        return db_late(db, error);
    /* It may be more than the server takes. The asker can help. */
    if (session->asks && strncmp(session->state, "54", 2) == 0)
        return error_set(error, ERROR_INVALID, "filters: too long a question (%s)",
                         session->failure.text);
    return error_set(error, session->failure.code, "%s", session->failure.text);
}

/* ---- waiting ---- */

static void cancel(struct session *session) {
    char ignored[256];
    PGcancel *request = PQgetCancel(session->link);
    if (request)
        PQcancel(request, ignored, sizeof ignored);
    PQfreeCancel(request);
    session->cancelled = true;
}

/* Monotonic: when the present wait is ended by us. Patience may end while a transaction waits. */
static time_ms wait_end(const struct session *session, time_ms begun) {
    if (session->opens && !session->spare)
        return begun + OPENING_WAIT;
    if (session->begins)
        return transaction_patience(session->begins, session->begun);
    if (session->ends_by)
        return session->ends_by;
    if (session->db->patient)
        return TIME_NEVER - ANSWER_WAIT;
    return session->db->deadline ? session->db->deadline : begun + STATEMENT_WAIT + LOOK_EVERY;
}

static bool wait_is_over(const struct session *session, time_ms begun) {
    const struct db *db = session->db;
    return clock_monotonic() >= wait_end(session, begun) ||
           (db->deadline && db->hurried && db->hurried());
}

/* Waits until the next result can be had. False: the connection is lost. A commit that is cancelled
 * would be acknowledged without the standby that it waits for. */
static bool await_result(struct session *session) {
    const time_ms begun = clock_monotonic();
    session->cancelled = false;
    while (PQisBusy(session->link)) {
        struct pollfd socket = {.fd = PQsocket(session->link), .events = POLLIN};
        int ready = poll(&socket, 1, LOOK_EVERY);
        if ((ready < 0 && errno != EINTR) || (ready > 0 && !PQconsumeInput(session->link)))
            return false;
        if (ready > 0)
            continue;
        if (!session->cancelled && wait_is_over(session, begun)) {
            if (session->ending || session->spare || session->opens)
                return false;
            cancel(session);
        }
        if (clock_monotonic() > wait_end(session, begun) + ANSWER_WAIT)
            return false;
    }
    return true;
}

static PGresult *next_result(struct session *session) {
    if (PQstatus(session->link) == CONNECTION_OK && await_result(session))
        return PQgetResult(session->link);
    return NULL;
}

/* ---- flights ---- */

static void keep_rows(struct session *session, const struct sent *sent, struct statement *into,
                      PGresult *result) {
    if (!sent->prepares)
        session->changes = atoi(PQcmdTuples(result));
    if (sent->prepares || (sent->statement != into && !sent->ahead)) {
        PQclear(result);
        return;
    }
    PQclear(sent->statement->result);
    sent->statement->result = result;
}

/* Notes why a statement was refused. `statement` NULL: it has no parameters. */
static void note_refusal(struct session *session, const struct statement *statement,
                         const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state && strcmp(state, "25006") == 0)
        text = "the server is read only (expected the primary)";
    if (state && (strcmp(state, "42P05") == 0 || strcmp(state, "26000") == 0))
        text = SESSION_SHARED;
    if (!session->failed)
        session->asks = statement && statement->asked;
    note_failure(session, state ? state : "08000", text ? text : PQresultErrorMessage(result));
}

static void count_rows(struct session *session, const struct sent *sent, const PGresult *result) {
    char text[80];
    int count = sent->counted ? atoi(PQcmdTuples((PGresult *)result)) : 0;
    if (!sent->counted || count == sent->wanted)
        return;
    snprintf(text, sizeof text, DB_MISCOUNTED, count, sent->wanted);
    note_failure(session, "XX001", text);
}

/* One answer of the flight. False: the connection is lost. */
static bool read_answer(struct session *session, const struct sent *sent, struct statement *into) {
    PGresult *result = next_result(session);
    if (!result)
        return false;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        count_rows(session, sent, result);
        keep_rows(session, sent, into, result);
    } else {
        if (sent->prepares)
            sent->statement->known = 0;
        if (status != PGRES_PIPELINE_ABORTED)
            note_refusal(session, sent->statement, result);
        PQclear(result);
    }
    PQclear(PQgetResult(session->link)); /* nothing more of this statement */
    return true;
}

/* The end of a flight. False: the connection is lost. */
static bool read_end(struct session *session) {
    PGresult *end = next_result(session);
    bool whole = end && PQresultStatus(end) == PGRES_PIPELINE_SYNC;
    PQclear(end);
    return whole;
}

static void read_flight(struct session *session, struct statement *into) {
    bool here = PQpipelineSync(session->link) == 1;
    session->waits++;
    for (size_t i = 0; here && i < session->count; i++)
        here = read_answer(session, &session->flight[i], into) &&
               (i + 1 != session->parted || read_end(session));
    if (!here || !read_end(session))
        note_loss(session, PQerrorMessage(session->link));
}

/* Whoever watches its socket would be called again and again. */
static void close_lost(struct session *session) {
    if (!session->lost)
        return;
    PQfinish(session->link);
    session->link = NULL;
}

bool session_land(struct session *session, struct statement *into, struct error *error) {
    if (session->count && !session->lost)
        read_flight(session, into);
    session->count = session->parted = 0;
    close_lost(session);
    const struct db *db = session->db;
    if (!session->failed && db->deadline && clock_monotonic() >= db->deadline)
        note_failure(session, "57014", "too late");
    if (!session->failed)
        return true;
    tell_failure(session, error);
    session->failed = session->queues || session->lost;
    return false;
}

/* A pool may have accepted a connection for which it has no server yet. */
static PGresult *execute(struct session *session, const char *sql) {
    if (!session->opens)
        return PQexec(session->link, sql);
    PGresult *result = PQsendQuery(session->link, sql) == 1 ? next_result(session) : NULL;
    const char *why = PQerrorMessage(session->link);
    if (result)
        PQclear(next_result(session)); /* nothing more of this statement */
    else
        note_loss(session, *why ? why : "no answer; a pool may have no connection left");
    return result;
}

/* Several statements at once are run only outside of the pipeline. */
bool session_execute(struct session *session, const char *sql, struct error *error) {
    if (!session_land(session, NULL, error))
        return false;
    session->minded = true;
    bool piped = PQpipelineStatus(session->link) != PQ_PIPELINE_OFF;
    if (piped && PQexitPipelineMode(session->link) != 1)
        return error_set(error, ERROR_FAILED, "store \"%s\": %s", session->db->name,
                         PQerrorMessage(session->link));
    PGresult *result = execute(session, sql);
    ExecStatusType status = PQresultStatus(result);
    bool fine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!fine && !session->failed)
        note_refusal(session, NULL, result);
    PQclear(result);
    if (piped && PQenterPipelineMode(session->link) != 1)
        note_loss(session, PQerrorMessage(session->link));
    return session_land(session, NULL, error);
}

static bool send_message(struct session *session, struct statement *statement, bool prepares) {
    session->flight[session->count++] = (struct sent){.statement = statement, .prepares = prepares};
    if (prepares)
        return PQsendPrepare(session->link, statement->name, statement->sql, statement->count,
                             statement->types) == 1;
    if (statement->name[0])
        return PQsendQueryPrepared(session->link, statement->name, statement->count,
                                   statement->values, statement->sizes, statement->formats, 1) == 1;
    return PQsendQueryParams(session->link, statement->sql, statement->count, statement->types,
                             statement->values, statement->sizes, statement->formats, 1) == 1;
}

/* What cannot be sent was not; the flight before it stands. */
static bool send_refused(struct session *session, const struct statement *statement,
                         struct error *error) {
    session->count--;
    if (!session->failed)
        session->asks = statement->asked;
    if (PQstatus(session->link) != CONNECTION_OK)
        note_loss(session, PQerrorMessage(session->link));
    else
        note_failure(session, statement->asked ? "54000" : "", PQerrorMessage(session->link));
    return session_land(session, NULL, error);
}

/* Behind a pool settings go with each transaction: behind its BEGIN, or in front of the one
 * statement that is a transaction. One that has failed takes nothing but its end. */
static bool send_settled(struct session *session, struct statement *statement) {
    static const char end[] = "ROLLBACK";
    if (!session->settings || session->settled || strncmp(statement->sql, end, strlen(end)) == 0)
        return send_message(session, statement, false);
    if (!session->queues)
        return send_message(session, session->settings, false) &&
               send_message(session, statement, false);
    session->settled = true;
    return send_message(session, statement, false) &&
           send_message(session, session->settings, false);
}

static bool send_bound(struct session *session, struct statement *statement, struct error *error) {
    if (session->lost && !session->failed)
        note_loss(session, "earlier");
    session->minded = session->minded || statement->minded;
    if (session->failed || session->count + 3 > FLIGHT_MAX)
        if (!session_land(session, NULL, error))
            return false;
    if (statement->name[0] && statement->known != session->generation) {
        if (!send_message(session, statement, true))
            return send_refused(session, statement, error);
        statement->known = session->generation;
    }
    return send_settled(session, statement) || send_refused(session, statement, error);
}

/* libpq has copied the values. */
bool session_send(struct session *session, struct statement *statement, struct error *error) {
    bool sent = send_bound(session, statement, error);
    session->statements++;
    statement_unbind(statement);
    return sent;
}

void session_push(struct session *session) {
    if (!session->lost)
        PQflush(session->link);
}

void session_part(struct session *session) {
    if (session->parted)
        session_land(session, NULL, NULL);
    if (session->lost || !session->count || PQpipelineSync(session->link) != 1)
        return;
    PQflush(session->link);
    session->parted = session->count;
}

bool session_send_ahead(struct session *session, struct statement *statement, struct error *error) {
    if (!session_send(session, statement, error))
        return false;
    statement->ahead = session->flight[session->count - 1].ahead = true;
    return true;
}

void session_enter(struct session *session) {
    session->queues = true;
    session->settled = session->minded = false;
}

void session_leave(struct session *session) {
    session->queues = session->settled = false;
    session->failed = session->lost;
}

void session_return(struct session *session) {
    session_land(session, NULL, NULL);
    session->failed = session->lost;
}

/* A loss is news as well: the next transaction connects again. */
bool session_notified(struct session *session, const char *apart, bool *of_it) {
    bool any = false;
    if (session->lost)
        return false;
    if (PQconsumeInput(session->link) == 0) {
        note_loss(session, PQerrorMessage(session->link));
        close_lost(session);
        return true;
    }
    for (PGnotify *one = NULL; (one = PQnotifies(session->link)); PQfreemem(one)) {
        const bool other = strcmp(one->relname, apart) != 0;
        any = any || other;
        *of_it = *of_it || !other;
    }
    return any;
}

int session_socket(const struct session *session) {
    return session->lost ? -1 : PQsocket(session->link);
}

/* ---- connecting ---- */

static void ignore_notice(void *arg, const PGresult *result) {
    (void)arg;
    (void)result;
}

static bool refuse_password(struct session *session, struct error *error) {
    session->lost = true;
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": cannot connect: the server asks for a password (expected one in"
                     " ~/.pgpass or PGPASSWORD)",
                     session->db->name);
}

static bool refuse_connection(struct session *session, const struct address *address,
                              struct error *error) {
    const char *text = PQerrorMessage(session->link);
    const char *why = strstr(text, "FATAL:  ");
    char state[6];
    why = why ? why + strlen("FATAL:  ") : text;
    size_t size = strcspn(why, "\n");
    session->lost = true;
    const bool silent = strstr(text, "timeout expired") != NULL; /* it would be so again */
    return error_set(error, silent ? ERROR_UNAVAILABLE : code_of(connect_refusal(address, state)),
                     "store \"%s\": cannot connect: %.*s", session->db->name,
                     (int)(size < 500 ? size : 500), why);
}

/* What holds in every transaction. No plan is chosen by an empty table. As a scan of a whole table
 * seems dear, helpers would be started for that of a small one. */
static const char *const settings[][2] = {
    {"plan_cache_mode", "force_generic_plan"},
    {"jit", "off"},
    {"enable_seqscan", "off"},
    {"enable_hashjoin", "off"},
    {"enable_mergejoin", "off"},
    {"enable_memoize", "off"},
    {"max_parallel_workers_per_gather", "0"},
    {"statement_timeout", "30000"}, /* STATEMENT_WAIT */
    {"lock_timeout", "0"},          /* the gate is waited for as long as a statement may take */
    {"idle_in_transaction_session_timeout", "10000"},
    {"idle_session_timeout", "0"}, /* an executor waits for work in its session */
    {"client_min_messages", "warning"},
    {"bytea_output", "hex"},
};

/* As one question; `local`: until the end of the transaction. */
static void add_settings(struct text *text, const struct address *address, bool local) {
    const char *until = local ? "true" : "false";
    text_add(text, "SELECT pg_catalog.set_config('search_path', '%s', %s)", address->schema, until);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        text_add(text, ", pg_catalog.set_config('%s', '%s', %s)", settings[i][0], settings[i][1],
                 until);
}

static bool keep_settings(struct session *session, struct text *text, struct error *error) {
    session->settings = calloc(1, sizeof *session->settings);
    if (!session->settings)
        return error_no_memory(error);
    session->settings->session = session;
    session->settings->sql = text->data;
    *text = (struct text){0};
    return true;
}

static bool configure(struct session *session, const struct address *address, struct error *error) {
    struct text text = {0};
    if (session->settings)
        return true;
    add_settings(&text, address, address->pooled);
    bool fine = !text.failed || error_no_memory(error);
    if (fine)
        fine = address->pooled ? keep_settings(session, &text, error)
                               : db_execute(session->db, text.data, error);
    text_clear(&text);
    return fine;
}

void session_close(struct session *session) {
    PQfinish(session->link);
    session->link = NULL;
    if (session->settings)
        free(session->settings->sql);
    free(session->settings);
    session->settings = NULL;
}

enum { SERVER_OLDEST = 14 };

/* Can the server hold a store? A pool may not know its version. */
static bool suits(struct session *session, struct error *error) {
    const int version = PQserverVersion(session->link);
    const char *encoding = PQparameterStatus(session->link, "server_encoding");
    if (version && version < SERVER_OLDEST * 10000)
        error_set(error, ERROR_CONFIG, "store \"%s\": PostgreSQL %s (expected version %d or later)",
                  session->db->name, PQparameterStatus(session->link, "server_version"),
                  SERVER_OLDEST);
    else if (encoding && strcmp(encoding, "UTF8") != 0)
        error_set(error, ERROR_CONFIG, "store \"%s\": a database with encoding %s (expected UTF8)",
                  session->db->name, encoding);
    else
        return true;
    session->lost = true;
    return false;
}

static bool begin_session(struct session *session, const struct address *address,
                          struct error *error) {
    session->generation++;
    session->since = clock_monotonic();
    session->link = connect_to(address);
    if (!session->link)
        return error_no_memory(error);
    if (PQstatus(session->link) != CONNECTION_OK && PQconnectionNeedsPassword(session->link))
        return refuse_password(session, error);
    if (PQstatus(session->link) != CONNECTION_OK)
        return refuse_connection(session, address, error);
    if (!suits(session, error))
        return false;
    PQsetNoticeReceiver(session->link, ignore_notice, NULL);
    session->opens = true;
    const bool configured = configure(session, address, error);
    session->opens = false;
    return configured &&
           (PQenterPipelineMode(session->link) == 1 || refuse_connection(session, address, error));
}

bool session_open(struct session *session, struct db *db, const struct address *address,
                  struct error *error) {
    *session = (struct session){.db = db, .spare = session->spare};
    db->driver = &postgres_driver;
    db->handle = session;
    db->budget = QUESTION_BUDGET;
    db->name = strdup(address->name);
    return db->name ? begin_session(session, address, error) : error_no_memory(error);
}

bool session_reopen(struct session *session, const struct address *address, struct error *error) {
    PQfinish(session->link);
    session->link = NULL;
    session->count = session->parted = 0;
    session->lost = session->failed = session->queues = false;
    session->lost = !begin_session(session, address, error);
    return !session->lost;
}
