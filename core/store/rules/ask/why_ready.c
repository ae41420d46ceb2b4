/* why_ready.c - why a job that could be taken has not been: who would take it, behind how many, or
 * what keeps every executor from it (rules §11). */
#include "base/json.h"
#include "store/rules/ask/why.h"
#include "store/rules/fleet/unserved.h"
#include "store/rules/place/merge.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/place/suspects.h"
#include <stdio.h>
#include <string.h>

/* ---- nobody takes it ---- */

static void list_served(struct text *words, const struct executor_info *info,
                        enum serves_stage stage) {
    size_t index = 0;
    json_t *name = NULL;
    text_add(words, "%s/%lld ", info->name, (long long)info->id);
    if (stage == SERVES_STREAM) {
        text_add(words, "serves ");
        unserved_add_range(words, info->acquire.priority_min, info->acquire.priority_max);
    } else if (stage == SERVES_HANDLER) {
        text_add(words, "serves");
        json_array_foreach(info->categories, index, name) {
            text_add(words, "%s \"%s\"", index ? "," : "", json_string_value(name));
        }
    } else if (stage == SERVES_CATEGORY)
        text_add(words, "is not registered for it");
    else
        text_add(words, "has %zu others", info->named.count);
}

/* " (node/3 serves 0 to 10, node/4 …)": at most three of those that come so far. */
static void list_executors(struct why *why, struct text *words, enum serves_stage stage) {
    int listed = 0;
    for (size_t i = 0; i < why->executors.count; i++) {
        const struct executor_info *info = &why->executors.list[i];
        if (info->standing != STANDING_LIVE || serves_stage(&info->serves, why->stream) != stage ||
            ++listed > 3)
            continue;
        text_add(words, "%s", listed == 1 ? " (" : ", ");
        list_served(words, info, stage);
    }
    if (listed)
        text_add(words, "%s)", listed > 3 ? ", …" : "");
}

static const struct executor_info *taker(const struct why *why, enum standing standing) {
    for (size_t i = 0; i < why->executors.count; i++)
        if (why->executors.list[i].standing == standing &&
            executor_info_takes(&why->executors.list[i], why->stream, why->row.priority))
            return &why->executors.list[i];
    return NULL;
}

const char *why_unserved(struct why *why, struct text *words, const char **reason) {
    const struct executor_info *other = NULL;
    if (taker(why, STANDING_LIVE))
        return NULL;
    if ((other = taker(why, STANDING_DRAINING))) {
        *reason = "draining";
        text_add(words, "%s/%lld, which serves it, is draining", other->name, (long long)other->id);
    } else if ((other = taker(why, STANDING_OVERDUE))) {
        *reason = "overdue";
        char seen[TIME_TEXT_SIZE];
        time_format(other->seen, seen);
        text_add(words, "%s/%lld, which serves it, has not been heard of since %s", other->name,
                 (long long)other->id, seen);
    } else if (!why->stream->topic && !executor_list_count(&why->executors, STANDING_LIVE)) {
        *reason = "no_executor";
        text_add(words, "no executor runs");
    } else {
        enum serves_stage stage = executor_list_stage(&why->executors, STANDING_LIVE, why->stream);
        *reason = unserved_kind(stage, why->stream);
        text_add(words, "no live executor serves ");
        unserved_add_missing(words, stage, why->stream, why->row.priority, why->row.priority);
        list_executors(why, words, stage);
    }
    return words->data;
}

/* ---- somebody will ---- */

/* A lane that runs puts its jobs aside when acquisition meets them. */
static enum answer held_up(struct store *store, int64_t lane, struct error *error) {
    int64_t one = 0;
    return lane ? db_value(&store->db, error, &one, "SELECT 1 FROM lane WHERE id=?1", "i", lane)
                : NO;
}

/* How many the executor would take before this one, in its own order; at most one above the
 * bound. -1: error. */
