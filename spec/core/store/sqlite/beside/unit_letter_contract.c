/* unit_letter_contract.c - commands to processes, of many processes at a time: one of them writes
 * for all, and each gets its own answer. */
#include "../../process_site.h"
#include "job/unit_lists.h"
#include "store/sqlite/beside/mailbox.h"
#include "store/sqlite/beside/unit_letter.h"
#include "store/sqlite/db/rules_pack.h"
#include <sys/wait.h>

enum { CROWD = 8, CALLS = 60, ENTRIES = 2, LETTER = 20000 };

static char ann[] = "ann", vienna[] = "Europe/Vienna";

/* ---- a unit with everything ---- */

static void fill_member(const struct unit_member *member, char *entry, int number) {
    static char texts[200][24];
    int64_t whole = number;
    const char *text = texts[number % 200];
    snprintf(texts[number % 200], sizeof *texts, "%s %d", member->key, number);
    if (member->type == UNIT_NUMBER || member->type == UNIT_TIME)
        memcpy(entry + member->at, &whole, sizeof whole);
    else if (member->type == UNIT_WAITS)
        memcpy(entry + member->at, &(unsigned){UNIT_TASK}, sizeof(unsigned));
    else if (number % 7) /* else: none */
        memcpy(entry + member->at, &text, sizeof text);
}

/* Two entries in each list, and something in each member. */
static struct unit *unit_full(void) {
    struct unit *unit = unit_new();
    int number = 1;
    for (const struct unit_list *list = unit_lists; list->key; list++) {
        char *entries = unit_room(unit, ENTRIES, list->size);
        for (int i = 0; i < ENTRIES; i++)
            for (const struct unit_member *member = list->members; member->key; member++)
                fill_member(member, entries + (size_t)i * list->size, number++);
        memcpy((char *)unit + list->at, &entries, sizeof entries);
        memcpy((char *)unit + list->count_at, &(size_t){ENTRIES}, sizeof(size_t));
    }
    return unit;
}

static bool is_text(const struct unit_member *member) {
    return member->type == UNIT_TEXT || member->type == UNIT_JSON;
}

