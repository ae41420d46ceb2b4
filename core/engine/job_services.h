/* job_services.h - what a running job may ask of the outside (rules §20). On a worker, writes go to
 * the loop as requests, and questions to a connection of their own that only reads. On the caller's
 * thread both go to the engine's connection. */
#pragma once

#include "engine/job_requests.h"
#include "script/script.h"

struct job_services;
struct engine;

/* Serves jobs on workers. The first question opens the connection. All are borrowed. NULL: no
 * memory. */
struct job_services *job_services_new(const struct settings *settings, struct clock *clock,
                                      struct job_requests *requests);
/* Serves jobs on the thread of this engine, which is borrowed. NULL: no memory. */
struct job_services *job_services_direct(struct engine *engine);
void job_services_free(struct job_services *services);

/* Guards the connection of the engine while a handler of its own runs. */
void job_services_lock(struct job_services *services);
void job_services_unlock(struct job_services *services);

/* The host of every script: any thread for workers, else the engine's. */
struct script_host job_services_host(struct job_services *services);
