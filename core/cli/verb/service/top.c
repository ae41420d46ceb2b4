/* top.c - the store at a glance, again and again, in a terminal.
 *
 * The store is asked on a thread of its own: a server that hangs holds up no key. */
#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/overview.h"
#include "cli/shown/screen.h"
#include "cli/shown/table.h"
#include "cli/wait/errand.h"
#include "cli/wait/executor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY = 1000, ENTRIES = 300, INCIDENTS = 100, TYPED = 80 };

enum {
    SOON = 20,      /* ms between two looks whether the store has answered */
    LATE = 2000,    /* ms after which the screen says that it has not */
    FAREWELL = 1000 /* ms for what is under way as the verb ends */
};

static const char help[] = "q quit  / filter  up, down select  r retry  w why  space pause";

enum wish { WISH_NOTHING, WISH_LOOK, WISH_RETRY, WISH_WHY };

/* What the store is asked, and has answered. */
struct question {
    enum wish wish;
    int64_t job; /* of the last two */
    json_t *stats, *log, *incidents;
    char *text;
    struct error error; /* without an answer */
};

struct top {
    struct cli *cli;
    struct engine *engine;
    struct overview *overview;
    char filter[TYPED], typed[TYPED];
    bool types;  /* a filter, into `typed` */
    bool paused; /* what is shown stays */
    bool ends;
    bool late;       /* it is said that the store does not answer */
    int64_t chosen;  /* incident */
    struct text say; /* instead of the help */
    struct errand errand;
    struct question asked; /* the errand's while that is under way */
    struct question next;  /* asked as soon as that is over */
    time_ms due;           /* the next look */
};

/* ---- what the store says ---- */

static json_t *newest(struct engine *engine, enum ask_kind kind, const char *sort, int limit,
                      struct error *error) {
    json_t *question = json_pack("{si ss* sb s{}}", "limit", limit, "sort", sort, "descending",
                                 sort != NULL, "filters");
    if (question && kind == ASK_INCIDENTS)
        json_object_set_new(json_object_get(question, "filters"), "open", json_true());
    return engine_ask_of(engine, kind, question, error);
}

static void look(struct top *top, struct question *question) {
    struct error *error = &question->error;
    question->stats = engine_ask(top->engine, ASK_STATS, NULL, error);
    question->log = question->stats ? newest(top->engine, ASK_LOG, NULL, ENTRIES, error) : NULL;
    question->incidents =
        question->log ? newest(top->engine, ASK_INCIDENTS, "id", INCIDENTS, error) : NULL;
}

static char *job_retried(int64_t job) {
    char text[64];
    snprintf(text, sizeof text, "job %lld retried", (long long)job);
    return strdup(text);
}

/* Beside the reader, as each verb that writes. */
static void retry(struct top *top, struct question *question) {
    struct command_run run = {0};
    struct error *error = &question->error;
    json_t *command = json_pack("{ss s[I]}", "verb", "retry", "ids", (json_int_t)question->job);
    struct engine *engine = setup_open(top->cli, STORE_WRITE, false, error);
    if (engine && engine_command(engine, command, &run, error))
        question->text = job_retried(question->job);
    engine_close(engine);
    json_decref(command);
}

static void why(struct top *top, struct question *question) {
    json_t *answer = engine_ask_id(top->engine, ASK_WHY, question->job, &question->error);
    const char *text = json_text(answer, "text");
    question->text = text ? strdup(text) : NULL;
    json_decref(answer);
}

/* The errand. */
static void ask(void *arg) {
    struct top *top = arg;
    struct question *question = &top->asked;
    if (question->wish == WISH_LOOK)
        look(top, question);
    else if (question->wish == WISH_RETRY)
        retry(top, question);
    else if (question->wish == WISH_WHY)
        why(top, question);
}

static void question_clear(struct question *question) {
    json_decref(question->stats);
    json_decref(question->log);
    json_decref(question->incidents);
    free(question->text);
    *question = (struct question){0};
}

/* The overview has what a look has found. False: error. */
static bool take_look(struct top *top, struct question *question, struct error *error) {
    json_t *stats = question->stats, *log = question->log, *incidents = question->incidents;
    *error = question->error;
    if (!incidents)
        return false;
    question->stats = question->log = question->incidents = NULL;
    return overview_take(top->overview, stats, log, incidents, error);
}

