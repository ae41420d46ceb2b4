/* Lists of commands to processes: each is walked on this thread, then all are written in one
 * transaction, or none of them. */
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_later.h"
#include "engine/process/process_walk.h"
#include <stdlib.h>
#include <string.h>

enum { BEHIND = -1 }; /* the rev of a frame that an earlier command of the list has left */

struct entry {
    struct process_walk walk;
    bool later;
};

struct list {
    struct engine *engine;
    struct engine_order *given;
    struct entry *entries;
    size_t count, at; /* the entry at work, for messages */
};

/* ---- reading ---- */

static bool read_entry(struct list *list, struct entry *entry, struct error *error) {
    struct process_walk *walk = &entry->walk;
    const json_t *trial = json_object_get(walk->command, "dry_run");
    const json_t *all = json_object_get(walk->command, "all");
    if (json_is_true(trial))
        return json_refuse("dry_run", trial, "no trial in a list", error);
    if (json_is_true(all))
        return json_refuse("all", all, "no message to all in a list", error);
    if (!process_walk_read(walk, list->engine, error))
        return false;
    entry->later =
        !walk->cause.keeps &&
        (list->given->later || (!list->given->now && !process_walk_is_ours(walk, list->engine)));
    return true;
}

/* ---- walking ---- */

/* The frame as an earlier command of the list leaves it; NULL: error. */
static json_t *frame_after(const struct unit_instance *one, struct error *error) {
    json_t *frame = NULL;
    if (one->frame)
        frame = json_pack("{sI sI si ss ss? ss? sI sI}", "id", (json_int_t)one->id, "version",
                          (json_int_t)one->version, "rev", BEHIND, "frame", one->frame, "key",
                          one->key, "tenant", one->tenant, "parent", (json_int_t)one->parent,
                          "root", (json_int_t)one->root);
    else
        error_set(error, ERROR_NOT_FOUND,
                  "instance %lld has ended with a command before it in the list",
                  (long long)one->id);
    if (!frame && one->frame)
        error_no_memory(error);
    return frame;
}

/* What the entry at work sees of an earlier one; NULL: nothing. */
static const struct unit *unit_at(const struct list *list, size_t at) {
    const struct outcome *outcome = list->entries[at].walk.outcome;
    return outcome ? outcome->unit : NULL;
}

static const struct unit_instance *instance_in(const struct unit *unit, int64_t id) {
    for (size_t i = 0; unit && i < unit->instance_count; i++)
        if (unit->instances[i].id == id)
            return &unit->instances[i];
    return NULL;
}

/* A turn outside of its frame. */
static const struct unit_turn *turn_in(const struct unit *unit, int64_t id) {
    for (size_t i = 0; unit && i < unit->turn_count; i++)
        if (unit->turns[i].id == id)
            return &unit->turns[i];
    return NULL;
}

/* The unit of the latest earlier entry that has done something to an instance; NULL: none has. */
static const struct unit *unit_before(const struct list *list, int64_t instance) {
    for (size_t i = list->at; instance && i-- > 0;)
        if (instance_in(unit_at(list, i), instance))
            return unit_at(list, i);
    return NULL;
}

static const struct unit *unit_before_turn(const struct list *list, int64_t turn) {
    for (size_t i = list->at; turn && i-- > 0;)
        if (turn_in(unit_at(list, i), turn))
            return unit_at(list, i);
    return NULL;
}

/* What it has done. */
static const struct unit_instance *touched(const struct list *list, int64_t instance) {
    return instance_in(unit_before(list, instance), instance);
}

static const struct unit_turn *touched_turn(const struct list *list, int64_t turn) {
    return turn_in(unit_before_turn(list, turn), turn);
}

/* How many turns of the body earlier entries have ended; *closed: one has closed it. */
static int64_t ended_before(const struct list *list, int64_t body, bool *closed) {
    int64_t ended = 0;
    for (size_t i = 0; i < list->at; i++) {
        const struct unit *unit = unit_at(list, i);
        for (size_t k = 0; unit && k < unit->body_count; k++) {
            bool same = unit->bodies[k].id == body;
            ended += same ? unit->bodies[k].ended : 0;
            *closed = *closed || (same && unit->bodies[k].closed);
        }
    }
    return ended;
}