static int64_t count_ahead(struct why *why, const struct executor_info *info, struct error *error) {
    const struct job_row *row = &why->row;
    struct cursor own = {
        .stream = row->stream,
        .timer = why->stream->type == JOB_TIMER,
        .head = {.rank = ~row->priority, .place = row->place, .id = row->id, .lane = row->lane}};
    struct merge merge = {0};
    int64_t ahead = 0;
    bool fine = merge_begin(&merge, why->store, &info->acquire, error);
    while (fine && ahead <= AHEAD_MAX && merge_before(&merge, &own)) {
        enum answer held = held_up(why->store, merge_best(&merge)->head.lane, error);
        ahead += held == NO;
        fine = held != FAILED && merge_next(&merge, why->store, error);
    }
    merge_end(&merge);
    return fine ? ahead : -1;
}

static bool say_ahead(struct why *why, const struct executor_info *info, int64_t ahead) {
    char owner[JOB_NAME_MAX + 32], busy[80] = "";
    snprintf(owner, sizeof owner, "%s/%lld", info->name, (long long)info->id);
    bool more = ahead > AHEAD_MAX;
    ahead = more ? AHEAD_MAX : ahead;
    if (info->locked)
        snprintf(busy, sizeof busy, ", which holds %lld %s", (long long)info->locked,
                 info->locked == 1 ? "job" : "jobs");
    json_put_text(why->answer, "executor", owner);
    json_put(why->answer, "ahead", json_integer(ahead));
    json_put(why->answer, "more", json_boolean(more));
    if (ahead == 0)
        return why_say(why, "next", "is the next for %s%s", owner, busy) &&
               json_put_time(why->answer, "when", why->now);
    return why_say(why, "ahead", "is ready, and %s%lld %s before it for %s%s",
                   more ? "more than " : "", (long long)ahead,
                   ahead == 1 ? "job stands" : "jobs stand", owner, busy);
}

/* With the one where it stands best. */
static bool why_ahead(struct why *why, struct error *error) {
    const struct executor_info *best = NULL;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < why->executors.count && least > 0; i++) {
        const struct executor_info *info = &why->executors.list[i];
        if (info->standing != STANDING_LIVE ||
            !executor_info_takes(info, why->stream, why->row.priority))
            continue;
        int64_t ahead = count_ahead(why, info, error);
        if (ahead < 0)
            return false;
        if (ahead < least) {
            least = ahead;
            best = info;
        }
    }
    return best && say_ahead(why, best, least);
}

/* NO: no such obstacle. Another job that has crashed its process runs. */
static enum answer why_crash(struct why *why, struct error *error) {
    int64_t suspect = 0;
    if (!why->row.crashes)
        return NO;
    enum answer found =
        db_value(&why->store->db, error, &suspect,
                 "SELECT l.id FROM locked l JOIN job j ON j.id=l.id WHERE j.crashes>0 LIMIT 1", "");
    if (found != YES)
        return found;
    json_put(why->answer, "holder", json_integer(suspect));
    json_put(why->answer, "crashes", json_integer(why->row.crashes));
    return why_say(why, "crash_quarantine",
                   "waits for job %lld: a process died while each of them ran, and such jobs run "
                   "one at a time",
                   (long long)suspect);
}

/* NO: no such obstacle. Each executor that would take it has begun another suspect. */
static enum answer why_suspect(struct why *why, struct error *error) {
    struct suspect_run run = {0}, first = {.until = TIME_NEVER};
    char until[TIME_TEXT_SIZE];
    for (size_t i = 0; why->suspect && i < why->executors.count; i++) {
        const struct executor_info *info = &why->executors.list[i];
        if (info->standing != STANDING_LIVE ||
            !executor_info_takes(info, why->stream, why->row.priority))
            continue;
        enum answer runs = suspects_run(why->store, info->id, why->now, &run, error);
        if (runs != YES)
            return runs;
        if (run.until < first.until)
            first = run;
    }
    if (!first.job)
        return NO;
    time_format(first.until, until);
    json_put(why->answer, "holder", json_integer(first.job));
    json_put_time(why->answer, "when", first.until);
    return why_say(why, "suspect",
                   "waits for the end of job %lld, until %s at the latest: an executor begins one "
                   "suspect at a time",
                   (long long)first.job, until);
}