static bool is_same_member(const struct unit_member *member, const char *a, const char *b) {
    const char *left, *right;
    if (!is_text(member))
        return memcmp(a + member->at, b + member->at,
                      member->type == UNIT_WAITS ? sizeof(unsigned) : sizeof(int64_t)) == 0;
    memcpy(&left, a + member->at, sizeof left);
    memcpy(&right, b + member->at, sizeof right);
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static bool is_same_list(const struct unit_list *list, const struct unit *a, const struct unit *b) {
    const char *left, *right;
    size_t count;
    memcpy(&left, (const char *)a + list->at, sizeof left);
    memcpy(&right, (const char *)b + list->at, sizeof right);
    memcpy(&count, (const char *)b + list->count_at, sizeof count);
    bool same = count == ENTRIES;
    for (size_t i = 0; same && i < ENTRIES; i++)
        for (const struct unit_member *member = list->members; same && member->key; member++)
            same = is_same_member(member, left + i * list->size, right + i * list->size);
    return same;
}

static bool is_same_unit(const struct unit *a, const struct unit *b) {
    for (const struct unit_list *list = unit_lists; list->key; list++)
        if (!is_same_list(list, a, b))
            return false;
    return true;
}

/* ---- letters ---- */

struct full {
    struct job_spec jobs[2];
    struct outcome outcome;
    struct store_entry entry;
    struct write_rules rules;
};

static struct full full_new(void) {
    struct full full = {
        .jobs = {{.job = {.handler = "a", .payload = "{}", .payload_size = 2}, .told = true},
                 {.job = {.handler = "b", .priority = 7}}},
        .outcome = {.kind = OUTCOME_SUCCESS, .unit = unit_full()},
        .entry = {"start", "process \"order\"", NULL, "instance 9", 9},
        .rules = {.who = ann,
                  .history = HISTORY_FAILURES,
                  .history_ttl = 77,
                  .notify = json_pack("{ss}", "incident", "alert"),
                  .retries = 5,
                  .ensure_due_date = true,
                  .zone = vienna}};
    return full;
}

static void full_free(struct full *full) {
    json_decref(full->rules.notify);
    unit_free(full->outcome.unit);
}

static size_t pack(struct full *full, void *room, size_t size) {
    full->jobs[0].next = &full->jobs[1];
    full->outcome.created = full->jobs;
    struct packer to = {room, size, false};
    rules_pack(&to, &full->rules);
    unit_letter_pack(&to, &full->outcome, &full->entry);
    return to.full ? 0 : size - to.left;
}

static bool unpack(const char *room, size_t size, struct write_rules *rules,
                   struct unit_letter *letter) {
    struct opener from = {room, size};
    *letter = (struct unit_letter){0};
    return rules_open(&from, rules) && unit_letter_open(&from, letter);
}

static void unpacked(struct write_rules *rules, struct unit_letter *letter) {
    rules_clear(rules);
    unit_letter_clear(letter);
}

#define IS_SAME(kind, type, member) IS_SAME_##kind(member)
#define IS_SAME_PLAIN(member) &&a->member == b->member
#define IS_SAME_TEXT(member) &&strcmp(a->member, b->member) == 0
#define IS_SAME_JSON(member) &&json_equal(a->member, b->member)

static bool is_same_rules(const struct write_rules *a, const struct write_rules *b) {
    return true WRITE_RULES(IS_SAME);
}

static void all_of_it(struct contract *c) {
    char room[LETTER];
    struct full full = full_new();
    struct write_rules rules;
    struct unit_letter letter;
    size_t size = pack(&full, room, sizeof room);
    EXPECT(size && unpack(room, size, &rules, &letter));
    EXPECT(is_same_rules(&full.rules, &rules));
    EXPECT(is_same_unit(full.outcome.unit, letter.outcome.unit));
    const struct job_spec *first = letter.outcome.created, *second = first->next;
    EXPECT(strcmp(first->job.handler, "a") == 0 && first->told && first->job.payload_size == 2);
    EXPECT(strcmp(second->job.handler, "b") == 0 && !second->told && !second->next);
    EXPECT(second->job.priority == 7 && strcmp(letter.entry.after, "instance 9") == 0);
    EXPECT(!letter.entry.before && letter.entry.instance == 9);
    unpacked(&rules, &letter);
    full_free(&full);
}

static void cut_short(struct contract *c) {
    char room[LETTER];
    struct full full = full_new();
    size_t size = pack(&full, room, sizeof room);
    EXPECT(size && pack(&full, room, size) == size && !pack(&full, room, size - 1));
    EXPECT(pack(&full, room, sizeof room) == size);
    for (size_t cut = 0; cut < size; cut++) {
        struct write_rules rules;
        struct unit_letter letter;
        char *bytes = malloc(cut + 1); /* of its own: what is read beyond is found */
        memcpy(bytes, room, cut);
        bool opened = unpack(bytes, cut, &rules, &letter);
        unpacked(&rules, &letter);
        free(bytes);
        EXPECT(!opened);
    }
    full_free(&full);
}

/* ---- commands ---- */

/* One command on an instance: it begins, or stands in another place. */
struct step {
    struct job none;
    struct unit unit;
    struct unit_instance instance;
    struct unit_subscription waits;
    struct unit_trail trail;
    struct outcome outcome;
    struct store_entry entry;
};

static void step_make(struct step *step, int64_t id, int64_t version, int64_t rev) {
    *step = (struct step){.instance = {.id = id,
                                       .version = version,
                                       .rev = rev,
                                       .started = NOW,
                                       .frame = rev ? "{\"v\":9,\"f\":2}" : "{\"v\":9,\"f\":1}"},
                          .waits = {id, 3, version, "message", "paid", "k", "wait"},
                          .trail = {id, "[[\"s\",1]]"},
                          .entry = {"start", "process \"order\"", NULL, "instance", id}};
    step->unit = (struct unit){.instances = &step->instance,
                               .subscriptions = &step->waits,
                               .subscription_count = rev == 0,
                               .trail = &step->trail,
                               .instance_count = 1,
                               .trail_count = 1};
    step->outcome =
        (struct outcome){.job = &step->none, .kind = OUTCOME_SUCCESS, .unit = &step->unit};
}

static struct store *client(struct contract *c) {
    return store_open(c->url, STORE_WRITE, &c->settings, &c->error);
}

static bool run(struct contract *c, int64_t version) {
    struct store *store = client(c);
    int64_t first = store ? store_reserve_ids(store, CALLS, &c->error) : 0;
    bool fine = first != 0;
    for (int i = 0; fine && i < CALLS; i++) {
        struct step begins, moves;
        int64_t rev = 0;
        step_make(&begins, first + i, version, 0);
        fine = store_unit(store, &begins.outcome, &begins.entry, NOW, &c->error) == YES &&
               db_value(&store->db, &c->error, &rev, "SELECT rev FROM instance WHERE id=?1", "i",
                        first + i) == YES;
        step_make(&moves, first + i, version, rev);
        fine = fine && store_unit(store, &moves.outcome, &moves.entry, NOW, &c->error) == YES &&
               store_unit(store, &moves.outcome, &moves.entry, NOW, &c->error) == NO;
    }
    store_close(store);
    return fine;
}

static void together(struct contract *c) {
    pid_t children[CROWD];
    int64_t version = order(c);
    bool fine = version != 0;
    EXPECT(fine);
    for (int i = 0; i < CROWD; i++)
        if ((children[i] = fork()) == 0)
            _exit(run(c, version) ? 0 : 1);
    for (int i = 0; i < CROWD; i++) {
        int status = 1;
        fine = waitpid(children[i], &status, 0) == children[i] && status == 0 && fine;
    }
    EXPECT(fine);
    EXPECT(contract_number(c, "SELECT count(*) FROM instance WHERE frame='{\"v\":9,\"f\":2}'") ==
           (int64_t)CROWD * CALLS);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail") == (int64_t)CROWD * CALLS * 2);
    EXPECT(contract_number(c, "SELECT count(*) FROM operation WHERE verb='start'") ==
           (int64_t)CROWD * CALLS * 2);
}

#define NEXT_TOKEN "SELECT value FROM meta WHERE key='next_token'"

/* The frame gets the token of the lane that the command held, so no page is written for another. */
static void of_lane(struct contract *c) {
    struct store *store = client(c);
    struct step begins, moves;
    const int64_t version = order(c), id = store_reserve_ids(store, 1, &c->error);
    struct lane_want want = {
        .hold = {.lane = job_instance_lane(id)}, .instance = id, .now = NOW, .until = NOW + 1000};
    step_make(&begins, id, version, 0);
    EXPECT(store_unit(store, &begins.outcome, &begins.entry, NOW, &c->error) == YES);
    EXPECT(store_lane_hold(store, &want, &c->error) == YES && want.hold.token && want.rev);
    step_make(&moves, id, version, want.rev);
    moves.entry.holds[0] = want.hold;
    const int64_t next = contract_number(c, NEXT_TOKEN);
    EXPECT(store_unit(store, &moves.outcome, &moves.entry, NOW, &c->error) == YES);
    store_close(store);
    EXPECT(contract_number(c, "SELECT rev FROM instance") == want.hold.token);
    EXPECT(contract_number(c, NEXT_TOKEN) == next && want.hold.token < next);
    EXPECT(contract_number(c, "SELECT count(*) FROM lane") == 0);
}

/* Another process asks first, then we do: its letter is written with ours. */
struct pair {
    struct store *store;
    struct mailbox other;
    int64_t version, id; /* the other's instance; the next one is ours */
    struct step theirs, ours;
};

static bool pair_open(struct contract *c, struct pair *pair) {
    *pair = (struct pair){.version = order(c), .store = client(c)};
    pair->id = pair->store ? store_reserve_ids(pair->store, 3, &c->error) : 0;
    return pair->version && pair->id &&
           mailbox_open(&pair->other, c->url + sizeof "sqlite:" - 1, &c->error);
}

static bool pair_ask(struct pair *pair, int64_t rev, const struct write_rules *rules) {
    step_make(&pair->theirs, pair->id, pair->version, rev);
    step_make(&pair->ours, pair->id + 1, pair->version, 0);
    return mailbox_ask_unit(&pair->other, &pair->theirs.outcome, &pair->theirs.entry, rules, NOW);
}

static enum answer pair_write(struct contract *c, struct pair *pair) {
    return store_unit(pair->store, &pair->ours.outcome, &pair->ours.entry, NOW, &c->error);
}

static const struct mailbox_answer *pair_answer(struct pair *pair) {
    return mailbox_answered(&pair->other) ? mailbox_answer(&pair->other, pair->other.place) : NULL;
}

static void pair_close(struct pair *pair) {
    mailbox_close(&pair->other);
    store_close(pair->store);
}

static void as_asked(struct contract *c) {
    struct pair pair;
    struct write_rules rules = c->settings.write;
    rules.who = ann;
    rules.history = HISTORY_FAILURES;
    EXPECT(pair_open(c, &pair) && pair_ask(&pair, 0, &rules));
    EXPECT(pair_write(c, &pair) == YES && pair_answer(&pair));
    EXPECT(pair_answer(&pair)->code == ERROR_NONE && !pair_answer(&pair)->behind);
    pair_close(&pair);
    EXPECT(contract_number(c, "SELECT count(*) FROM instance") == 2);
    EXPECT(contract_number(c, "SELECT count(*) FROM operation WHERE who='ann'") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM operation") == 2);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM tray") == 1); /* the other's may be repeated */
}