/* Puts what earlier entries have left into the frames of a turn. NO: they have not touched it. */
static enum answer turn_after(const struct list *list, struct entry *entry, struct error *error) {
    struct process_walk *walk = &entry->walk;
    const int64_t id = json_int(walk->frame, "id");
    const struct unit_instance *around = touched(list, id);
    const struct unit_turn *turn = touched_turn(list, json_int(walk->frame, "turn"));
    bool ended = (around && !around->frame) || (turn && !turn->frame);
    int64_t before = ended_before(list, json_int(walk->frame, "body"), &ended);
    if (ended)
        return error_set(error, ERROR_NOT_FOUND,
                         "instance %lld: the turn has ended with a command before it in the list",
                         (long long)id)
                   ? YES
                   : FAILED;
    json_t *own = around || turn ? json_copy(walk->frame) : NULL; /* others may have it, too */
    if (own) {
        json_decref(walk->frame);
        walk->frame = own;
    }
    bool fine = !before || json_put(walk->cause.object, "ended_before", json_integer(before));
    if (fine && around)
        fine = json_put_text(walk->frame, "around", around->frame) &&
               json_put(walk->frame, "around_rev", json_integer(BEHIND));
    if (fine && turn)
        fine = json_put_text(walk->frame, "frame", turn->frame) &&
               json_put(walk->frame, "rev", json_integer(BEHIND));
    if (!fine)
        return error_no_memory(error) ? YES : FAILED;
    return around || turn ? YES : NO;
}

/* ---- what a walk asks ---- */

/* Of a turn that an earlier entry has moved, its row as that one leaves it; without a frame if it
 * has ended. */
static bool turn_show(const struct list *list, json_t *row) {
    const struct unit_turn *turn = touched_turn(list, json_int(row, "id"));
    if (turn && !turn->frame)
        json_object_del(row, "frame");
    return !turn || !turn->frame ||
           (json_put_text(row, "frame", turn->frame) && json_put(row, "rev", json_integer(BEHIND)));
}

/* The turns of a body that an earlier entry has begun stand in front of the first page. */
static bool turns_begun(const struct list *list, json_t *rows, int64_t body) {
    bool fine = true;
    for (size_t i = 0; i < list->at; i++) {
        const struct unit *unit = unit_at(list, i);
        for (size_t k = 0; unit && k < unit->turn_count; k++)
            if (!unit->turns[k].rev && unit->turns[k].body == body)
                fine = fine &&
                       json_array_insert_new(
                           rows, 0, json_pack("{sI}", "id", (json_int_t)unit->turns[k].id)) == 0;
    }
    return fine;
}

static bool turns_show(const struct list *list, const json_t *question, json_t *rows) {
    bool fine = json_int(question, "below") || turns_begun(list, rows, json_int(question, "id"));
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        fine = fine && turn_show(list, row);
    }
    return fine;
}

/* The row of another instance than that of the command. */
static bool instance_show(const struct list *list, const json_t *question, json_t *row) {
    const struct unit_instance *one = touched(list, json_int(question, "instance"));
    if (!one || !one->frame || json_int(question, "token") < 0)
        return true;
    return json_put_text(row, "frame", one->frame) && json_put(row, "rev", json_integer(BEHIND));
}

static bool list_show(const struct list *list, const char *kind, const json_t *question,
                      json_t *answer) {
    if (strcmp(kind, "turns") == 0)
        return turns_show(list, question, answer);
    return strcmp(kind, "frame") != 0 || instance_show(list, question, answer);
}

/* ---- walking on ---- */

/* NO: it needs one more lane, and all begin again. */
static enum answer walk_entry(struct list *list, struct entry *entry, struct error *error) {
    struct process_walk *walk = &entry->walk;
    if (entry->later || walk->cause.keeps)
        return YES;
    enum answer after = json_text(walk->frame, "around") ? turn_after(list, entry, error) : NO;
    if (after != NO)
        return after == YES ? process_walk_go(walk, list->engine, error) : FAILED;
    if (json_text(walk->frame, "around"))
        return process_walk_run(walk, list->engine, error) ? YES : FAILED;
    const struct unit_instance *one = touched(list, walk->cause.instance);
    if (!one)
        return process_walk_run(walk, list->engine, error) ? YES : FAILED;
    json_decref(walk->frame);
    walk->frame = frame_after(one, error);
    return walk->frame ? process_walk_go(walk, list->engine, error) : FAILED;
}

/* ---- lanes ---- */

struct lane_order {
    int64_t lane;
    size_t at;
};

static int by_lane(const void *left, const void *right) {
    const struct lane_order *a = left, *b = right;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

static bool is_walked(const struct entry *entry) {
    return !entry->later && !entry->walk.cause.keeps && entry->walk.cause.instance;
}

static size_t order_lanes(const struct list *list, struct lane_order *order) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_walked(&list->entries[i]))
            order[count++] =
                (struct lane_order){process_walk_lane(&list->entries[i].walk, list->engine), i};
    qsort(order, count, sizeof *order, by_lane);
    return count;
}

