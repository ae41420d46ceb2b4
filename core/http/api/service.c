#include "http/api/service.h"
#include "http/wire/reply.h"

enum worker_kind service_worker(const struct exchange *exchange) {
    (void)exchange;
    return BY_DOOR;
}

void service_answer(struct engine *engine, const struct caller *caller, struct exchange *exchange) {
    (void)engine, (void)caller;
    reply_problem(exchange, 404, "there is no such path");
}