static bool look_first(struct top *top, struct error *error) {
    top->asked.wish = WISH_LOOK;
    ask(top);
    bool fine = take_look(top, &top->asked, error);
    question_clear(&top->asked);
    return fine;
}

/* ---- once ---- */

static bool print(struct top *top, struct error *error) {
    struct text out = {0};
    const struct overview_view view = {
        .store = engine_path(top->engine), .filter = "", .width = output_width()};
    if (top->cli->json)
        return output_json(overview_document(top->overview), error);
    bool fine = overview_write(top->overview, &view, &out, error);
    output_add("%s", fine && out.data ? out.data : "");
    text_clear(&out);
    if (fine)
        executors_none_say(top->cli, top->engine);
    return fine;
}

/* ---- live ---- */

/* What is typed; "" while a character of several bytes is not whole. */
static const char *typed_of(const struct top *top) {
    size_t bad;
    return utf8_valid(top->typed, strlen(top->typed), &bad) ? top->typed : "";
}

static struct overview_view view_of(const struct top *top) {
    struct overview_view view = {.store = engine_path(top->engine),
                                 .filter = top->types ? typed_of(top) : top->filter,
                                 .chosen = top->chosen};
    screen_size(&view.rows, &view.width);
    return view;
}

static void say(struct top *top, const char *text) {
    text_clear(&top->say);
    text_add(&top->say, "%s", text);
}

/* The last line: what is typed, what was said, or the help. */
static void last_line(const struct top *top, int width, struct text *line) {
    struct text whole = {0};
    const char *shown = top->say.size ? top->say.data : help;
    text_add(&whole, "%s%s%s", top->paused ? "[paused]  " : "", top->types ? "filter: " : "",
             top->types ? typed_of(top) : shown);
    char *clean = whole.data ? output_clean(whole.data, false) : NULL;
    if (clean)
        text_append(line, clean, table_text_fit(clean, width - 1));
    free(clean);
    text_clear(&whole);
}

/* The chosen incident is among those that the filter shows; else the first of these is. */
static json_t *incident_chosen(struct top *top, int step) {
    const struct overview_view view = view_of(top);
    json_t *rows = overview_incidents(top->overview, &view);
    size_t count = json_array_size(rows), at = 0;
    while (at < count && json_int(json_array_get(rows, at), "id") != top->chosen)
        at++;
    if (at == count)
        at = 0;
    else if ((step < 0 && at > 0) || (step > 0 && at + 1 < count))
        at = step < 0 ? at - 1 : at + 1;
    json_t *incident = json_incref(json_array_get(rows, at));
    json_decref(rows);
    top->chosen = json_int(incident, "id");
    return incident;
}

static void step(struct top *top, int by) {
    json_decref(incident_chosen(top, by));
}

static bool draw(struct top *top, struct error *error) {
    struct text out = {0}, last = {0};
    step(top, 0);
    const struct overview_view view = view_of(top);
    last_line(top, view.width, &last);
    bool fine = overview_write(top->overview, &view, &out, error);
    if (fine)
        screen_draw(out.data, last.data ? last.data : "");
    text_clear(&out);
    text_clear(&last);
    return fine;
}

/* Of the chosen incident; 0: there is none, which is said. */
static int64_t job_chosen(struct top *top) {
    json_t *incident = incident_chosen(top, 0);
    int64_t job = json_int(incident, "job");
    if (!incident)
        say(top, "no incident is open");
    else if (!job)
        say(top, "the incident is not of a job");
    json_decref(incident);
    return job;
}

static void wish(struct top *top, enum wish wished) {
    int64_t job = job_chosen(top);
    if (job)
        top->next = (struct question){.wish = wished, .job = job};
}

static void erase(char *typed) {
    size_t size = strlen(typed);
    while (size > 0 && ((unsigned char)typed[size - 1] & 0xc0) == 0x80)
        size--;
    typed[size > 0 ? size - 1 : 0] = '\0';
}

/* Bytes of a character come one by one. */
static void type(struct top *top, int key) {
    size_t size = strlen(top->typed);
    if (key == KEY_ERASE)
        erase(top->typed);
    else if (key == '\n' || key == '\r')
        strcpy(top->filter, typed_of(top));
    else if (key >= ' ' && key < KEY_OTHERS && size + 1 < sizeof top->typed)
        memcpy(top->typed + size, (char[]){(char)key, '\0'}, 2);
    top->types = key != KEY_ESCAPE && key != '\n' && key != '\r';
}