/* The first who would take it and whose share of its definition's limit is used up, if that is so
 * for all. */
static enum answer find_full(struct why *why, const struct executor_info **full,
                             struct error *error) {
    const struct catalog_definition *definition = why->stream->definition;
    *full = NULL;
    for (size_t i = 0; i < why->executors.count; i++) {
        const struct executor_info *info = &why->executors.list[i];
        if (info->standing != STANDING_LIVE ||
            !executor_info_takes(info, why->stream, why->row.priority))
            continue;
        int64_t left = limit_free(why->store, definition, info->id, error);
        if (left)
            return left < 0 ? FAILED : NO;
        *full = *full ? *full : info;
    }
    return *full ? YES : NO;
}

/* NO: no such obstacle. As many of its definition run as may run at once. */
static enum answer why_limit(struct why *why, struct error *error) {
    const struct catalog_definition *definition = why->stream->definition;
    const struct executor_info *full = NULL;
    enum answer found = find_full(why, &full, error);
    if (found != YES)
        return found;
    char owner[JOB_NAME_MAX + 32];
    snprintf(owner, sizeof owner, "%s/%lld", full->name, (long long)full->id);
    bool everywhere = definition->cluster_limit;
    long long limit = everywhere ? definition->cluster_limit : definition->limit;
    json_put(why->answer, "limit", json_integer(limit));
    if (!everywhere)
        json_put_text(why->answer, "executor", owner);
    return why_say(why, "limit", "waits for its handler's limit: %lld %s at once %s%s", limit,
                   limit == 1 ? "job" : "jobs", everywhere ? "over all executors" : "on ",
                   everywhere ? "" : owner);
}

/* Everybody who would take it wants a due date, and it has none. */
static bool why_undated(struct why *why) {
    const struct executor_info *refuses = NULL;
    for (size_t i = 0; i < why->executors.count; i++) {
        const struct executor_info *info = &why->executors.list[i];
        if (info->standing != STANDING_LIVE ||
            !executor_info_takes(info, why->stream, why->row.priority))
            continue;
        if (!info->acquire.ensure_due_date)
            return false;
        refuses = info;
    }
    return refuses && json_put_text(why->answer, "setting", "ensure_due_date") &&
           why_say(why, "ensure_due_date",
                   "has no due date, and %s/%lld takes none without (setting ensure_due_date)",
                   refuses->name, (long long)refuses->id);
}

/* NO: no such obstacle. Its definition has started as many as its rate allows. */
static enum answer why_rate(struct why *why, struct error *error) {
    const struct catalog_definition *definition = rate_limit_of(why->store, why->row.stream);
    char rate[RATE_TEXT_SIZE], when[TIME_TEXT_SIZE];
    time_ms at = TIME_NEVER;
    int64_t left = 1;
    if (!rate_limit_begin(why->store, why->now, error) ||
        (definition && !rate_limit_left(why->store, definition, &left, &at, error)))
        return FAILED;
    if (left > 0)
        return NO;
    rate_format(&definition->rate, rate);
    time_format(at, when);
    json_put_text(why->answer, "rate", rate);
    json_put_time(why->answer, "when", at);
    return why_say(why, "rate", "is ready, but \"%s\" has a rate of %s: the next may start at %s",
                   definition->name, rate, when);
}

bool why_ready(struct why *why, struct error *error) {
    struct text words = {0};
    const char *reason = NULL, *unserved = why_unserved(why, &words, &reason);
    bool said = unserved && why_say(why, reason, "is ready, but %s", unserved);
    text_clear(&words);
    if (said || (why->row.due == TIME_NONE && why_undated(why)))
        return true;
    enum answer said_so = why_crash(why, error);
    if (said_so == NO)
        said_so = why_suspect(why, error);
    if (said_so == NO)
        said_so = why_limit(why, error);
    if (said_so == NO)
        said_so = why_rate(why, error);
    return said_so == YES || (said_so == NO && why_ahead(why, error));
}