/* Both instances are stuck; the other process has somebody told of it, and its jobs get a date. */
static void told_as_asked(struct contract *c) {
    struct pair pair;
    struct write_rules rules = c->settings.write;
    rules.notify = json_pack("{ss}", "incident", "alert");
    rules.retries = 9;
    rules.ensure_due_date = true;
    EXPECT(pair_open(c, &pair));
    step_make(&pair.theirs, pair.id, pair.version, 0);
    step_make(&pair.ours, pair.id + 1, pair.version, 0);
    pair.theirs.instance.stuck = pair.ours.instance.stuck = "wait";
    EXPECT(mailbox_ask_unit(&pair.other, &pair.theirs.outcome, &pair.theirs.entry, &rules, NOW));
    json_decref(rules.notify);
    EXPECT(pair_write(c, &pair) == YES && pair_answer(&pair));
    pair_close(&pair);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident") == 2);
    EXPECT(matches(c, "{\"handler\": \"alert\"}") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM job WHERE retries=9 AND due=created") == 1);
}

static void behind(struct contract *c) {
    struct pair pair;
    EXPECT(pair_open(c, &pair) && pair_ask(&pair, 0, &c->settings.write));
    EXPECT(pair_write(c, &pair) == YES && pair_ask(&pair, 4711, &c->settings.write));
    step_make(&pair.ours, pair.id + 2, pair.version, 0);
    EXPECT(pair_write(c, &pair) == YES && pair_answer(&pair) && pair_answer(&pair)->behind);
    pair_close(&pair);
    EXPECT(contract_number(c, "SELECT count(*) FROM instance") == 3);
    EXPECT(contract_number(c, "SELECT count(*) FROM instance WHERE frame='{\"v\":9,\"f\":2}'") ==
           0);
    EXPECT(contract_number(c, "SELECT count(*) FROM operation") == 3);
}

/* New instances of a process that is suspended are refused; a job is not. */
static void refused(struct contract *c) {
    struct pair pair;
    EXPECT(pair_open(c, &pair));
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "order"));
    EXPECT(pair_ask(&pair, 0, &c->settings.write));
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(store_enqueue(pair.store, &spec, NOW, &c->error) && pair_answer(&pair));
    EXPECT(pair_answer(&pair)->code == ERROR_CONFLICT);
    EXPECT(strcmp(pair_answer(&pair)->text, "the process is suspended") == 0);
    pair_close(&pair);
    EXPECT(contract_number(c, "SELECT count(*) FROM instance") == 0);
    EXPECT(matches(c, "{}") == 1);
}

