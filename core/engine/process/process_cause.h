/* process_cause.h - what a command to a process means: the cause from which the walk begins. */
#pragma once

#include "engine/engine.h"

enum { SIGNAL_MOST = 100 }; /* that a walk gives a signal to */

struct process_cause {
    json_t *command;                 /* as it was given, names as texts; owned */
    json_t *object;                  /* what lua/moonshift/process/commands.lua takes; owned */
    json_t *frame;                   /* of the instance, as ASK_FRAME says it; NULL: none; owned */
    int64_t instance;                /* that it is about; 0: it begins one */
    char key[JOB_NAME_MAX + 1];      /* of the process */
    char activity[JOB_NAME_MAX + 1]; /* where it waits; "": not known, or nowhere */
    bool suspended;                  /* the instance is, or the process that begins one */
    bool ends;                       /* it ends the instance */
    bool lists;                      /* its answer is a list of instances */
    bool broadcast;                  /* a signal: the walk gives it to all that wait for it, */
    size_t receivers;                /* so many; SIGNAL_MOST + 1 stands for more */
    time_ms until;                   /* a message is kept so long at most; TIME_NONE: it is not */
    time_ms keeps;                   /* a message that nothing waits for: so long; 0: none */
};

/* Reads a command of engine_process and looks up what it names. With `keeps` there is no process,
 * and the object has `name`, and as given `key`, `instance`, `business_key`. False: error, which
 * names what is not there, or all that could be meant. process_cause_clear in any case. */
bool process_cause_read(struct process_cause *cause, struct engine *engine, const json_t *command,
                        struct error *error);
/* What a command is about, by its own words: the texts are those of the answer, which is the
 * caller's. NULL: it does not say so. */
json_t *process_cause_about(const json_t *command, struct store_reach *about);
/* Refuses what would be done to a suspended instance, or begin one of a suspended process; the unit
 * is held against it once more. A job that ends an instance would wait. */
bool process_cause_may(const struct process_cause *cause, struct error *error);
void process_cause_clear(struct process_cause *cause);

/* For the readings that follow, of these commands: what they name is asked for at once where each
 * question is a wait, as far as the answers before say what to ask. What is wrong with one of them
 * its own reading says. Answers are known until process_causes_forget. */
void process_causes_ask(struct engine *engine, const json_t *const *commands, size_t count);
void process_causes_forget(struct engine *engine);
