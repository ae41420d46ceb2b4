#include "engine/process/process_external.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_pace.h"
#include "engine/process/process_walk.h"
#include <stdlib.h>
#include <string.h>

enum { SET_MOST = 100, SET_SPAN = 20 }; /* walks of a set, and ms: their lanes are held meanwhile */

/* One on its way. */
struct external_walk {
    json_t *command;
    struct process_walk walk;
    int64_t lane; /* of its instance; that of its root once it has been read */
    bool tried;   /* with others */
    bool over;    /* written, or refused */
};

/* As a command to its process. NULL: no memory. */
static json_t *command_of(const struct job *job, const json_t *said) {
    json_t *command =
        json_pack("{ss sI sI ss*}", "kind", "external", "instance", (json_int_t)job->instance_id,
                  "token", (json_int_t)job->execution, "activity", job->activity);
    static const char *const names[] = {"variables", "code", "message"};
    bool done = command != NULL;
    for (size_t i = 0; done && i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(said, names[i]);
        done = !value || json_object_set(command, names[i], value) == 0;
    }
    return json_kept(command, done);
}

/* What the worker has said is the result of the job. */
static bool keep_result(struct process_walk *walk, const char *result, struct error *error) {
    free(walk->outcome->result);
    walk->outcome->result = result ? strdup(result) : NULL;
    return !result || walk->outcome->result || error_no_memory(error);
}

/* Its lines come first: it has printed them before the walk. */
static bool keep_lines(struct process_walk *walk, const struct outcome_line *lines,
                       struct error *error) {
    char *text = outcome_lines_text(lines);
    struct outcome_line *kept = outcome_lines_read(text), **end = &kept;
    free(text);
    while (*end)
        end = &(*end)->next;
    *end = walk->outcome->lines;
    walk->outcome->lines = kept;
    return !lines || kept || error_no_memory(error);
}

/* Where the list ends to which they are added. */
static struct job_spec **created_end(struct outcome *outcome) {
    struct job_spec **end = &outcome->created;
    while (*end)
        end = &(*end)->next;
    return end;
}

/* Each walk creates them anew. */
static bool keep_created(struct process_walk *walk, const struct job_spec *specs,
                         struct error *error) {
    struct job_spec **end = created_end(walk->outcome);
    for (; specs; specs = specs->next, end = &(*end)->next) {
        *end = job_spec_copy(specs);
        if (!*end)
            return error_no_memory(error);
    }
    return true;
}

/* They are the last that the walk has created. */
static void take_replies(const struct process_walk *walk, struct outcome *outcome) {
    size_t more = 0;
    const struct job_spec *from = walk->outcome->created;
    for (const struct job_spec *one = from; one; one = one->next)
        more++;
    for (const struct job_spec *one = outcome->created; one; one = one->next)
        more--;
    for (; more; more--)
        from = from->next;
    for (struct job_spec *one = outcome->created; one; one = one->next, from = from->next)
        one->reply = from->reply;
}

/* To its end, with what the worker has said. */
static bool walk_whole(struct process_walk *walk, struct engine *engine,
                       const struct outcome *outcome, struct error *error) {
    walk->took = 0;
    bool done = process_walk_run(walk, engine, error);
    process_pace_note(engine, walk->job, walk->took);
    return done && keep_result(walk, outcome->result, error) &&
           keep_lines(walk, outcome->lines, error) && keep_created(walk, outcome->created, error);
}

static enum answer walk_once(struct process_walk *walk, struct engine *engine,
                             struct outcome *outcome, struct error *error) {
    if (!walk_whole(walk, engine, outcome, error) || !process_walks_end(&walk, 1, engine, error))
        return FAILED;
    enum answer done = process_walk_ended(walk, error);
    outcome->settled = walk->outcome->settled;
    if (done == YES)
        take_replies(walk, outcome);
    return done;
}

/* ---- one by one ---- */