static void too_large(struct contract *c) {
    static char frame[MAILBOX_LETTER + 1];
    struct pair pair;
    memset(frame, ' ', sizeof frame - 1);
    memcpy(frame, "{\"v\":9}", 7);
    EXPECT(pair_open(c, &pair));
    step_make(&pair.ours, pair.id, pair.version, 0);
    pair.ours.instance.frame = frame;
    EXPECT(pair_write(c, &pair) == YES);
    pair_close(&pair);
    EXPECT(contract_number(c, "SELECT length(frame) FROM instance") == MAILBOX_LETTER);
}

static const struct check checks[] = {
    {"a letter has all of a unit, its jobs, its entry and the rules", all_of_it},
    {"a letter that is cut short, or does not fit, is none", cut_short},
    {"of 8 processes that command each gets its own answer, and all of it is there", together},
    {"what another process asked for is written by its own settings", as_asked},
    {"who is told of what another process asked for, its own settings say", told_as_asked},
    {"a unit that is behind is answered so, and the others are written", behind},
    {"a unit that is refused spoils no other one", refused},
    {"a unit that is too large for the tray is written alone", too_large},
    {"the frame of a command that held a lane has its token", of_lane},
};

int main(void) {
    return contract_run_of_file(checks, sizeof checks / sizeof *checks, false);
}