static void command(struct top *top, int key) {
    if (key == 'q' || key == KEY_END)
        top->ends = true;
    else if (key == KEY_UP || key == 'k')
        step(top, -1);
    else if (key == KEY_DOWN || key == 'j')
        step(top, 1);
    else if (key == 'r')
        wish(top, WISH_RETRY);
    else if (key == 'w')
        wish(top, WISH_WHY);
    else if (key == ' ')
        top->paused = !top->paused;
    else if (key == '/') {
        memcpy(top->typed, top->filter, sizeof top->typed);
        top->types = true;
    } else if (key == KEY_ESCAPE)
        top->filter[0] = '\0';
}

/* What was said stays until the next key. */
static void press(struct top *top, int key) {
    if (key == KEY_NONE)
        return;
    text_clear(&top->say);
    if (top->types && key != KEY_END)
        type(top, key);
    else
        command(top, key);
}

/* What the store has answered is shown, or said. */
static void take(struct top *top) {
    struct question *question = &top->asked;
    struct error error = question->error;
    if (top->late)
        text_clear(&top->say);
    top->late = false;
    if (question->text)
        say(top, question->text);
    else if (question->wish != WISH_LOOK || !take_look(top, question, &error))
        say(top, error.text);
    question_clear(question);
}

/* Asks for what was wished, else for a look when it is time. */
static void ask_next(struct top *top) {
    const bool due = !top->paused && clock_monotonic() >= top->due;
    if (top->next.wish == WISH_NOTHING && !due)
        return;
    top->asked = top->next;
    top->next = (struct question){0};
    if (top->asked.wish == WISH_NOTHING) {
        top->asked.wish = WISH_LOOK;
        top->due = clock_monotonic() + EVERY;
    }
    errand_begin(&top->errand, ask, top);
}

/* How long a key is waited for. */
static int tend(struct top *top) {
    if (top->asked.wish != WISH_NOTHING && errand_over(&top->errand, 0))
        take(top);
    if (top->asked.wish == WISH_NOTHING)
        ask_next(top);
    if (top->asked.wish != WISH_NOTHING) {
        if (!top->late && clock_monotonic() - top->errand.began > LATE) {
            top->late = true;
            say(top, "the store does not answer");
        }
        return SOON;
    }
    const time_ms left = top->due - clock_monotonic();
    if (top->paused)
        return EVERY;
    return left > 0 ? (int)left : 0;
}

/* A store that still does not answer is left as it is: the process ends. */
static void part(struct top *top) {
    screen_close();
    if (!errand_over(&top->errand, FAREWELL))
        _exit(EXIT_SUCCESS);
    question_clear(&top->asked);
}

static bool live(struct top *top, struct error *error) {
    if (!screen_open(error))
        return false;
    bool fine = true;
    top->due = clock_monotonic() + EVERY;
    errand_init(&top->errand);
    while (!top->ends && fine) {
        const int wait = tend(top);
        fine = draw(top, error);
        press(top, screen_key(wait));
    }
    part(top);
    errand_free(&top->errand);
    return fine;
}

static bool top_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct top top = {.cli = cli, .overview = overview_new()};
    bool once = cli->json || flags_has(flags, "--once") || !screen_possible();
    top.engine = setup_reader(cli, flags, error);
    bool fine = top.engine && (top.overview || error_no_memory(error)) && look_first(&top, error);
    fine = fine && (once ? print(&top, error) : live(&top, error));
    overview_free(top.overview);
    engine_close(top.engine);
    text_clear(&top.say);
    return fine;
}

static const struct flag top_flags[] = {
    {"--once", NULL, "print it and end, as where this is no terminal"},
    {0},
};

const struct cli_command top_commands[] = {
    {"top", "[--once]", "watch the store: what waits, who works, what fails",
     "Drawn anew each second: jobs by state, rates, executors, open incidents, handlers with the\n"
     "mean delay and run of their newest jobs. Keys: q ends, / filters by a part of a name or a\n"
     "message (Esc: all), up and down choose an incident, r retries its job, w says why the job\n"
     "does not run, space pauses. It reads the store as other verbs do, and needs no address.",
     top_flags, 0, 0, false, false, top_run},
    {0},
};