/* Takes at once those that nothing has. Where the frame is another one by now, it is read again. */
static bool take_free(struct list *list, const struct lane_order *order, size_t count,
                      struct error *error) {
    struct process_instance *of = malloc((count + 1) * sizeof *of);
    if (!of)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        of[i] = process_walk_instance(&list->entries[order[i].at].walk);
    bool done = process_lanes_begin(list->engine, of, count, error);
    for (size_t i = 0; done && i < count; i++) {
        struct process_walk *walk = &list->entries[order[i].at].walk;
        if (!of[i].rev) {
            json_decref(walk->frame);
            walk->frame = NULL;
        }
    }
    free(of);
    return done;
}

/* In the order of their numbers: two lists never wait for each other. */
static bool take_all(struct list *list, const struct lane_order *order, size_t count,
                     struct error *error) {
    bool done = count < 2 || take_free(list, order, count, error);
    for (size_t i = 0; done && i < count; i++) {
        list->at = order[i].at;
        done = process_walk_meet(&list->entries[list->at].walk, list->engine, error);
    }
    return done;
}

static bool take_lanes(struct list *list, struct error *error) {
    struct lane_order *order = malloc((list->count + 1) * sizeof *order);
    if (!order)
        return error_no_memory(error);
    bool done = take_all(list, order, order_lanes(list, order), error);
    free(order);
    return done;
}

/* ---- writing ---- */

/* The frames that an earlier entry has written have their rev by now. */
static void catch_up(const struct list *list, struct unit *unit) {
    for (size_t i = 0; i < unit->turn_count; i++)
        if (unit->turns[i].rev == BEHIND)
            unit->turns[i].rev = unit_before_turn(list, unit->turns[i].id)->rev;
    for (size_t i = 0; i < unit->instance_count; i++)
        if (unit->instances[i].rev == BEHIND)
            unit->instances[i].rev = unit_before(list, unit->instances[i].id)->rev;
}

static enum answer write_entry(struct list *list, struct entry *entry, struct error *error) {
    struct process_walk *walk = &entry->walk;
    if (walk->cause.keeps) /* it is kept already */
        return process_walk_note(walk, list->engine, error) ? YES : FAILED;
    if (entry->later)
        return process_later_write(list->engine, &walk->cause, walk->command, list->given->retries,
                                   &list->given->job, error)
                   ? YES
                   : FAILED;
    catch_up(list, walk->outcome->unit);
    return process_walk_settle(walk, list->engine, false, error);
}

/* Does a step with each entry as long as it answers YES. */
static enum answer each(struct list *list,
                        enum answer (*step)(struct list *list, struct entry *entry,
                                            struct error *error),
                        struct error *error) {
    enum answer done = YES;
    for (list->at = 0; done == YES && list->at < list->count; list->at++)
        done = step(list, &list->entries[list->at], error);
    list->at -= done == YES ? 0 : 1;
    return done;
}

/* What all of them need to be judged by is asked for at once. */
static bool ask_ahead(struct list *list, struct error *error) {
    struct outcome **outcomes = malloc((list->count + 1) * sizeof *outcomes);
    size_t count = 0;
    if (!outcomes)
        return error_no_memory(error);
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].walk.outcome)
            outcomes[count++] = list->entries[i].walk.outcome;
    bool done = store_units_ahead(list->engine->store, outcomes, count, error);
    free(outcomes);
    return done;
}

/* The messages that nothing waits for come first: what an entry begins to wait for is given them.
 */
static enum answer keep_all(struct list *list, struct error *error) {
    struct unit_message *messages = calloc(list->count + 1, sizeof *messages);
    char **variables = calloc(list->count + 1, sizeof *variables);
    size_t *entries = calloc(list->count + 1, sizeof *entries), count = 0, at = 0;
    enum answer kept = messages && variables && entries ? YES : FAILED;
    for (size_t i = 0; kept == YES && i < list->count; i++)
        if (list->entries[i].walk.cause.keeps) {
            entries[count] = i;
            messages[count] = process_walk_message(&list->entries[i].walk, &variables[count]);
            count++;
        }
    if (kept == YES)
        kept = store_messages_keep(list->engine->store, messages, count, &at,
                                   engine_now(list->engine), error);
    else
        error_no_memory(error);
    list->at = kept == YES || at == count ? list->at : entries[at];
    for (size_t i = 0; variables && i < count; i++)
        free(variables[i]);
    free(messages);
    free(variables);
    free(entries);
    return kept;
}

