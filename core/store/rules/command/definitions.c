/* definitions.c - what an operator does to a definition, and to its jobs with it (rules §4,
 * §7, §10, §11, §12). A definition is its name in the store: what is set here survives new
 * deployments. */
#include "store/rules/command/commands.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <string.h>

#define LOG_TEXT 48 /* of a value in the log of operations */

/* The definition before the verb. */
struct subject {
    int64_t id, priority;
    bool overridden, suspended;
    bool cluster;          /* the limit in its file counts over all executors */
    char before[LOG_TEXT]; /* the limit or the rate that an operator has set; "": none */
};

static bool subject_find(struct store *store, const char *name, struct subject *subject,
                         struct error *error) {
    const struct catalog_definition *found = catalog_definition(&store->catalog, name);
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "unknown definition \"%s\"", name);
    *subject = (struct subject){.id = found->id,
                                .priority = found->override_priority,
                                .overridden = found->overridden,
                                .suspended = found->suspended,
                                .cluster = found->cluster};
    return true;
}

/* ---- its limit and its rate ---- */

/* As its column has it: below 0 over all executors. A plain number counts as that in the file. */
static int64_t limit_wanted(const struct command *command, const struct subject *subject) {
    return command->cluster || subject->cluster ? -(int64_t)command->limit : command->limit;
}

static void limit_say(int64_t limit, char *text) {
    if (limit == 0)
        snprintf(text, LOG_TEXT, "none");
    else
        snprintf(text, LOG_TEXT, "%s%lld", limit < 0 ? "cluster " : "",
                 (long long)(limit < 0 ? -limit : limit));
}

static void rate_say(const struct rate *rate, char *text) {
    if (rate->count)
        rate_format(rate, text);
    else
        snprintf(text, LOG_TEXT, "none");
}

static bool is_of_limit(const struct command *command) {
    return command->verb == COMMAND_OVERRIDE_LIMIT || command->verb == COMMAND_CLEAR_LIMIT;
}

static bool is_of_rate(const struct command *command) {
    return command->verb == COMMAND_OVERRIDE_RATE || command->verb == COMMAND_CLEAR_RATE;
}

static bool read_before(struct store *store, const struct command *command, struct subject *subject,
                        struct error *error) {
    static const char sql[] = "SELECT override_limit, override_rate FROM definition WHERE id=?1";
    struct row *row = db_query(&store->db, error, sql, "i", subject->id);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found != FAILED;
    if (is_of_limit(command) && !row_null(row, 0))
        limit_say(row_int(row, 0), subject->before);
    if (is_of_rate(command) && !row_null(row, 1))
        snprintf(subject->before, LOG_TEXT, "%s", row_text(row, 1));
    row_done(row);
    return true;
}

static bool counts_write(struct store *store, const struct command *command,
                         const struct subject *subject, struct error *error) {
    char rate[LOG_TEXT];
    if (command->verb == COMMAND_OVERRIDE_LIMIT)
        return db_run(&store->db, error, "UPDATE definition SET override_limit=?2 WHERE id=?1",
                      "ii", subject->id, limit_wanted(command, subject));
    if (command->verb == COMMAND_CLEAR_LIMIT)
        return db_run(&store->db, error, "UPDATE definition SET override_limit=NULL WHERE id=?1",
                      "i", subject->id);
    if (command->verb == COMMAND_CLEAR_RATE)
        return db_run(&store->db, error, "UPDATE definition SET override_rate=NULL WHERE id=?1",
                      "i", subject->id);
    rate_say(&command->rate, rate);
    return db_run(&store->db, error, "UPDATE definition SET override_rate=?2 WHERE id=?1", "it",
                  subject->id, rate);
}

/* Runs and starts are counted from now on, or no more; every executor looks what it may take. */
static bool counts_change(struct store *store, const struct command *command,
                          struct subject *subject, struct error *error) {
    if (!read_before(store, command, subject, error) ||
        !counts_write(store, command, subject, error) || !catalog_changed(store, error))
        return false;
    const struct catalog_definition *now = catalog_definition(&store->catalog, command->definition);
    capacity_blind(store);
    store->ring.everybody = true;
    return is_of_limit(command) ? place_recount(store, now, error)
                                : rate_limit_count(store, now, error);
}

/* ---- the definition ---- */

static bool subject_change(struct store *store, const struct command *command,
                           struct subject *subject, struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_DEFINITION;
    if (is_of_limit(command) || is_of_rate(command))
        return counts_change(store, command, subject, error);
    if (command->verb == COMMAND_OVERRIDE_PRIORITY)
        return db_run(&store->db, error, "UPDATE definition SET override_priority=?2 WHERE id=?1",
                      "ii", subject->id, command->priority) &&
               catalog_changed(store, error);
    if (command->verb == COMMAND_CLEAR_OVERRIDE)
        return db_run(&store->db, error, "UPDATE definition SET override_priority=NULL WHERE id=?1",
                      "i", subject->id) &&
               catalog_changed(store, error);
    if (suspends || command->verb == COMMAND_ACTIVATE_DEFINITION)
        return db_run(&store->db, error, "UPDATE definition SET suspended=?2 WHERE id=?1", "in",
                      subject->id, (int)suspends) &&
               catalog_changed(store, error);
    return command->verb == COMMAND_SET_DEFINITION_RETRIES ||
           error_set(error, ERROR_FAILED, "%s: no definition can do it", command->name);
}

/* ---- its jobs ---- */