/* As far as it has come: what handlers did in a walk before is not repeated. */
static void settle_one(struct engine *engine, struct external *one) {
    struct error error = {0};
    struct process_walk *walk = &one->walk->walk;
    bool read = one->walk->command && (walk->walks || process_walk_read(walk, engine, &error));
    enum answer done = read ? NO : FAILED;
    if (!one->walk->command)
        error_no_memory(&error);
    while (done == NO)
        done = walk_once(walk, engine, one->outcome, &error);
    process_lanes_drop(engine);
    if (done == FAILED)
        *one->refused = error;
    one->walk->over = true;
}

/* ---- many ---- */

/* Walks of different instances, in the order of their lanes. */
struct walk_set {
    struct engine *engine;
    struct external **list;
    size_t count;
};

/* Those of a lane as they were given. */
static int by_lane(const void *left, const void *right) {
    const struct external *const *a = left, *const *b = right;
    const int lanes = ((*a)->walk->lane > (*b)->walk->lane) - ((*a)->walk->lane < (*b)->walk->lane);
    return lanes ? lanes : (*a > *b) - (*a < *b);
}

/* Of those that stand at the same place only the first one stays; the others come after it. */
static void one_of_each(struct walk_set *set) {
    size_t kept = 0;
    qsort(set->list, set->count, sizeof(struct external *), by_lane);
    for (size_t i = 0; i < set->count; i++)
        if (!kept || set->list[kept - 1]->walk->lane != set->list[i]->walk->lane)
            set->list[kept++] = set->list[i];
        else
            set->list[i]->walk->tried = false;
    set->count = kept;
}

static bool ask_set(const struct walk_set *set, struct error *error) {
    const json_t **commands = calloc(set->count + 1, sizeof *commands);
    if (!commands)
        return error_no_memory(error);
    for (size_t i = 0; i < set->count; i++)
        commands[i] = set->list[i]->walk->command;
    process_causes_ask(set->engine, commands, set->count);
    free(commands);
    return true;
}

/* What is wrong with one of them it is told by itself. */
static void read_each(struct walk_set *set) {
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct external_walk *one = set->list[i]->walk;
        struct error ignored = {0};
        store_look_on(set->engine->store);
        if (!process_walk_read(&one->walk, set->engine, &ignored))
            continue;
        one->lane = process_walk_lane(&one->walk, set->engine);
        set->list[kept++] = set->list[i];
    }
    set->count = kept;
}

static bool read_set(struct walk_set *set, struct error *error) {
    struct store *store = set->engine->store;
    bool own = false;
    if (!store_look(store, &own, error))
        return false;
    bool asked = ask_set(set, error);
    if (asked)
        read_each(set);
    process_causes_forget(set->engine);
    store_look_end(store, own);
    if (asked)
        one_of_each(set);
    return asked;
}

/* Takes the lanes that nothing has; the others are waited for when none is held. */
static bool take_lanes(struct walk_set *set, struct error *error) {
    struct process_instance *of = calloc(set->count + 1, sizeof *of);
    size_t kept = 0;
    if (!of)
        return error_no_memory(error);
    for (size_t i = 0; i < set->count; i++)
        of[i] = process_walk_instance(&set->list[i]->walk->walk);
    bool done = process_lanes_begin(set->engine, of, set->count, error);
    for (size_t i = 0; done && i < set->count; i++) {
        struct process_walk *walk = &set->list[i]->walk->walk;
        if (!process_lane_held(set->engine, set->list[i]->walk->lane))
            continue;
        if (!of[i].rev) { /* it is read again */
            json_decref(walk->frame);
            walk->frame = NULL;
        }
        set->list[kept++] = set->list[i];
    }
    set->count = kept;
    free(of);
    return done;
}

/* Those that fail are over. The others are not kept waiting by many: what is left after some time
 * is tried with the next ones. */
static void walk_set(struct walk_set *set) {
    size_t kept = 0;
    const time_ms until = clock_monotonic() + SET_SPAN;
    set->engine->ids_ahead = (int)set->count;
    engine_ids_begin(set->engine);
    set->engine->versions = json_object();
    for (size_t i = 0; i < set->count; i++) {
        struct external *one = set->list[i];
        if (i > 0 && clock_monotonic() >= until)
            one->walk->tried = false;
        else if (walk_whole(&one->walk->walk, set->engine, one->outcome, one->refused))
            set->list[kept++] = one;
        else
            one->walk->over = true;
    }
    set->count = kept;
    set->engine->ids_ahead = 0;
    json_decref(set->engine->versions);
    set->engine->versions = NULL;
}

