/* creation.h - POST /v1/jobs: a job, a list of jobs, or a line each (NDJSON).
 *
 * A creation goes from thread to thread with its exchange. The clerk reads it, or a walker if it is
 * large. A walker completes it where a script is to be asked. The clerk writes all that are
 * complete in one transaction. More jobs than it takes are a walker's. */
#pragma once

#include "engine/create_list.h"
#include "http/api/route.h"

enum {
    CREATION_MOST = 100000, /* jobs of one request */
    CREATION_WHOLE = 1000   /* more are written by a walker, in several transactions */
};

enum creation_step {
    CREATION_ANSWERED, /* or the exchange is none */
    CREATION_READ,     /* a thread with scripts goes on */
    CREATION_COMPLETE  /* it is to be written */
};
enum creation_step creation_step(const struct exchange *exchange);

/* Reads a creation, and goes on as far as the engine can. */
route_run create_jobs;

/* The same of a list whose answer is in the exchange already; `fail` replaces that. */
bool create_jobs_of(struct call *call, const json_t *list,
                    void (*fail)(struct exchange *exchange, const struct error *error),
                    struct error *error);

/* Completes what is read; what is refused is answered. */
void creation_go_on(struct engine *engine, struct exchange *exchange);
/* Writes a list of complete ones, and fills in their answers. */
void creations_write(struct create_list *room, struct engine *engine, struct exchange *list);
/* Answers it with an error. */
void creation_give_up(struct exchange *exchange, const struct error *error);
