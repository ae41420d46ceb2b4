#include "run/unread.h"
#include "base/log.h"
#include <stdlib.h>

/* An item is empty if nothing follows for the worker that waits for it. */
static bool is_unread(const struct work_item *item) {
    return item->jobs && item->jobs->unread;
}

static size_t count_unread(const struct work_item *items) {
    size_t count = 0;
    for (const struct work_item *item = items; item; item = item->next)
        count += is_unread(item);
    return count;
}

void unread_read(struct store *store, struct turn *turn) {
    struct error error = {ERROR_NONE, "out of memory"};
    size_t count = count_unread(turn->items), at = 0;
    struct job **jobs = count ? calloc(count, sizeof *jobs) : NULL;
    struct work_item **items = count ? calloc(count, sizeof *items) : NULL;
    turn->unreadable = 0;
    if (!count)
        return;
    for (struct work_item *item = turn->items; jobs && items && item; item = item->next)
        if (is_unread(item)) {
            items[at] = item;
            jobs[at++] = item->jobs;
        }
    store_touch(store, 0);
    if (!at || !store_read_taken(store, jobs, count, &error)) {
        turn->unreadable = error.code == ERROR_DAMAGED ? store_touched(store) : 0;
        turn->unreadable_why = error;
        log_event(LOG_WARN, "jobs given back unread", "reason:s", error.text);
    }
    for (size_t i = 0; i < at; i++) /* an item without jobs stays as it is */
        items[i]->jobs = jobs[i];
    free(jobs);
    free(items);
}

/* Hands back the lock of an unread job; false: no memory. */
static bool give_back(struct outcomes *outcomes, struct work_item *item) {
    struct outcome *outcome = outcome_new(item->jobs, OUTCOME_RETURNED);
    if (!outcome)
        return false;
    item->jobs = NULL;
    outcome->late = true;
    outcomes_add(outcomes, outcome);
    return true;
}

/* Takes the job whose row cannot be read out of its place, and its item out of the turn. */
static bool aside(struct store *store, struct turn *turn, time_ms now) {
    struct error error = {0};
    struct work_item **at = &turn->items;
    while (*at && !(is_unread(*at) && (*at)->jobs->id == turn->unreadable))
        at = &(*at)->next;
    struct work_item *item = *at;
    if (!item)
        return false;
    if (!store_set_aside(store, turn->unreadable, NULL, turn->unreadable_why.text, now, &error)) {
        log_event(LOG_WARN, "job not set aside", "job:l reason:s", turn->unreadable, error.text);
        return false;
    }
    log_event(LOG_ERROR, "incident", "job:l reason:s", turn->unreadable, turn->unreadable_why.text);
    *at = item->next;
    work_item_free(item);
    return true;
}

bool unread_drop(struct store *store, struct turn *turn, struct outcomes *outcomes, time_ms now) {
    if (!count_unread(turn->items))
        return false;
    while (turn->unreadable && aside(store, turn, now))
        unread_read(store, turn);
    for (struct work_item **at = &turn->items; *at;) {
        struct work_item *item = *at;
        if (!is_unread(item)) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        if (!give_back(outcomes, item))
            log_event(LOG_ERROR, "job lost sight of until its lock expires", "job:l",
                      item->jobs->id);
        work_item_free(item);
    }
    return true;
}
