/* lost_contract.c - workers that are lost: their run, or a finalizer, does not end; they wait for
 * the other end of a pipe. */
#include "site.h"
#include <fcntl.h>
#include <sys/stat.h>

static char pipe_name[160];
static int pipe_end = -1; /* ours */

static bool pipe_make(struct contract *c) {
    if (pipe_end >= 0)
        close(pipe_end);
    pipe_end = -1;
    snprintf(pipe_name, sizeof pipe_name, "%s/pipe", c->directory);
    return mkfifo(pipe_name, 0600) == 0;
}

/* From here on all readers can go on: also one that was given up before it came to the pipe. Opened
 * for both, a pipe waits for nobody. */
static bool pipe_let_go(void) {
    pipe_end = open(pipe_name, O_RDWR | O_CLOEXEC);
    return pipe_end >= 0;
}

static bool submit_readers(struct contract *c, struct client *client, int first, int last,
                           int lane) {
    struct job job = {.handler = "reader", .lane_id = lane};
    return submit_with(c, client, job, "pipe", first, last);
}

/* So many runs are stuck, or come to within the limit. */
static bool stuck(struct site *site, int count) {
    int found;
    time_ms until = clock_monotonic() + LIMIT;
    do {
        client_tick(site->client);
        client_exhausted(site->client, &found);
    } while (found != count && clock_monotonic() < until);
    return found == count;
}

/* So many workers are free, or come to be within the limit. */
static bool idle(struct site *site, int count) {
    time_ms until = clock_monotonic() + LIMIT;
    while (client_room(site->client).idle != count && clock_monotonic() < until)
        continue;
    return client_room(site->client).idle == count;
}

static void a_run_that_nothing_ends_fails_by_its_timeout(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(c, site.client, 1, 1, 9));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_FAILURE && list->reason == REASON_TIMEOUT);
    EXPECT(list->stuck && !list->lane_ends && list->lane_token == 101);
    EXPECT(strcmp(list->message, "handler \"reader\" ran longer than its timeout of PT0.1S and does"
                                 " not end: before its first line") == 0);
    EXPECT(client_quiet(site.client) && list->ended - list->started >= 200);
    outcome_free_list(list);
    EXPECT(pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived && list->lane_ends && list->lane_token == 101);
    outcome_free_list(list);
    EXPECT(client_quiet(site.client) && stuck(&site, 0));
    CLOSE;
}

static void another_takes_the_place_of_its_worker(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(c, site.client, 1, 1, 0) &&
           submit(&site, "good", 2, 3, 0));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->stuck && list->next->kind == OUTCOME_SUCCESS);
    EXPECT(idle(&site, 1) && client_room(site.client).places == 5);
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0));
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived);
    outcome_free_list(list);
    EXPECT(submit(&site, "good", 4, 4, 0));
    outcome_free_list(outcomes(&site, 1));
    CLOSE;
}

static void what_waits_behind_it_in_its_item_comes_back(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(c, site.client, 1, 3, 9));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->stuck && !list->lane_ends);
    for (struct outcome *outcome = list->next; outcome; outcome = outcome->next) {
        EXPECT(outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE);
        EXPECT(!outcome->lane_ends && outcome->lane_token == 101);
    }
    outcome_free_list(list);
    EXPECT(client_quiet(site.client) && pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived && list->lane_ends && list->job->id == 1);
    outcome_free_list(list);
    EXPECT(stuck(&site, 0));
    CLOSE;
}

static void a_run_that_lost_its_lock_and_goes_on_is_given_up(struct contract *c) {
    OPEN(1);
    struct question question = {.site = &site, .last = 1};
    struct outcome *list = NULL;
    EXPECT(pipe_make(c) && submit_readers(c, site.client, 1, 1, 0) && loaded(&site, 1, 0));
    while (!list) {
        client_cut_lost(site.client, false, first_have_lost, &question);
        client_tick(site.client);
        list = client_outcomes(site.client);
    }
    EXPECT(question.asked > 0 && list->stuck);
    outcome_free_list(list);
    EXPECT(pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived);
    outcome_free_list(list);
    EXPECT(stuck(&site, 0));
    CLOSE;
}

static void beyond_as_many_again_as_there_are_workers_there_is_no_room(struct contract *c) {
    OPEN(1);
    int count;
    EXPECT(pipe_make(c) && submit_readers(c, site.client, 1, 1, 0) && stuck(&site, 1));
    EXPECT(!client_exhausted(site.client, &count) && client_room(site.client).places > 0);
    EXPECT(submit_readers(c, site.client, 2, 2, 0) && submit(&site, "good", 3, 3, 0));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->next && list->next->next);
    EXPECT(list->next->stuck && list->next->next->kind == OUTCOME_RETURNED);
    EXPECT(client_exhausted(site.client, &count) && count == 2);
    EXPECT(client_room(site.client).places == 0 && client_quiet(site.client));
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0) && !client_exhausted(site.client, &count));
    outcome_free_list(outcomes(&site, 2));
    EXPECT(client_room(site.client).places == 5 && submit(&site, "good", 4, 4, 0));
    list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    CLOSE;
}

static void a_script_that_does_not_close_holds_up_nobody(struct contract *c) {
    char text[512];
    OPEN(1);
    EXPECT(pipe_make(c));
    snprintf(text, sizeof text,
             "local kept\nreturn function()\n"
             "  kept = setmetatable({}, { __gc = function() io.open('%s'):close() end })\nend",
             pipe_name);
    const char *const files[][2] = {{"handlers/good.lua", text}};
    EXPECT(renew(c, &site, files, 1) && submit(&site, "good", 1, 1, 0));
    outcome_free_list(outcomes(&site, 1));
    EXPECT(renew(c, &site, handlers, sizeof handlers / sizeof *handlers) && stuck(&site, 1));
    EXPECT(submit(&site, "good", 2, 2, 0));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0));
    CLOSE;
}

static const struct check checks[] = {
    {"a run that nothing ends fails by its timeout", a_run_that_nothing_ends_fails_by_its_timeout},
    {"another takes the place of its worker", another_takes_the_place_of_its_worker},
    {"what waits behind it in its item comes back", what_waits_behind_it_in_its_item_comes_back},
    {"a run that lost its lock and goes on is given up",
     a_run_that_lost_its_lock_and_goes_on_is_given_up},
    {"beyond as many again as there are workers there is no room",
     beyond_as_many_again_as_there_are_workers_there_is_no_room},
    {"a script that does not close holds up nobody", a_script_that_does_not_close_holds_up_nobody},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