/* Writes all in one transaction. NO: another change came first, and nothing was written. */
static enum answer list_write(struct list *list, struct error *error) {
    if (!store_begin(list->engine->store, STORE_COMMAND, error))
        return FAILED;
    enum answer done = ask_ahead(list, error) ? keep_all(list, error) : FAILED;
    if (done == YES)
        done = each(list, write_entry, error);
    if (done == YES &&
        !(store_settle_end(list->engine->store, error) && process_lanes_write(list->engine, error)))
        done = FAILED;
    bool ended = engine_end(list->engine, done == YES, error);
    if (done == YES && ended)
        process_lanes_forget(list->engine);
    return done == YES && !ended ? FAILED : done;
}

/* ---- the list ---- */

static enum answer read_one(struct list *list, struct entry *entry, struct error *error) {
    store_look_on(list->engine->store);
    return read_entry(list, entry, error) ? YES : FAILED;
}

static bool ask_all(struct list *list, struct error *error) {
    const json_t **commands = calloc(list->count + 1, sizeof *commands);
    if (!commands)
        return error_no_memory(error);
    for (size_t i = 0; i < list->count; i++)
        commands[i] = list->entries[i].walk.command;
    process_causes_ask(list->engine, commands, list->count);
    free(commands);
    return true;
}

/* All see the same state of the store, and each may take as long as a command that comes alone. */
static bool read_all(struct list *list, struct error *error) {
    struct engine *engine = list->engine;
    bool own = false;
    if (!store_look(engine->store, &own, error))
        return false;
    enum answer done = ask_all(list, error) ? each(list, read_one, error) : FAILED;
    process_causes_forget(engine);
    store_look_end(engine->store, own);
    return done == YES;
}

static enum answer walk_all(struct list *list, struct error *error) {
    list->engine->list = list;
    list->engine->list_show = list_show;
    engine_ids_drop(list->engine);
    list->engine->ids_ahead = (int)list->count;
    list->engine->versions = json_object();
    enum answer walked = each(list, walk_entry, error);
    list->engine->ids_ahead = 0;
    json_decref(list->engine->versions);
    list->engine->versions = NULL;
    list->engine->list = NULL;
    return walked;
}

/* NO: all begin again. */
static enum answer do_once(struct list *list, struct error *error) {
    if (!read_all(list, error) || !take_lanes(list, error))
        return FAILED;
    enum answer walked = walk_all(list, error);
    return walked == YES ? list_write(list, error) : walked;
}

static bool do_all(struct list *list, struct error *error) {
    enum answer done = NO;
    while (done == NO)
        done = do_once(list, error);
    return done == YES;
}

static json_t *ids_of(const struct list *list) {
    json_t *ids = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(ids, json_integer(list->entries[i].walk.instance));
    }
    return ids;
}

static bool open_list(struct list *list, const json_t *commands, struct error *error) {
    size_t count = json_array_size(commands);
    if (!engine_idle(list->engine, error))
        return false;
    if (!json_is_array(commands) || count > ENGINE_LIST_MAX)
        return error_set(error, ERROR_INVALID, "%zu commands at once (expected at most %d)", count,
                         ENGINE_LIST_MAX);
    list->entries = calloc(count ? count : 1, sizeof *list->entries);
    if (!list->entries)
        return error_no_memory(error);
    for (list->count = 0; list->count < count; list->count++)
        list->entries[list->count].walk.command = json_array_get(commands, list->count);
    return true;
}

static void clear_list(struct list *list) {
    process_lanes_drop(list->engine);
    for (size_t i = 0; i < list->count; i++) {
        process_walk_clear(&list->entries[i].walk);
    }
    free(list->entries);
}

static void list_refuse(const struct list *list, const struct error *why, size_t *refused,
                        struct error *error) {
    if (refused) {
        *refused = list->at;
        *error = *why;
        return;
    }
    error_set(error, why->code, "entry %zu of the list: %s", list->at + 1, why->text);
}

bool engine_process_list(struct engine *engine, const json_t *commands, struct engine_order *given,
                         json_t **answer, size_t *refused, struct error *error) {
    struct list list = {.engine = engine, .given = given};
    struct error why = {0};
    *answer = NULL;
    bool opened = open_list(&list, commands, error), done = opened && do_all(&list, &why);
    done = store_seen(engine->store, &why) && done;
    if (opened && !done)
        list_refuse(&list, &why, refused, error);
    if (done)
        *answer = ids_of(&list);
    clear_list(&list);
    return done && (*answer || error_no_memory(error));
}
