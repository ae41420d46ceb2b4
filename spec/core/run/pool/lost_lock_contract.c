/* lost_lock_contract.c - runs and waiting jobs whose lock is lost: one question asks for all of
 * them. */
#include "site.h"

static void a_run_that_lost_its_lock_is_cut_off(struct contract *c) {
    OPEN(1);
    struct question question = {.site = &site, .last = 1};
    EXPECT(submit(&site, "patient", 1, 1, 0));
    EXPECT(loaded(&site, 1, 0));
    struct outcome *list = NULL;
    while (!list) {
        client_cut_lost(site.client, false, first_have_lost, &question);
        list = client_outcomes(site.client);
    }
    EXPECT(question.asked > 0 && list->kind == OUTCOME_CANCELLED);
    outcome_free_list(list);
    CLOSE;
}

/* In each of the queues: plain ones, what must begin at once, and suspects. */
static void what_lost_its_lock_does_not_begin(struct contract *c) {
    static const enum outcome_kind kinds[] = {OUTCOME_CANCELLED, OUTCOME_RETURNED, OUTCOME_SUCCESS};
    const struct job waiting[] = {{.handler = "good"},
                                  {.handler = "good", .begin_by = clock_monotonic() + 2 * LIMIT},
                                  {.handler = "good", .crashes = 1}};
    for (int queue = 0; queue < 3; queue++) {
        OPEN(1);
        struct question question = {.site = &site, .last = 2};
        EXPECT(busy(&site, 0) && submit_like(site.client, waiting[queue], 2, 3));
        client_cut_lost(site.client, true, first_have_lost, &question);
        EXPECT(question.claims == 3);
        struct outcome *list = outcomes(&site, 3);
        EXPECT(list && list->next && list->next->next);
        for (struct outcome *outcome = list; outcome; outcome = outcome->next)
            EXPECT(outcome->kind == kinds[outcome->job->id - 1]);
        outcome_free_list(list);
        CLOSE;
    }
}

static void one_question_is_put_for_all_locks(struct contract *c) {
    OPEN(1);
    struct question question = {.site = &site, .last = 4, .fails = true};
    EXPECT(busy(&site, 3));
    client_cut_lost(site.client, true, first_have_lost, &question);
    EXPECT(question.asked == 1 && question.claims == 4 && !question.held);
    EXPECT(loaded(&site, 1, 3)); /* without an answer nothing is cut off */
    for (const struct work_item *item = site.client->queue.first; item; item = item->next)
        EXPECT(!item->refused);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 4));
    CLOSE;
}

struct moment {
    struct contract *c;
    struct site *site;
};

/* Job 2 begins before the answer, which is that it has lost its lock. */
static bool lost_as_it_begins(void *arg, struct store_claim *claims, size_t count) {
    struct moment *moment = arg;
    struct site *site = moment->site;
    const struct worker *worker = site->pool->workers[0];
    time_ms until = clock_monotonic() + LIMIT;
    bool begun = false;
    for (size_t i = 0; i < count; i++)
        claims[i].lost = claims[i].job == 2;
    let_go(moment->c);
    while (!begun && clock_monotonic() < until) {
        mutex_lock(&site->pool->mutex);
        begun = worker->job == 2 && worker->script;
        mutex_unlock(&site->pool->mutex);
    }
    return begun;
}

static void a_job_that_begins_while_its_lock_is_asked_for_is_cut_off(struct contract *c) {
    OPEN(1);
    struct moment moment = {c, &site};
    EXPECT(submit_gated(c, &site, 1) && loaded(&site, 1, 0));
    EXPECT(submit(&site, "patient", 2, 2, 0));
    client_cut_lost(site.client, true, lost_as_it_begins, &moment);
    struct outcome *list = outcomes(&site, 2);
    EXPECT(list && list->job->id == 1 && list->kind == OUTCOME_SUCCESS);
    EXPECT(list->next && list->next->kind == OUTCOME_CANCELLED);
    outcome_free_list(list);
    CLOSE;
}

static const struct check checks[] = {
    {"a run that lost its lock is cut off", a_run_that_lost_its_lock_is_cut_off},
    {"what lost its lock does not begin", what_lost_its_lock_does_not_begin},
    {"one question is put for all locks", one_question_is_put_for_all_locks},
    {"a job that begins while its lock is asked for is cut off",
     a_job_that_begins_while_its_lock_is_asked_for_is_cut_off},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
