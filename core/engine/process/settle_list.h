/* settle_list.h - what workers outside hand back, as the faces say it (rules §24). */
#pragma once

#include "engine/engine.h"
#include "engine/fetch.h"

enum { SETTLE_MAX = 1000 }; /* outcomes in one call */

/* Takes back what workers outside have done. The question: { outcomes, worker, fetch }. An outcome
 * is { id, token, outcome }, and by that word:
 *   - complete: result; of an activity also variables, which are set in its instance;
 *   - fail: message, stack, permanent; retries and in (a span) instead of what the definition says;
 *   - error: code, message, variables: a BPMN error of an activity. Another job is dead by it;
 *   - snooze: in;   - extend: lock;   - release.
 * `worker`: only its own locks count. *answer, which is empty before: a text with `outcomes` and
 * `jobs`. An entry of outcomes is { id, outcome }, with `code` and `message` where it was refused
 * and changed nothing; jobs is what `fetch` gave, see engine_fetch. text_clear. What moves
 * instances is written first, all the rest in one transaction, with the fetch. */
bool engine_settle(struct engine *engine, const json_t *question, struct text *answer,
                   struct error *error);

/* What one worker hands back and asks for. A thread reads it, and that one or another one writes it
 * with those of others in one transaction. */
struct settlement {
    struct settlement *next;
    const char *who;    /* in whose name it is written; "": nobody's; NULL: as the engine acts */
    bool fine;          /* out: it is on the disk, */
    struct error error; /* or why not */
    struct fetched fetched; /* out */
    /* ---- private ---- */
    json_t *question;
    const char *worker; /* NULL: any */
    struct handed_back *list;
    size_t count;
    struct fetch *wanted; /* NULL: nothing */
    bool chained;         /* its outcomes are written with those of another one */
};

/* The question of engine_settle: reads it, and makes the outcomes. Or that of engine_fetch.
 * settlement_clear in any case. */
bool settlement_read(struct settlement *asked, struct engine *engine, const json_t *question,
                     struct error *error);
bool settlement_read_fetch(struct settlement *asked, struct engine *engine, const json_t *question,
                           struct error *error);
/* True if it moves instances, which takes as long as their handlers. */
bool settlement_walks(const struct settlement *asked);
/* Writes what moves instances, of a list that this engine has read. One that has an error then is
 * not written further. */
void settlements_walk(struct engine *engine, struct settlement *list);
/* True if only the engine that has read it may write it: jobs that it creates go by its folder. */
bool settlement_stays(const struct settlement *asked);
/* Writes a list of them, all that goes in one transaction. If that fails each is tried alone. */
void settlements_write(struct engine *engine, struct settlement *list);
/* What engine_settle answers, of one that is fine. */
bool settlement_answer(const struct settlement *asked, struct text *answer, struct error *error);
/* What it says of the entry number `at`. False: that is refused, and why. */
bool settlement_verdict(const struct settlement *asked, size_t at, struct text *answer,
                        struct error *error);
void settlement_clear(struct settlement *asked);
