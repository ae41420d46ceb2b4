/* serve.c - the network face without an executor, and what asks whether one is well. */
#include "base/log.h"
#include "base/reactor.h"
#include "base/thread.h"
#include "cli/setup.h"
#include "cli/verb/service/logging.h"
#include "cli/verb/service/manager.h"
#include "cli/verb/service/network.h"

/* ---- serve ---- */

enum { ALIVE_EVERY = 1000 }; /* ms */

struct serving {
    struct face *face;
    bool stops;
};

static void on_stop(void *arg) {
    struct serving *serving = arg;
    manager_stopping();
    serving->stops = true;
}

static void on_reload(void *arg) {
    struct serving *serving = arg;
    manager_reloading();
    face_reload(serving->face); /* which says when it is ready */
}

static void on_question(void *arg) {
    (void)arg;
}

/* Waits for TERM or INT; a second one ends the process at once. */
static void stay(struct serving *serving, struct reactor *reactor) {
    thread_survive_pipes();
    reactor_signal(reactor, SIGTERM, on_stop, serving);
    reactor_signal(reactor, SIGINT, on_stop, serving);
    reactor_signal(reactor, SIGHUP, on_reload, serving);
    reactor_signal(reactor, SIGUSR2, on_question, serving);
    thread_on_stop(reactor_signal_came);
    bool held = thread_hold_hang_up(false);
    manager_ready();
    while (!serving->stops) {
        reactor_wait(reactor, manager_watches() ? ALIVE_EVERY : TIME_NEVER);
        manager_alive();
    }
    thread_hold_stops(true);
    thread_hold_hang_up(held);
    reactor_signals_end(reactor);
    thread_on_stop(NULL);
    thread_on_question(NULL);
    thread_hold_stops(false);
}

static bool serve(struct cli *cli, bool open, struct error *error) {
    struct serving serving = {0};
    struct reactor *reactor = reactor_new(error);
    bool fine = reactor && network_start(cli, open, NULL, NULL, &serving.face, error);
    if (fine && !serving.face)
        fine = error_set(error, ERROR_USAGE, "serve: no address (expected --http ADDRESS)");
    if (fine)
        stay(&serving, reactor);
    face_free(serving.face);
    reactor_free(reactor);
    return fine;
}

static bool serve_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!logging_setup(cli, flags, false, error) || !setup_settings(cli, flags, error))
        return false;
    return setup_keeps(cli, error) && serve(cli, flags_has(flags, "--open"), error);
}

static const struct flag serve_flags[] = {
    OPEN_FLAG,
    LOGGING_FLAGS,
    {0},
};

const struct cli_command serve_commands[] = {
    {"serve", "[DIR] --http ADDRESS[,ADDRESS] [--open]",
     "answer over the network, without running jobs",
     "The same as `run --http` without an executor: any number of either may serve one store.\n"
     "Addresses are 127.0.0.1:8080, [::1]:8080 or unix:PATH; a port of 0 is one that is free.\n"
     "Without DIR there are no scripts: what needs a function of a definition is refused.",
     serve_flags, 0, 1, true, true, serve_run},
    {0},
};
