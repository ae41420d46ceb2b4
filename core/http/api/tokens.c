#include "http/api/tokens.h"
#include "base/json.h"
#include "engine/command/token.h"
#include "http/api/call.h"
#include "http/api/sight.h"

bool create_token(struct call *call, struct error *error) {
    char token[TOKEN_SIZE];
    return sight_whole(call, error) &&
           engine_token_create(call->engine, call->body, token, error) &&
           call_answer(
               call, 201,
               json_pack("{sO ss}", "name", json_object_get(call->body, "name"), "token", token),
               error);
}

bool revoke_token(struct call *call, struct error *error) {
    return sight_whole(call, error) && engine_token_revoke(call->engine, call->place.name, error) &&
           call_answer(call, 200, json_pack("{sb}", "revoked", 1), error);
}