#define MEMBERS(what)                                                                              \
    "SELECT " what " FROM live WHERE stream IN (SELECT id FROM stream WHERE definition=?1)"
#define STEP " AND id>?3 AND id<=?4 ORDER BY id LIMIT ?5"
#define IDS_OR_COUNT(where) (counts ? MEMBERS("count(*)") where : MEMBERS("id") where STEP)

/* NULL: the verb leaves the jobs alone. */
static const char *members_sql(const struct command *command, bool counts) {
    if (command->verb == COMMAND_OVERRIDE_PRIORITY && command->cascade)
        return IDS_OR_COUNT(" AND priority<>?2");
    if (command->verb == COMMAND_SUSPEND_DEFINITION && command->include_jobs)
        return IDS_OR_COUNT(" AND suspended&2=0 AND ?2=0");
    if (command->verb == COMMAND_ACTIVATE_DEFINITION && command->include_jobs)
        return IDS_OR_COUNT(" AND suspended<>0 AND suspended&2<>0 AND ?2=0");
    if (command->verb == COMMAND_SET_DEFINITION_RETRIES)
        return IDS_OR_COUNT(" AND retries=0 AND ?2=0"); /* dead ones only */
    return NULL;
}

/* Those that are not yet as they shall be; none if the verb leaves the jobs alone. */
static bool members_read(struct store *store, struct step *step, struct command *command,
                         int64_t definition, struct error *error) {
    const char *sql = members_sql(command, false);
    return !sql ||
           step_read(store, step, command,
                     db_query(&store->db, error, sql, "iiiin", definition, command->priority,
                              command->after, step_end(step, command), COMMAND_IDS + 1),
                     error);
}

static bool members_change(struct store *store, const struct command *command, struct ids ids,
                           time_ms now, struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_DEFINITION;
    if (command->verb == COMMAND_OVERRIDE_PRIORITY)
        return commands_set_priority(store, ids, command->priority, now, error);
    if (command->verb == COMMAND_SET_DEFINITION_RETRIES)
        return commands_set_retries(store, ids, command, now, error);
    if (suspends || command->verb == COMMAND_ACTIVATE_DEFINITION)
        return commands_set_suspended(store, ids, SUSPENDED_DEFINITION, suspends, now, error);
    return ids.count == 0 ||
           error_set(error, ERROR_FAILED, "%s: no code changes its jobs", command->name);
}

/* ---- its entry in the log ---- */

static void show_old(const struct command *command, const struct subject *subject, char *text,
                     size_t size) {
    bool priority =
        command->verb == COMMAND_OVERRIDE_PRIORITY || command->verb == COMMAND_CLEAR_OVERRIDE;
    if (is_of_limit(command) || is_of_rate(command))
        snprintf(text, size, "%s", subject->before);
    else if (priority && subject->overridden)
        snprintf(text, size, "%lld", (long long)subject->priority);
    else if (command->verb == COMMAND_SET_DEFINITION_RETRIES)
        snprintf(text, size, "0");
    else if (!priority)
        snprintf(text, size, "%s", subject->suspended ? "suspended" : "active");
}

static void show_new(const struct command *command, const struct subject *subject, char *text,
                     size_t size) {
    if (command->verb == COMMAND_OVERRIDE_LIMIT)
        limit_say(limit_wanted(command, subject), text);
    else if (command->verb == COMMAND_OVERRIDE_RATE)
        rate_say(&command->rate, text);
    else if (command->verb == COMMAND_OVERRIDE_PRIORITY)
        snprintf(text, size, "%lld", (long long)command->priority);
    else if (command->verb == COMMAND_SET_DEFINITION_RETRIES)
        snprintf(text, size, "%d", (int)command->retries);
    else if (command->verb == COMMAND_SUSPEND_DEFINITION)
        snprintf(text, size, "suspended");
    else if (command->verb == COMMAND_ACTIVATE_DEFINITION)
        snprintf(text, size, "active");
}

static bool subject_log(struct store *store, const struct command *command,
                        const struct subject *subject, struct ids ids, time_ms now,
                        struct error *error) {
    char entity[JOB_NAME_MAX + 32], before[LOG_TEXT] = "", after[LOG_TEXT] = "";
    snprintf(entity, sizeof entity, "definition \"%s\"", command->definition);
    show_old(command, subject, before, sizeof before);
    show_new(command, subject, after, sizeof after);
    /* What goes on only counts: its old value is the first transaction's. */
    return operation_write_ids(store, command->name, entity, ids, *before ? before : NULL,
                               *after ? after : NULL, now, error);
}

bool definition_command(struct store *store, struct command *command, struct step *step,
                        time_ms now, struct error *error) {
    struct subject subject = {0};
    if (!subject_find(store, command->definition, &subject, error))
        return false;
    if (!command->goes_on && !subject_change(store, command, &subject, error))
        return false;
    return members_read(store, step, command, subject.id, error) &&
           members_change(store, command, step->ids, now, error) &&
           subject_log(store, command, &subject, step->ids, now, error);
}

bool definition_preview(struct store *store, const struct command *command, int64_t *count,
                        struct error *error) {
    struct subject subject = {0};
    const char *sql = members_sql(command, true);
    *count = 0;
    return subject_find(store, command->definition, &subject, error) &&
           (!sql ||
            db_value(&store->db, error, count, sql, "ii", subject.id, command->priority) != FAILED);
}

enum answer store_overridden(struct store *store, const char *handler, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM definition WHERE name=?1 AND override_priority IS NOT NULL", "t",
                    handler);
}
