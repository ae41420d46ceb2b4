#include "store/token.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

enum { ENTITY_SIZE = 320 };

static const struct filter token_filters[] = {
    {"name", "NAME,…", "these tokens"},
    {0},
};

static const struct ask_column token_columns[] = {
    {"id", ASK_INTEGER, "id", ASK_SORT},        {"name", ASK_TEXT, "name", ASK_BOTH},
    {"hint", ASK_TEXT, "hint", ASK_SHOW},       {"scopes", ASK_TEXT, "scopes", ASK_SHOW},
    {"tenant", ASK_TEXT, "tenant", ASK_SHOW},   {"handlers", ASK_LIST, "handlers", ASK_SHOW},
    {"rate", ASK_TEXT, "rate", ASK_SHOW},       {"created", ASK_TIME, "created", ASK_SORT},
    {"expires", ASK_TIME, "expires", ASK_SORT}, {"used", ASK_TIME, "used", ASK_SORT},
    {"revoked", ASK_TIME, "revoked", ASK_SORT}, {0},
};

const struct ask_table token_table = {
    "tokens",
    token_columns,
    token_filters,
    .shown = "name=,hint=,scopes+,tenant?,handlers?,rate?,expires?,used,revoked?",
    .from = " FROM api_token",
    .asked = "tokens"};

static bool token_note(struct store *store, const char *verb, const char *name, const char *scopes,
                       time_ms now, struct error *error) {
    char entity[ENTITY_SIZE];
    snprintf(entity, sizeof entity, "token/%s", name);
    return operation_write(store, verb, entity, 1, NULL, scopes, now, error);
}

bool store_token_create(struct store *store, const struct store_token *token, time_ms now,
                        int64_t *id, struct error *error) {
    enum answer made = db_value(
        &store->db, error, id,
        "INSERT INTO api_token(name, hash, hint, scopes, tenant, handlers, rate, created, expires)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
        " ON CONFLICT(name) WHERE revoked IS NULL DO NOTHING RETURNING id",
        "tttttttiT", token->name, token->hash, token->hint, token->scopes, token->tenant,
        token->handlers, token->rate, now, token->expires);
    if (made == NO)
        return error_set(error, ERROR_CONFLICT,
                         "token \"%s\": the name is taken (expected another one; moonshift token"
                         " revoke frees it)",
                         token->name);
    return made == YES && token_note(store, "create_token", token->name, token->scopes, now, error);
}

bool store_token_revoke(struct store *store, const char *name, time_ms now, struct error *error) {
    int64_t id;
    enum answer found =
        db_value(&store->db, error, &id,
                 "UPDATE api_token SET revoked=?2 WHERE name=?1 AND revoked IS NULL RETURNING id",
                 "ti", name, now);
    if (found == NO)
        return error_set(error, ERROR_NOT_FOUND, "no token \"%s\"", name);
    return found == YES && token_note(store, "revoke_token", name, NULL, now, error);
}

static json_t *token_json(struct row *row) {
    return json_pack("{sI ss ss ss* ss* ss* sI}", "id", (json_int_t)row_int(row, 0), "name",
                     row_text(row, 1), "scopes", row_text(row, 2), "tenant", row_text(row, 3),
                     "handlers", row_text(row, 4), "rate", row_text(row, 5), "expires",
                     (json_int_t)row_time(row, 6));
}

static json_t *token_look_up(struct store *store, const char *hash, time_ms now,
                             struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT id, name, scopes, tenant, handlers, rate, expires"
                               " FROM api_token WHERE hash=?1 AND revoked IS NULL"
                               " AND (expires IS NULL OR expires>?2)",
                               "ti", hash, now);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO ? json_null() : NULL;
    json_t *token = token_json(row);
    row_done(row);
    if (!token)
        error_no_memory(error);
    return token;
}

json_t *store_token_find(struct store *store, const char *hash, time_ms now, struct error *error) {
    bool own = false;
    if (!store_look(store, &own, error))
        return NULL;
    json_t *token = token_look_up(store, hash, now, error);
    store_look_end(store, own);
    return token;
}

bool store_token_used(struct store *store, int64_t id, time_ms now, struct error *error) {
    return db_run(&store->db, error, "UPDATE api_token SET used=?2 WHERE id=?1", "ii", id, now);
}