static bool write_set(struct walk_set *set, struct error *error) {
    struct process_walk **walks = calloc(set->count + 1, sizeof *walks);
    if (!walks)
        return error_no_memory(error);
    for (size_t i = 0; i < set->count; i++)
        walks[i] = &set->list[i]->walk->walk;
    bool done = process_walks_end(walks, set->count, set->engine, error);
    free(walks);
    return done;
}

/* On the disk, but for those before which another change came. */
static void written(const struct walk_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        struct external *one = set->list[i];
        enum answer done = process_walk_ended(&one->walk->walk, one->refused);
        one->outcome->settled = one->walk->walk.outcome->settled;
        if (done == YES)
            take_replies(&one->walk->walk, one->outcome);
        one->walk->over = done != NO;
    }
}

/* What none of them is to blame for they are all told: they may have been written. */
static void unwritten(const struct walk_set *set, const struct error *error) {
    for (size_t i = 0; error_is_of_store(error) && i < set->count; i++) {
        *set->list[i]->refused = *error;
        set->list[i]->walk->over = true;
    }
}

/* Where a set does not come to its end, each of it goes by itself. */
static void settle_set(struct walk_set *set) {
    struct error error = {0};
    if (!read_set(set, &error) || set->count < 2)
        return;
    if (take_lanes(set, &error))
        walk_set(set);
    else
        set->count = 0;
    if (set->count && write_set(set, &error))
        written(set);
    else
        unwritten(set, &error);
    process_lanes_drop(set->engine);
}

/* ---- all ---- */

static struct external_walk *walk_new(const struct external *one) {
    struct external_walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return NULL;
    walk->command = command_of(one->outcome->job, one->said);
    walk->lane = job_instance_lane(one->outcome->job->instance_id);
    walk->walk = (struct process_walk){.command = walk->command, .job = one->outcome->job};
    return walk;
}

static void walk_free(struct external_walk *walk) {
    process_walk_clear(&walk->walk);
    json_decref(walk->command);
    free(walk);
}

/* Of each lane the first that is not over. */
static void collect(struct walk_set *set, struct external *list, size_t count) {
    set->count = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].walk && !list[i].walk->over)
            set->list[set->count++] = &list[i];
    one_of_each(set);
}

/* Those of them that may go together: what is slow, or not known yet, keeps nothing waiting. */
static void choose(struct walk_set *set) {
    size_t kept = 0;
    for (size_t i = 0; i < set->count && kept < SET_MOST; i++) {
        const struct external_walk *one = set->list[i]->walk;
        if (one->command && !one->tried && process_pace_is_quick(set->engine, one->walk.job))
            set->list[kept++] = set->list[i];
    }
    set->count = kept;
}

static struct external *first_of(struct external *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i].walk && !list[i].walk->over)
            return &list[i];
    return NULL;
}

/* Many together, as long as there are some; else the first one by itself. */
static void settle_all(struct walk_set *set, struct external *list, size_t count) {
    struct external *first;
    while ((first = first_of(list, count))) {
        collect(set, list, count);
        choose(set);
        for (size_t i = 0; i < set->count; i++)
            set->list[i]->walk->tried = true;
        if (set->count > 1)
            settle_set(set);
        else
            settle_one(set->engine, set->count ? set->list[0] : first);
    }
}

void process_externals(struct engine *engine, struct external *list, size_t count) {
    struct walk_set set = {.engine = engine, .list = calloc(count + 1, sizeof(struct external *))};
    for (size_t i = 0; i < count; i++) {
        list[i].walk = set.list ? walk_new(&list[i]) : NULL;
        if (!list[i].walk)
            error_no_memory(list[i].refused);
    }
    settle_all(&set, list, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].walk)
            walk_free(list[i].walk);
        list[i].walk = NULL;
    }
    free(set.list);
}
