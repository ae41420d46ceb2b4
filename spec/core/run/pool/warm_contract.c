/* warm_contract.c - workers go on with Lua states that were loaded ahead of them. A double of
 * script_open counts those that are loaded, and one of script_close may be held. */
#include "site.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int opened;
static atomic_int refused; /* so many more cannot be loaded */

struct script *__real_script_open(const struct script_options *options, struct error *error);
struct script *__wrap_script_open(const struct script_options *options, struct error *error);

struct script *__wrap_script_open(const struct script_options *options, struct error *error) {
    atomic_fetch_add(&opened, 1);
    if (atomic_load(&refused) > 0 && atomic_fetch_sub(&refused, 1) > 0) {
        error_set(error, ERROR_CONFIG, "refused");
        return NULL;
    }
    return __real_script_open(options, error);
}

static atomic_bool held;

void __real_script_close(struct script *script);
void __wrap_script_close(struct script *script);

void __wrap_script_close(struct script *script) {
    while (script && atomic_load(&held))
        sched_yield();
    __real_script_close(script);
}

static const char *const second[][2] = {
    {"handlers/gated.lua", "return function(job)\n"
                           "  while not io.open(job.payload.path) do end\nend"},
    {"handlers/fresh.lua", "return function(job) return job.id end"},
};

/* Takes a generation with these files, and so many states that are ready. */
static bool renew_to(struct contract *c, struct site *site, const char *const files[][2],
                     size_t count, int states) {
    struct generations *before = site->generations;
    struct generation *generation = generation_of(c, files, count);
    for (int i = 0; i < states; i++)
        if (!generation_warm(generation, &c->settings, clock_system()))
            return false;
    generation_join(generation, &c->settings, clock_system());
    site->generations = generations_new(generation, before);
    client_renew(site->client, site->generations);
    generations_free(before, site->generations);
    atomic_store(&opened, 0);
    return true;
}

/* What only the first one has is still served by that. */
static bool renew_warm(struct contract *c, struct site *site, int states) {
    return renew_to(c, site, second, 2, states);
}

/* So many workers run at once, then all end. */
static bool run_together(struct contract *c, struct site *site, int id, int count) {
    char path[160];
    snprintf(path, sizeof path, "%s/open", c->directory);
    remove(path);
    for (int i = 0; i < count; i++)
        if (!submit_gated(c, site, id + i))
            return false;
    if (!loaded(site, count, 0) || !let_go(c))
        return false;
    struct outcome *list = outcomes(site, count);
    int good = 0;
    for (const struct outcome *outcome = list; outcome; outcome = outcome->next)
        good += outcome->kind == OUTCOME_SUCCESS;
    outcome_free_list(list);
    return good == count;
}

static void workers_take_states_that_are_ready(struct contract *c) {
    OPEN(2);
    EXPECT(run_together(c, &site, 1, 2) && client_states(site.client) == 2);
    EXPECT(renew_warm(c, &site, 2) && client_states(site.client) == 2);
    EXPECT(run_together(c, &site, 3, 2) && atomic_load(&opened) == 0);
    EXPECT(client_states(site.client) == 2);
    CLOSE;
}

static void a_worker_that_finds_none_loads_its_own(struct contract *c) {
    OPEN(2);
    EXPECT(run_together(c, &site, 1, 2));
    EXPECT(renew_warm(c, &site, 1));
    EXPECT(run_together(c, &site, 3, 2) && atomic_load(&opened) == 1);
    CLOSE;
}

static void states_that_no_worker_has_taken_count_for_the_next_generation(struct contract *c) {
    OPEN(2);
    EXPECT(client_states(site.client) == 0);
    EXPECT(run_together(c, &site, 1, 2));
    EXPECT(renew_warm(c, &site, 2) && renew_warm(c, &site, client_states(site.client)));
    EXPECT(run_together(c, &site, 3, 2) && atomic_load(&opened) == 0);
    CLOSE;
}

static void one_worker_closes_its_old_state_while_the_other_runs_jobs(struct contract *c) {
    OPEN(2);
    EXPECT(run_together(c, &site, 1, 2));
    atomic_store(&held, true);
    EXPECT(renew_to(c, &site, handlers, sizeof handlers / sizeof *handlers, 2) &&
           submit(&site, "good", 3, 6, 0));
    struct outcome *list = outcomes(&site, 4);
    mutex_lock(&site.pool->mutex);
    int lost = site.pool->lost_count; /* closing for so long, it is given up, and has a successor */
    mutex_unlock(&site.pool->mutex);
    atomic_store(&held, false);
    EXPECT(list != NULL && lost <= 1);
    outcome_free_list(list);
    EXPECT(site_rests(&site) && run_together(c, &site, 7, 2));
    EXPECT(client_states(site.client) == 2 && atomic_load(&opened) == 0);
    CLOSE;
}

/* The workers have so many Lua states, of which so many could not be opened, or come to within the
 * limit. */
static bool slots_are(struct site *site, int count, int blocked) {
    time_ms until = clock_monotonic() + LIMIT;
    bool are = false;
    while (!are && clock_monotonic() < until) {
        mutex_lock(&site->pool->mutex);
        are = site->client->lua_slots == count && site->client->blocked == blocked;
        mutex_unlock(&site->pool->mutex);
    }
    return are;
}

/* It would try again to open the state that it could not, in a folder that is gone. */
static void a_state_that_was_never_open_waits_for_no_other(struct contract *c) {
    size_t all = sizeof handlers / sizeof *handlers;
    OPEN(2);
    EXPECT(run_together(c, &site, 1, 2));
    atomic_store(&held, true);
    EXPECT(renew_to(c, &site, handlers, all, 0));
    atomic_store(&refused, 1);
    EXPECT(submit(&site, "good", 3, 3, 0) && slots_are(&site, 3, 1));
    EXPECT(renew_to(c, &site, handlers, all, 1) && slots_are(&site, 3, 0));
    struct outcome *list = outcomes(&site, 1);
    atomic_store(&held, false);
    EXPECT(list && list->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    CLOSE;
}

static const struct check checks[] = {
    {"workers take states that are ready", workers_take_states_that_are_ready},
    {"one worker closes its old state while the other runs jobs",
     one_worker_closes_its_old_state_while_the_other_runs_jobs},
    {"a state that was never open waits for no other to be closed",
     a_state_that_was_never_open_waits_for_no_other},
    {"a worker that finds none loads its own", a_worker_that_finds_none_loads_its_own},
    {"states that no worker has taken count for the next generation",
     states_that_no_worker_has_taken_count_for_the_next_generation},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
