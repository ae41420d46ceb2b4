/* adopt.c - how a runner comes to its next folder (rules §13). */
#include "base/crash_point.h"
#include "base/log.h"
#include "run/runner_state.h"

static void start_reload(struct runner *runner) {
    struct error error = {0};
    struct reload_options options = {.before = engine_generations(runner->engine)->list[0]->folder,
                                     .read = runner->options.read,
                                     .paths = runner->paths,
                                     .settings = &runner->settings,
                                     .clock = runner->options.clock,
                                     .states = client_states(runner->client),
                                     .wake = runner->options.wake,
                                     .wake_arg = runner->options.wake_arg};
    runner->reload = reload_start(&options, &error);
    if (!runner->reload)
        log_event(LOG_ERROR, "folder refused", "reason:s", error.text);
}

/* A server that is away, or a full disk, says nothing against the folder: it is loaded again. */
static void refuse(struct runner *runner, const struct error *error) {
    runner->asked_for = 0; /* the store refused it, which may pass: it is asked for again */
    runner->reload_later =
        runner->options.read && (error->code == ERROR_UNAVAILABLE || error->code == ERROR_FULL);
    if (runner->reload_later)
        log_event(LOG_WARN, "folder waits for the store", "reason:s", error->text);
    else
        log_event(LOG_ERROR, "folder refused", "reason:s", error->text);
}

void adopt_let_go(struct runner *runner) {
    if (runner->left)
        generations_free(runner->left, engine_generations(runner->engine));
    runner->left = NULL;
}

/* The old definitions are let go only after the executor serves the new ones: jobs go on first. */
static void adopt(struct runner *runner, struct generation *generation) {
    struct error error = {0};
    struct generations *before;
    adopt_let_go(runner);
    if (!engine_adopt(runner->engine, generation, &before, &error)) {
        refuse(runner, &error);
        generation_free(generation);
        return;
    }
    CRASH_POINT("reload_written");
    const struct generations *generations = engine_generations(runner->engine);
    generation_tell(engine_generations(runner->engine)->list[0]);
    turns_serve(runner->turns, &generations->served);
    client_renew(runner->client, generations);
    runner->left = before;
    runner->rang = true;
    CRASH_POINT("reload_adopted");
    log_event(LOG_INFO, "folder loaded", "deployment:l handlers:l generations:l",
              generation->deployment, (int64_t)generations->served.count,
              (int64_t)generations->count);
}

static void finish_reload(struct runner *runner) {
    struct generation *generation = reload_end(runner->reload, NULL);
    runner->reload = NULL;
    if (generation)
        adopt(runner, generation);
}

void adopt_round(struct runner *runner) {
    if (runner->reload && reload_finished(runner->reload))
        finish_reload(runner);
    if (atomic_exchange(&runner->reloads, false) && runner->options.read)
        runner->reload_again = true;
    if (!runner->reload_again || runner->reload || runner->stage != WORKING)
        return;
    runner->reload_again = false;
    start_reload(runner);
}

void adopt_tick(struct runner *runner) {
    runner->reload_again = runner->reload_again || runner->reload_later;
    runner->reload_later = false;
    if (runner->left)
        adopt_let_go(runner);
    else if (runner->away_since == 0)
        engine_keep(runner->engine); /* tried once */
}
