"""What may be wrong with the program, one thing at a time, and who has to notice.

Each mutant has a name, what it breaks, `by` whom it is caught, and its changes: (file, text, other
text). A text must stand in its file exactly once; both are taken without the first and last newline.
`by` names the soak's invariants of which one has to be violated (I1, I8b, …), or a contract or
spec file that has to fail (spec/core/store/unserved_contract) where a soak cannot see it. `faults`, if given,
are those that the soak begins with: what the mutant needs to show itself. `server` has the contract
run over a server.
"""

SETTLE = "core/store/rules/work/settle.c"
FENCE = "core/store/rules/work/fence.c"
LOCKS = "core/store/rules/job/locks.c"
CYCLE = "core/store/rules/create/cycle.c"
ACQUIRE = "core/store/rules/work/acquire.c"
TRANSACTION = "core/store/sqlite/turn/transaction.c"
PURGE = "core/store/sqlite/turn/purge.c"
ENQUEUE = "core/store/sqlite/beside/group_commit.c"
PLACES = "core/store/rules/place/places.c"
PLACES_HOT = "core/store/rules/place/places_hot.c"
STARTS = "core/store/rules/place/rate_limit.c"
TURN = "core/run/turn.c"

MUTANTS = [
    # ---- acknowledgement
    {"name": "acknowledge-before-commit", "by": "I1 I15",
     "breaks": "who creates a job is told so before it is committed",
     "changes": [
         ("core/engine/create.c", """
    bool done = specs->next ? store_create(engine->store, specs, 0, now, error)
                            : store_enqueue(engine->store, specs, now, error);
""", """
    bool done = store_begin(engine->store, STORE_TURN, error) &&
                store_create(engine->store, specs, 0, now, error);
"""),
         (TRANSACTION, """
    if (!transaction_may_begin(store, error))
        return false;
    if (sqlite_of(store)->broken)
""", """
    if (store->writing && !store_commit(store, error))
        return false;
    if (sqlite_of(store)->broken)
"""),
         ("core/store/sqlite/life/open.c", """
    store_rollback(store);
    if (store->self.id)
        store_leave(store, NULL);
""", """
    if (store->writing)
        store_commit(store, NULL);
    if (store->self.id)
        store_leave(store, NULL);
""")]},
    {"name": "answered-before-commit", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "who has one job written by another process is told so before it is committed",
     "changes": [(ENQUEUE, """
    if (!round->spoilt)
        return store_commit(round->store, error);
""", """
    for (int i = 0; !round->spoilt && i < round->count; i++)
        mailbox_mark(&sqlite_of(round->store)->mailbox, round->list[i].place, round->list[i].word);
    if (!round->spoilt)
        return store_commit(round->store, error);
""")]},
    {"name": "answered-before-sync", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "a job is acknowledged that is not on the disk",
     "changes": [(ENQUEUE, """
    if (!log_sync_seen(round->store, error))
        return false;
""", """
    if (round->count < 0 && !log_sync_seen(round->store, error))
        return false;
""")]},
    {"name": "lead-kept-through-the-sync", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "nobody writes while a round is synced",
     "changes": [(ENQUEUE, """
    bool keeps = done && is_fast(store);
""", """
    bool keeps = done;
""")]},
    {"name": "written-twice", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "what is written and not synced yet is written again",
     "changes": [(ENQUEUE, """
        mailbox_mark_written(mailbox, round->list[i].place, round->list[i].word);
""", """
        mailbox_waits(mailbox, round->list[i].place, round->list[i].word);
""")]},
    {"name": "given-up-and-written", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "a job is written for who does not wait for it any more",
     "changes": [(ENQUEUE, """
        if (!mailbox_waits(mailbox, round->list[i].place, round->list[i].word))
""", """
        if (i < 0 && !mailbox_waits(mailbox, round->list[i].place, round->list[i].word))
""")]},
    {"name": "by-the-leaders-settings", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "what another process asks for is written by the leader's settings",
     "changes": [(ENQUEUE, """
    store->rules = &rules;
""", """
    store->rules = known ? own : &rules;
""")]},
    {"name": "told-by-the-leaders-settings", "by": "spec/core/store/sqlite/beside/unit_letter_contract",
     "breaks": "what is kept back of another process is written by the leader's settings",
     "changes": [(ENQUEUE, """
    done = done && transaction_before_rules(store, error);
""", """
    done = done && error != NULL;
""")]},
    {"name": "done-again-for-the-dead", "by": "spec/core/store/sqlite/beside/mailbox_leader_contract",
     "breaks": "what a writer has committed before it died is created once more",
     "changes": [(ENQUEUE, """
    enum answer found = is_own(round) && round->fresh ? NO : look_up(round, answer, error);
""", """
    enum answer found = is_own(round) || round->fresh ? NO : look_up(round, answer, error);
""")]},
    {"name": "another-is-refused", "by": "spec/core/engine/create_list_contract",
     "breaks": "of threads that create together the wrong one is refused",
     "changes": [("core/engine/create_list.c", """
    while (entry && number >= entry->count) {
""", """
    while (entry && number > entry->count) {
""")]},
    {"name": "twins-are-written-together", "by": "spec/core/engine/create_list_contract",
     "breaks": "of two that ask at once under one key both create",
     "changes": [("core/engine/create_list.c", """
    return entry->request && other != entry;
""", """
    return entry->request && other != entry && entry->answered;
""")]},
    {"name": "gathers-for-itself", "by": "spec/core/engine/gather_contract",
     "breaks": "a commit does not wait for the creators that it has just answered",
     "changes": [("core/engine/gather.c", """
    return (struct gather){.expected = answered + waiting, .patience = took / 2 + 1};
""", """
    return (struct gather){.expected = waiting, .patience = took / 2 + 1};
""")]},
    {"name": "reader-stays-young", "by": "spec/core/store/held_contract",
     "breaks": "a reader that holds the log is as old as the last checkpoint",
     "changes": [("core/store/rules/fleet/slots.c", """
    if (head && (!since || !atomic_load_explicit(&head->held, memory_order_relaxed)))
""", """
    if (head)
""")]},
    {"name": "reader-of-nothing-unseen", "by": "spec/core/store/held_contract",
     "breaks": "a reader that began with an empty log is not found",
     "changes": [("core/store/sqlite/turn/old_reader.c", """
    for (int i = 0; i < READERS; i++) {
""", """
    for (int i = 1; i < READERS; i++) {
""")]},
    {"name": "spoilt-by-another", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "a request of another process that cannot be written fails the one of the writer",
     "changes": [(ENQUEUE, """
    return round->count == 1 && round->list[0].place == sqlite_of(round->store)->mailbox.place;
""", """
    return round->count == 1;
""")]},
    {"name": "tried-twice-alone", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "a request that cannot be written is tried a second time, alone",
     "changes": [(ENQUEUE, """
    return round->count == 1 && round->list[0].place == sqlite_of(round->store)->mailbox.place;
""", """
    return round->count == 0;
""")]},
    {"name": "tickets-come-again", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "a process counts its requests from the number at which the one before it began",
     "changes": [("core/store/sqlite/beside/mailbox.c", """
    mailbox->ticket &= INT64_MAX >> 1; /* room to count */
""", """
    mailbox->ticket = 0;
""")]},
    {"name": "answers-without-number", "by": "spec/core/store/sqlite/beside/mailbox_contract",
     "breaks": "an answer to the request before is taken for one to this request",
     "changes": [("core/store/sqlite/beside/mailbox.c", """
    return (uint32_t)ticket * WORD_STATES + state;
""", """
    return (uint32_t)(ticket >> 30) * WORD_STATES + state;
""")]},
    {"name": "tokens-come-again", "by": "spec/core/store/numbers_contract",
     "breaks": "a token is handed out once more after the next transaction",
     "changes": [("core/store/rules/ground/state.c", """
                meta_put(store, "next_token", meta->next_token, stored->next_token, error) &&
""", """
""")]},
    {"name": "catalog-comes-again", "by": "spec/core/store/numbers_contract",
     "breaks": "a catalog that was rolled back is taken for the next one with its number",
     "changes": [("core/store/rules/ground/catalog.c", """
    if (store->meta.catalog != store->stored.catalog)
        store->catalog.version = 0;
""", """
    (void)store;
""")]},
    {"name": "executors-come-again", "by": "spec/core/store/numbers_contract",
     "breaks": "executors that were rolled back are taken for the next ones with their number",
     "changes": [("core/store/rules/ground/peers.c", """
    store->peers.version = 0;
""", """
""")]},
    {"name": "cuts-come-again", "by": "spec/core/store/numbers_contract",
     "breaks": "a lock that was taken away in a transaction without commit hides the next one",
     "changes": [("core/store/rules/ground/transaction.c", """
    store->meta = store->stored; /* a number that was not written says nothing */
""", """
""")]},
    {"name": "resume-without-true", "by": "spec/core/script/script_spec.lua",
     "breaks": "coroutine.resume in a handler answers with the values alone",
     "changes": [("core/script/natives/coroutine.c", """
    return results >= 0 ? results + 1 : 2;
""", """
    return results >= 0 ? results : 2;
""")]},
    {"name": "commit-refused-unnoticed", "by": "spec/faults/store_spec.lua",
     "breaks": "a commit that fails counts as one that did not",
     "changes": [(TRANSACTION, """
        store_rollback(store);
        return error_set(error, reason.code, "%s", reason.text);
    }
    CRASH_POINT("commit_after");
""", """
        store_rollback(store);
        return true;
    }
    CRASH_POINT("commit_after");
""")]},

    # ---- the fence and the lease
    {"name": "no-token-check", "by": "I3 I4 I7 I15", "faults": "freeze,freeze,freeze",
     "breaks": "a result is written by whoever comes, with or without the lock",
     "changes": [(PLACES_HOT, """
                "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3 AND edited=0", "iii",
""", """
                "DELETE FROM locked WHERE id=?1 AND ?2<>0 AND ?3<>0 AND edited=0", "iii",
"""), (PLACES_HOT, """
    if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3",
""", """
    if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND ?2<>0 AND ?3<>0",
""")]},
    {"name": "no-fence", "by": "I3 I4 I7 I15 I19", "faults": "freeze,freeze,freeze",
     "breaks": "a result is written although the lock is gone",
     "changes": [(PLACES_HOT, """
    *how = db_changes(&store->db) ? UNLOCKED_EDITED : UNLOCK_STALE;
""", """
    *how = UNLOCKED_EDITED;
""")]},
    {"name": "fence-of-many-unchecked", "by": "I1 I3 I4 I7 I15 I17 I18 I19",
     "breaks": "with the locks of several runs that have succeeded those between them go",
     "changes": [(PLACES_HOT, """
                  "DELETE FROM locked WHERE id BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
""", """
                  "DELETE FROM locked WHERE id BETWEEN ?1 AND ?2 AND ?3<=?4"
"""), (FENCE, """
    *whole = *whole && db_changes(&store->db) == run->count;
""", """
    *whole = *whole && db_changes(&store->db) >= run->count;
""")]},
    {"name": "owner-unchecked", "by": "spec/core/store/sqlite/settle_bulk_contract",
     "breaks": "a result is written by who has the token, whoever has the lock",
     "changes": [(PLACES_HOT, """
                "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3 AND edited=0", "iii",
""", """
                "DELETE FROM locked WHERE id=?1 AND ?2<>0 AND token=?3 AND edited=0", "iii",
"""), (PLACES_HOT, """
    if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3",
""", """
    if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND ?2<>0 AND token=?3",
""")]},
    {"name": "edits-unseen", "by": "spec/core/store/sqlite/settle_bulk_contract",
     "breaks": "among many that end together nobody looks for what an operator has changed",
     "changes": [(PLACES_HOT, """
                  " AND owner=?5 AND edited=0",
""", """
                  " AND owner=?5",
""")]},
    {"name": "all-plain", "by": "spec/core/store/sqlite/turn/unread_contract",
     "breaks": "jobs are locked unread whose rows decide whether they may be taken",
     "changes": [("core/store/rules/record/bulk.c", """
        return number_if(place_plain(job) != 0, place_plain(job));
""", """
        return number_if(true, PLACE_PLAIN);
""")]},
    {"name": "unread-forgotten", "by": "spec/core/store/sqlite/turn/unread_contract",
     "breaks": "what could not be read stays locked and never runs",
     "changes": [("core/run/unread.c", """
    outcomes_add(outcomes, outcome);
    return true;
""", """
    outcome_free(outcome);
    return true;
""")]},
    {"name": "children-later", "by": "spec/core/store/sqlite/power_contract",
     "breaks": "what a run has created is written in the transaction behind its success",
     "changes": [(SETTLE, """
    if (outcome->created) {
""", """
    if (outcome->created) {
        struct open_capacity open = store->open;
        struct prelock kept = store->prelock;
        if (!store_commit(store, error) || !store_begin(store, STORE_TURN, error))
            return false;
        store->open = open;
        store->prelock = kept;
""")]},
    {"name": "thousands-untold", "by": "spec/core/store/sqlite/settle_bulk_contract",
     "breaks": "of more ends than fit into memory at once the history keeps the last ones",
     "changes": [("core/store/rules/record/bulk.c", """
    return bulk_keep(&store->endings, row, &full, error) && (!full || bulk_settled(store, error));
""", """
    bool kept = bulk_keep(&store->endings, row, &full, error);
    store->endings.count %= BULK_ROWS;
    return kept;
""")]},
    {"name": "lost-and-begun", "by": "spec/core/run/pool/lost_lock_contract",
     "breaks": "a job begins that was cancelled while it waited for a worker",
     "changes": [("core/run/pool/deadline.c", """
            if (is_lost(claims, job->id, job->token))
""", """
            if (is_lost(claims, job->id, -job->token))
""")]},
    {"name": "stale-lease-renewed", "by": "I4b I5 I6", "faults": "freeze,freeze,freeze",
     "breaks": "a lease that has run out is renewed, and what was locked under it begins; three"
               " places look after it, none of them does",
     "changes": [(TURN, """
    work->lapsed = work->renews && lease_is_over(&turns->lease, begun, clock_monotonic());
""", """
    work->lapsed = false && lease_is_over(&turns->lease, begun, clock_monotonic());
"""), ("core/run/pool/worker.c", """
    if (now >= atomic_load(&client->lease))
""", """
    if (now < 0)
"""), ("core/run/pool/deadline.c", """
                atomic_store(&item->refused, 1);
""", """
                continue;
""")]},
    {"name": "locked-without-lease", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "who comes back locks jobs under the lease that has run out",
     "changes": [(ACQUIRE, """
    if (done && now >= store->self.lease_until)
""", """
    if (done && now < 0)
""")]},
    {"name": "lease-never-renewed", "by": "I5 I6 I18",
     "breaks": "the lease is not renewed while jobs run",
     "changes": [(TURN, """
    if (work->renews && !store_renew(store, begun, turns->settings->lock_time, error))
""", """
    if (work->renews && now < 0)
"""), (ACQUIRE, """
    if (done && now >= store->self.lease_until)
""", """
    if (done && now < 0)
""")]},
    {"name": "overdue-is-left-alone", "by": "I18 I17 I11b", "faults": "kill",
     "breaks": "the locks of a dead executor are never taken away",
     "changes": [("core/store/rules/work/reap.c", """
        if (!dead && !overdue)
            continue;
""", """
        if (!dead || !overdue || true)
            continue;
""")]},
    {"name": "reaped-at-once", "by": "I5 I6", "faults": "freeze",
     "breaks": "an executor that lives loses its locks before its lease ends",
     "changes": [
         ("core/store/rules/work/reap.c", """
        bool overdue = peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 0;
""", """
        bool overdue = peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 1900;
"""),
         ("core/store/rules/ground/peers.c", """
        if (peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 0)
""", """
        if (peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 1900)
""")]},

    # ---- lanes, limits, rates
    {"name": "lanes-ignored", "by": "I6",
     "breaks": "a lane may be taken while another job of it runs",
     "changes": [(PLACES, """
                "iii", lane, token, store->self.id))
        return false;
    CRASH_POINT("lane_taken");
    *taken = db_changes(&store->db) > 0;
""", """
                "iii", lane, token, store->self.id))
        return false;
    CRASH_POINT("lane_taken");
    *taken = true;
""")]},
    {"name": "lane-insisted-on-in-vain", "by": "spec/core/store/process_contract",
     "breaks": "a unit is written while another run insists on the lane of its instance",
     "changes": [("core/store/rules/process/unit_write.c", """
    if (waits)
        return UNIT_WAITS;
""", """
    if (waits && rev != one->rev)
        return UNIT_WAITS;
""")]},
    {"name": "lane-kept", "by": "I18",
     "breaks": "a lane is released, and nobody shows who is next",
     "changes": [(PLACES, """
           (CRASH_POINT("lane_released") && lane_show_heads(store, lane, error));
""", """
           CRASH_POINT("lane_released");
""")]},
    {"name": "spared-behind-others", "by": "spec/core/store/postgres/spared_contract",
     "breaks": "a job stays ready behind a run of another executor, and nobody is told of its end",
     "changes": [("core/store/rules/work/acquire.c", """
    if (cursor->lane || lane->spares || lane->owner != store->self.id || store->marks.until)
""", """
    if (cursor->lane || lane->spares || store->marks.until)
""")]},
    {"name": "spared-and-forgotten", "by": "spec/core/store/postgres/spared_contract",
     "breaks": "a lane becomes free, and the jobs that stayed ready behind it are not looked for",
     "changes": [("core/store/rules/place/spared.c", """
    capacity_blind(store);
""", """
""")]},
    {"name": "lane-freed-beside-its-job", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "the lane of a job whose lock was extended goes with its executor's lease",
     "changes": [(LOCKS, """
                    "SELECT id, token, 0, 0 FROM lane WHERE owner=?1 AND id NOT IN"
                    " (SELECT lane FROM locks WHERE lane IS NOT NULL)",
""", """
                    "SELECT id, token, 0, 0 FROM lane WHERE owner=?1",
""")]},
    {"name": "lane-freed-by-anybody", "by": "spec/core/store/lane_histories_contract",
     "breaks": "a run that has lost its lane releases it for the one that has it now",
     "changes": [(PLACES, """
    if (!db_run(&store->db, error, "DELETE FROM lane WHERE id=?1 AND token=?2", "ii", lane, token))
""", """
    if (!db_run(&store->db, error, "DELETE FROM lane WHERE id=?1 AND ?2<>0", "ii", lane, token))
""")]},
    {"name": "limit-one-more", "by": "I13",
     "breaks": "one job more than the limit allows",
     "changes": [("core/store/rules/place/limit.c", """
    return limit > locked ? limit - locked : 0;
""", """
    return limit + 1 > locked ? limit + 1 - locked : 0;
""")]},
    {"name": "limit-kept-by-the-dead", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "what a dead executor ran counts for its limit for ever",
     "changes": [(LOCKS, """
           place_uncount_owner(store, what->owner, error) &&
           occurrence_forget(store, what->owner, error);
""", """
           occurrence_forget(store, what->owner, error);
""")]},
    {"name": "limit-freed-too-early", "by": "spec/life/limits_spec.lua",
     "breaks": "a run whose lock was taken does not count for its limit",
     "changes": [("core/store/rules/place/limit.c", """
    if (definition->cluster_limit &&
        db_value(&store->db, error, &all, "SELECT count(*) FROM limited WHERE definition=?1", "i",
                 definition->id) == FAILED)
""", """
    if (definition->cluster_limit &&
        db_value(&store->db, error, &all, "SELECT count(*) FROM limited l JOIN locked k"
                 " ON k.id=l.id AND k.token=l.token WHERE definition=?1", "i", definition->id) == FAILED)
""")]},
    {"name": "shared-place-freed-early", "by": "spec/core/store/limit_contract",
     "breaks": "jobs that share a place under a limit have none after the first of them",
     "changes": [("core/store/rules/work/settle.c", """
    return !job->permit || !outcome->lane_ends ||
""", """
    return !job->permit ||
""")]},
    {"name": "rate-one-more", "by": "I13b",
     "breaks": "a start more in each window",
     "changes": [(STARTS, """
    *left = definition->rate.count - (all - before);
""", """
    *left = definition->rate.count + 1 - (all - before);
""")]},
    {"name": "rate-of-each", "by": "I13b",
     "breaks": "a rate counts what every other executor starts",
     "changes": [(STARTS, """
    return rate_limit_shift(store, definition, job->counted_at, TIME_NEVER, 1, error);
""", """
    return store->self.id % 2 ||
           rate_limit_shift(store, definition, job->counted_at, TIME_NEVER, 1, error);
""")]},
    {"name": "rate-counted-early", "by": "spec/core/store/rate_contract",
     "breaks": "of a rate of thousands a start is counted before it was",
     "changes": [("core/time/rate.c", """
    return over > 0 ? at + part - over : at;
""", """
    return over > 0 ? at - over : at;
""")]},
    {"name": "rate-begins-late", "by": "spec/core/run/pool/pool_contract",
     "breaks": "a job begins long after the start that its rate has counted for it",
     "changes": [("core/run/pool/worker.c", """
    return !begin_by || now <= begin_by;
""", """
    return !begin_by || now > 0;
""")]},

    # ---- order and time
    {"name": "priority-ascending", "by": "I12",
     "breaks": "the less important job goes first",
     "changes": [("core/job/acquire.c", """
    return (left > right) - (left < right);
""", """
    return (left < right) - (left > right);
"""), ("core/store/rules/place/cursor.h", """
    return !order->by_priority || order->aging > 0;
""", """
    return true;
""")]},
    {"name": "priority-ignored", "by": "I12",
     "breaks": "the older job goes first, whatever its priority",
     "changes": [("core/job/acquire.c", """
        .by_priority = settings->by_priority,
""", """
        .by_priority = false,
""")]},
    {"name": "newest-first", "by": "spec/core/store/order_contract",
     "breaks": "of jobs of one priority the younger goes first",
     "changes": [("core/job/acquire.c", """
        return a->place < b->place;
""", """
        return a->place > b->place;
""")]},
    {"name": "created-and-taken", "by": "spec/core/run/turn_contract",
     "breaks": "a job is locked as it is created, although better ones wait",
     "changes": [("core/store/rules/create/prelock.c", """
        (capacity->ready.left && !acquire_before(capacity->acquire, &own, &capacity->ready.best)))
""", """
        (capacity->ready.left && own.id < 0))
""")]},
    {"name": "timer-early", "by": "I9 I11",
     "breaks": "a timer is ready 200 ms before its date",
     "changes": [("core/store/rules/work/timer.c", """
    last[0] = now;
""", """
    last[0] = now += 200;
"""), (ACQUIRE, """
    if (job->due > taking->now || job->repeat) {
""", """
    if (job->due > taking->now + 200 || job->repeat) {
""")]},
    {"name": "timer-lost", "by": "I1 I15 I18",
     "breaks": "a timer that is due leaves its place, and gets no other",
     "changes": [(PLACES_HOT, """
                " SELECT stream, rank, due, id, lane FROM timer WHERE (due, id)<=(?1, ?2)",
""", """
                " SELECT stream, rank, due, id, lane FROM timer WHERE (due, id)<(?1, ?2)"
                " AND id%50<>0",
""")]},
    {"name": "retry-delay-ignored", "by": "I9",
     "breaks": "a failed job runs again at once",
     "changes": [(SETTLE, """
    if (outcome->due != TIME_NONE && row->due == outcome->job->due)
""", """
    if (outcome->kind == OUTCOME_SNOOZE && row->due == outcome->job->due)
""")]},

    # ---- retries, crashes, incidents
    {"name": "double-decrement", "by": "I8",
     "breaks": "a failure costs two retries",
     "changes": [(SETTLE, """
        row->retries = outcome->retries > 0 ? outcome->retries : 0;
""", """
        row->retries = outcome->retries > 1 ? outcome->retries - 1 : 0;
""")]},
    {"name": "no-decrement", "by": "I8 I18",
     "breaks": "a failure costs no retry",
     "changes": [(SETTLE, """
        row->retries = outcome->retries > 0 ? outcome->retries : 0;
""", """
        row->retries = outcome->retries > 0 ? outcome->retries + 1 : 0;
""")]},
    {"name": "conflict-costs-a-retry", "by": "I8",
     "breaks": "who was not first loses a retry",
     "changes": [(SETTLE, """
                             : settle_conflict(store, outcome, row, now, error);
""", """
                             : settle_failure(store, outcome, row, now, error);
""")]},
    {"name": "crash-not-counted", "by": "I8b", "faults": "kill,kill,kill",
     "breaks": "a job that was running when its process died is not suspected",
     "changes": [(LOCKS, """
           (what->slots && running_has(what->slots, lock->id, lock->token)) ||
""", """
           (what->slots && !lock->id && running_has(what->slots, lock->id, lock->token)) ||
""")]},
    {"name": "neighbours-counted", "by": "I8b", "faults": "kill,kill,kill",
     "breaks": "jobs that only waited when their process died are suspected, too",
     "changes": [(LOCKS, """
           (what->slots && running_has(what->slots, lock->id, lock->token)) ||
""", """
           (what->slots && (lock->id || running_has(what->slots, lock->id, lock->token))) ||
""")]},
    {"name": "crash-costs-a-retry", "by": "I8", "faults": "kill,kill,kill",
     "breaks": "a job whose process dies loses a retry",
     "changes": [(LOCKS, """
    return row_write(store, row, false, error);
""", """
    row->retries -= row->retries > 1;
    return row_write(store, row, false, error);
""")]},
    {"name": "two-suspects", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "two jobs run at once that may have killed their process",
     "changes": [(ACQUIRE, """
    taking->crash_runs = found == YES;
    return found;
""", """
    return found == FAILED ? FAILED : NO;
""")]},
    {"name": "suspects-together", "by": "spec/core/store/suspects_contract",
     "breaks": "an executor begins two suspects at once",
     "changes": [(ACQUIRE, """
    taking->suspect_known = taking->suspect_runs = true;
""", """
""")]},
    {"name": "suspects-counted-unbegun", "by": "spec/core/store/suspects_contract",
     "breaks": "a suspect is counted that had not begun",
     "changes": [(LOCKS, """
           (what->counted && lock->begun);
""", """
           what->counted;
""")]},
    {"name": "suspects-for-ever", "by": "spec/core/store/suspects_contract",
     "breaks": "a suspect whose run has ended stays one",
     "changes": [("core/store/rules/work/settle.c", """
    bool acquitted = job->suspect && fenced && outcome->kind != OUTCOME_RETURNED;
""", """
    bool acquitted = false;
""")]},
    {"name": "suspects-come-again", "by": "spec/core/store/suspects_contract",
     "breaks": "a suspect is forgotten where a transaction is rolled back",
     "changes": [("core/store/rules/ground/peers.c", """
    store->suspects.version = 0;
""", """
""")]},
    {"name": "boot-ignored", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "what ran when the machine went down is suspected",
     "changes": [("core/store/rules/fleet/slots.c", """
    return memcmp(head.magic, now.magic, sizeof SLOTS_MAGIC) == 0 &&
           memcmp(head.boot, now.boot, sizeof head.boot) == 0;
""", """
    return memcmp(head.magic, now.magic, sizeof SLOTS_MAGIC) == 0;
""")]},
    {"name": "incident-twice", "by": "I10",
     "breaks": "a job that dies opens two incidents",
     "changes": [("core/store/rules/record/incident.h", """
    " FROM job j WHERE j.id=" job " AND NOT EXISTS (SELECT 1 FROM incident i WHERE i.job=" job     \\
    " AND i.ended IS NULL AND i.type<>'" INCIDENT_HANDLER_STUCK "')"
""", """
    " FROM job j WHERE j.id=" job
"""), ("core/store/rules/record/incident.c", """
    return row->retries <= 0 ? incident_open(store, row, INCIDENT_FAILED_JOB, now, error)
                             : place_row(store, row, now, error);
""", """
    return row->retries <= 0 ? incident_open(store, row, INCIDENT_FAILED_JOB, now, error) &&
                                   incident_open(store, row, INCIDENT_WORKER_DIED, now, error)
                             : place_row(store, row, now, error);
""")]},
    {"name": "incident-stays", "by": "I10",
     "breaks": "a dead job that gets retries keeps its incident",
     "changes": [("core/store/rules/record/incident.c", """
                   "UPDATE incident SET ended=?2, how=?3 WHERE job=?1 AND ended IS NULL"
                   " AND type<>'" INCIDENT_HANDLER_STUCK "'",
""", """
                   "UPDATE incident SET ended=?2, how=?3 WHERE job=-?1 AND ended IS NULL"
                   " AND type<>'" INCIDENT_HANDLER_STUCK "'",
""")]},
    {"name": "dead-runs-again", "by": "I8 I10 I15 I17",
     "breaks": "a job without retries is taken like any other",
     "changes": [("core/store/rules/record/incident.c", """
    return row->retries <= 0 ? incident_open(store, row, INCIDENT_FAILED_JOB, now, error)
                             : place_row(store, row, now, error);
""", """
    if (row->retries <= 0 && !incident_open(store, row, INCIDENT_FAILED_JOB, now, error))
        return false;
    return place_row(store, row, now, error);
"""), (PLACES, """
    if (row->retries <= 0)
        return true;
    if (row->suspended)
""", """
    if (row->suspended)
""")]},

    # ---- leaving, losing
    {"name": "lost-on-drain", "by": "I1 I15 I18", "faults": "term,term",
     "breaks": "what was locked and never begun is unlocked without a place to stand in",
     "changes": [(SETTLE, """
    if (outcome->kind != OUTCOME_RETURNED && !history_lines(store, outcome, error))
        return false;
""", """
    if (outcome->kind == OUTCOME_RETURNED)
        return true;
    if (!history_lines(store, outcome, error))
        return false;
""")]},
    {"name": "locked-on-drain", "by": "I20 I17 I18", "faults": "term,term",
     "breaks": "who leaves keeps the locks of what it never began",
     "changes": [("core/run/pool/threads.c", """
    while ((job = work_item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
""", """
    while ((job = work_item_take(item))) {
        struct outcome *outcome = NULL;
"""), ("core/store/rules/work/executor.c", """
    return locks_free(store, &all, error) && CRASH_POINT("leave_freed") &&
""", """
    return (all.owner || locks_free(store, &all, error)) &&
""")]},
    {"name": "drain-goes-on", "by": "I20", "faults": "term,term",
     "breaks": "who is told to end takes new jobs until it has ended",
     "changes": [("core/run/runner.c", """
    turn.acquiring = runner->stage == WORKING && atomic_load(&runner->stops) == 0 &&
""", """
    turn.acquiring = runner->stage != ENDED &&
""")]},
    {"name": "draining-and-taking", "by": "spec/core/run/turn_contract",
     "breaks": "an executor that is drained takes what its own jobs create",
     "changes": [("core/store/rules/create/prelock.c", """
    if (store->self.draining || job->suspended || !due || job->repeat ||
""", """
    if (job->suspended || !due || job->repeat ||
""")]},
    {"name": "dead-executors-jobs-lost", "by": "I1 I15 I18", "faults": "kill,kill",
     "breaks": "what a dead executor had locked is unlocked without a place to stand in",
     "changes": [(LOCKS, """
    return incident_place(store, &row, what->now, error) &&
           (!row.repeats || occurrence_left(store, &row, error));
""", """
    return (what->slots || incident_place(store, &row, what->now, error)) &&
           (!row.repeats || occurrence_left(store, &row, error));
""")]},
    {"name": "pre-locked-lost", "by": "I18",
     "breaks": "a job that is locked when it is created is never begun",
     "changes": [("core/store/rules/create/prelock.c", """
    prelock_insert(store, copy);
    capacity->room--;
""", """
    if (copy->id % 3)
        prelock_insert(store, copy);
    capacity->room--;
""")]},
    {"name": "follow-up-lost", "by": "I18",
     "breaks": "a job that follows in its lane is locked and never begun",
     "changes": [("core/run/outcomes.c", """
    if (outcome->follows && !follow_ups_add(&outcomes->follows, outcome))
""", """
    if (outcome->follows && outcome->job->id % 3 && !follow_ups_add(&outcomes->follows, outcome))
""")]},
    {"name": "purge-takes-the-living", "by": "I1 I15 I17 I19", "faults": "kill,kill,kill",
     "breaks": "rows of jobs that live go with those that an executor has left behind",
     "changes": [(PURGE, """
                  " EXCEPT SELECT id FROM live WHERE id>?1 AND id<=?2) AND NOT " INTAKE_HAS("id"),
""", """
                  " EXCEPT SELECT id FROM locked WHERE id>?1 AND id<=?2) AND NOT " INTAKE_HAS("id"),
""")]},
    {"name": "purge-takes-one-more", "by": "I1 I15 I17 I19",
     "breaks": "with the rows of jobs that have ended the next one goes",
     "changes": [(PURGE, """
                    first + at, first + end - 1))
""", """
                    first + at, first + end))
""")]},
    {"name": "purge-takes-the-undone", "by": "spec/core/store/sqlite/turn/purge_contract",
     "breaks": "the row of a job goes whose success was rolled back",
     "changes": [(PURGE, """
        purge->gone->gone = false;
    purge->fresh_count = 0;
""", """
        purge->gone->gone = false;
""")]},
    {"name": "purge-forgets-the-dead", "by": "spec/core/store/sqlite/turn/purge_contract",
     "breaks": "nobody searches for the rows that a dead executor has left behind",
     "changes": [(PURGE, """
           (db_changes(&store->db) == 0 || search_begin(store, error));
""", """
           db_changes(&store->db) >= 0;
""")]},
    {"name": "suspended-taken", "by": "I11c",
     "breaks": "a suspended job is ready as any other",
     "changes": [(PLACES, """
    if (row->suspended)
        return true;
""", """
    if (row->suspended && row->id % 3 == 0)
        return true;
""")]},
    {"name": "all-activated", "by": "spec/life/suspension_spec.lua",
     "breaks": "with the jobs of a definition those of the others are activated",
     "changes": [("core/store/rules/command/definitions.c", """
        return IDS_OR_COUNT(" AND suspended<>0 AND suspended&2<>0 AND ?2=0");
""", """
        return IDS_OR_COUNT(" AND suspended<>0 AND suspended&2<>0 AND ?2=0 OR suspended&2<>0");
""")]},
    {"name": "replaced-too-early", "by": "spec/life/overlap_spec.lua",
     "breaks": "a run of a schedule begins while the handler of the cancelled one is cut off",
     "changes": [("core/store/rules/create/occurrence.c", """
        " AND (o.token IS NOT NULL OR l.id IS NOT NULL OR (j.retries>0 AND j.suspended=0"
""", """
        " AND (l.id IS NOT NULL OR (j.retries>0 AND j.suspended=0"
""")]},
    {"name": "cut-unheard", "by": "spec/core/run/loop_spec.lua",
     "breaks": "an executor hears only once a second that its jobs were cancelled",
     "changes": [("core/run/runner.c", """
    if (cuts == runner->cuts)
""", """
    if (cuts >= 0)
""")]},
    {"name": "follower-deploys", "by": "spec/core/store/deployment_contract",
     "breaks": "an executor that follows a deployment takes back the folder it has read",
     "changes": [("core/store/rules/fleet/deployment.c", """
    if (deployment->known)
""", """
    if (deployment->known > 1000)
""")]},
    {"name": "rollback-not-followed", "by": "spec/core/store/deployment_contract",
     "breaks": "a deployment that was taken back is not the one that counts",
     "changes": [("core/store/rules/fleet/deployment.c", """
    if (newer == NO)
        return db_run""", """
    if (newer != FAILED)
        return db_run""")]},
    {"name": "cancelled-and-locked", "by": "spec/core/store/verbs_contract",
     "breaks": "a job that is cancelled while it runs keeps its lock",
     "changes": [("core/store/rules/job/job_commands.c", """
           place_unlock_job(store, row->id, error);
""", """
           true;
""")]},
    {"name": "children-of-failures", "by": "I15b",
     "breaks": "what a failed run has created is created all the same",
     "changes": [(SETTLE, """
    if (!outcome_traits[outcome->kind].keeps) /* only a hook may have created jobs */
        return !outcome->created || !outcome->created->by_hook ||
""", """
    if (!outcome_traits[outcome->kind].keeps && outcome->kind == OUTCOME_RETURNED)
        return !outcome->created || !outcome->created->by_hook ||
"""), ("core/script/run.c", """
        outcome_forget(outcome);
""", """
        struct job_spec *created = outcome->created;
        outcome->created = NULL;
        outcome_forget(outcome);
        outcome->created = created;
""")]},
    {"name": "children-lost", "by": "I15b",
     "breaks": "one of the jobs that a run creates is left out",
     "changes": [(SETTLE, """
        prelock_begin(store, outcome);
""", """
        prelock_begin(store, outcome);
        job_free_list(outcome->created->next);
        outcome->created->next = NULL;
""")]},

    # ---- keys, batches, cycles
    {"name": "unique-ignored", "by": "I13c",
     "breaks": "a second job of a key is created while the first lives",
     "changes": [("core/store/rules/place/unique.c", """
    return !found->intake && !holder->there && (holder->until == TIME_NONE || holder->until <= now);
""", """
    return !found->intake && !holder->runs && (holder->until == TIME_NONE || holder->until <= now);
""")]},
    {"name": "unique-until-it-runs", "by": "I13c",
     "breaks": "a key is free as soon as its job begins",
     "changes": [("core/store/rules/place/unique.c", """
    return !found->intake && !holder->there && (holder->until == TIME_NONE || holder->until <= now);
""", """
    return !found->intake && (!holder->there || holder->runs) &&
           (holder->until == TIME_NONE || holder->until <= now);
""")]},
    {"name": "unique-never-released", "by": "I13c",
     "breaks": "the key of a job that has ended is held for ever",
     "changes": [("core/store/rules/place/unique.c", """
    return !found->intake && !holder->there && (holder->until == TIME_NONE || holder->until <= now);
""", """
    return found->intake && now < 0;
"""), ("core/store/rules/place/unique.c", """
                  " AND (until IS NULL OR until<=?4)",
""", """
                  " AND ?4<0",
""")]},
    {"name": "batch-miscounted", "by": "I14 I18",
     "breaks": "of several jobs of a batch that end together one is counted",
     "changes": [("core/store/rules/job/tally.c", """
    tally->gone++;
""", """
    tally->gone = 1;
""")]},
    {"name": "batch-counts-the-undone", "by": "spec/core/store/batch_contract",
     "breaks": "a job of a batch is counted although its success was rolled back",
     "changes": [("core/store/rules/job/tally.c", """
                                    .size = sizeof(struct tally),
                                    .at = offsetof(struct store, tally)};
""", """
                                    .at = offsetof(struct store, tally)};
""")]},
    {"name": "batch-ends-with-failures", "by": "spec/core/store/batch_contract",
     "breaks": "a batch is over although some of its jobs are dead",
     "changes": [("core/store/rules/batch/seed.c", """
    bool over = batch->open == 0 && batch->made == batch->total;
""", """
    bool over = batch->open == batch->failed && batch->made == batch->total;
""")]},
    {"name": "successor-twice", "by": "I22",
     "breaks": "a date of a cycle gets two jobs",
     "changes": [(CYCLE, """
                    : (next = next_create(store, job, waiting, date, now, error)) &&
""", """
                    : next_create(store, job, waiting, date, now, error) &&
                          (next = next_create(store, job, waiting, date, now, error)) &&
""")]},
    {"name": "date-missed", "by": "I22", "faults": "freeze,kill,clock",
     "breaks": "late dates are passed over although all are to run",
     "changes": [(CYCLE, """
    return waiting->misfire == MISFIRE_ALL ? cycle_next(&waiting->cycle, waiting->date)
""", """
    return waiting->misfire == MISFIRE_SKIP ? cycle_next(&waiting->cycle, waiting->date)
""")]},
    {"name": "date-too-many", "by": "spec/life/overlap_spec.lua",
     "breaks": "one late date more runs than are to be caught up",
     "changes": [(CYCLE, """
    for (int32_t over = due_count(waiting, from, now, INT32_MAX) - most; over > 0; over--)
""", """
    for (int32_t over = due_count(waiting, from, now, INT32_MAX) - most; over > 1; over--)
""")]},

    # ---- what a soak cannot see: power cuts, and who is asleep, for there something always goes on
    {"name": "commit-not-synced", "by": "spec/core/store/sqlite/power_contract",
     "breaks": "what is acknowledged is not synced",
     "changes": [(TRANSACTION, """
    return sqlite_of(store)->unhurried || log_sync_seen(store, error);
""", """
    return true;
""")]},
    {"name": "told-before-synced", "by": "spec/core/store/sqlite/power_contract",
     "breaks": "a question tells what another store has committed and not synced yet",
     "changes": [("core/store/rules/ground/state.c", """
    if (!*own || store_seen(store, error))
""", """
    if (store->unsure || !*own)
""")]},
    {"name": "handlers-before-synced", "by": "spec/core/store/sqlite/turn/log_sync_contract",
     "breaks": "a commit that is under way counts as being on the disk",
     "changes": [("core/store/sqlite/turn/log_sync.c", """
    return (uint32_t)place != PENDING &&
""", """
    return
""")]},
    {"name": "change-marked-late", "by": "spec/core/store/sqlite/turn/log_sync_contract",
     "breaks": "the page does not say where an instance was changed",
     "changes": [("core/store/sqlite/turn/log_sync.c", """
            atomic_compare_exchange_strong(&page->changed[i], &expected, place);
""", """
            atomic_compare_exchange_strong(&page->changed[i], &expected, 0);
""")]},
    {"name": "counters-not-read", "by": "spec/core/store/sqlite/turn/transaction_contract",
     "breaks": "what another store has counted is not read",
     "changes": [(TRANSACTION, """
    if (sqlite_of(store)->counted && sqlite_of(store)->version == version_now(store))
""", """
    if (sqlite_of(store)->counted)
""")]},
    {"name": "parked-taken-twice", "by": "spec/core/store/lanes_contract",
     "breaks": "jobs that were parked are read again before they have left",
     "changes": [("core/store/rules/work/acquire.c", """
    return taking_parked_out(taking, store, taken->head.lane, error) &&
           merge_follow
""", """
    return merge_follow
""")]},
    {"name": "parked-by-others-unseen", "by": "spec/core/store/lanes_contract",
     "breaks": "what another executor has parked is not looked for",
     "changes": [("core/store/rules/place/parked_lanes.c", """
    bool known = parked->version == version && parked->added <= LANES_MAX;
""", """
    bool known = parked->version && parked->version != INT64_MIN;
""")]},
    {"name": "parked-again-unseen", "by": "spec/core/store/lanes_contract",
     "breaks": "what is parked again after a rollback is not looked for",
     "changes": [("core/store/rules/place/parked_lanes.c", """
const struct txn_hook parked_lanes_hook = {.drop = parked_lanes_forget, .parts = true};
""", """
const struct txn_hook parked_lanes_hook = {.drop = NULL, .parts = true};
""")]},
    {"name": "behind-a-failed-sync", "by": "spec/core/store/sqlite/turn/log_sync_contract",
     "breaks": "jobs are written behind a place of the log that may not be on the disk",
     "changes": [("core/store/sqlite/turn/log_sync.c", """
    return failed && place_now(store, &place) && salt_of(place) == salt_of(failed);
""", """
    return !failed && place_now(store, &place) && salt_of(place) == salt_of(failed);
""")]},
    {"name": "sync-off", "by": "spec/core/store/sqlite/power_contract",
     "breaks": "nothing is synced",
     "changes": [("core/store/sqlite/db/driver.c", """
                                  "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF;"
""", """
                                  "PRAGMA synchronous=OFF; PRAGMA secure_delete=OFF;"
""")]},
    {"name": "doorbell-silent", "by": "spec/faults/executors_spec.lua",
     "breaks": "nobody is rung for when a job has been created",
     "changes": [("core/store/rules/ground/peers.c", """
            if (peer_wants(store, &store->peers.list[i]))
""", """
            if (peer_wants(store, &store->peers.list[i]) && !something)
""")]},
    {"name": "doorbell-without-a-look", "by": "spec/faults/executors_spec.lua",
     "breaks": "the bell is emptied, and the store is not looked at",
     "changes": [(TURN, """
    if (changed || !turn->quiet || fed || back || work->now >= turns->next)
""", """
    if (fed || back || work->now >= turns->next)
""")]},
    {"name": "checkpoint-without-gate", "by": "spec/core/store/sqlite/crash_contract",
     "breaks": "a checkpoint begins while somebody writes",
     "changes": [(TRANSACTION, """
    if (gate_take(&sqlite_of(store)->gate, GATE_WRITER, true))
""", """
    if (gate_take(&sqlite_of(store)->gate, GATE_WRITER, true) || true)
""")]},

    # ---- a server with a standby
    {"name": "recalled-without-standby", "by": "spec/faults/failover_spec.lua",
     "breaks": "a commit whose answer was lost is asked for by reading alone",
     "changes": [("core/store/postgres/turn/turn.c", """
    return db_value(&store->db, error, turn, "UPDATE turn SET n=n WHERE session=?1 RETURNING n",
""", """
    return db_value(&store->db, error, turn, "SELECT n FROM turn WHERE session=?1",
""")]},
    {"name": "commit-cancelled", "by": "spec/faults/failover_spec.lua",
     "breaks": "a commit that waits for the standby is cancelled, and acknowledged",
     "changes": [("core/store/postgres/db/session.c", """
            if (session->ending || session->spare || session->opens)
                return false;
            cancel(session);
""", """
            if (session->spare || session->opens)
                return false;
            cancel(session);
""")]},

    # ---- processes and commands: what a spec has to see
    {"name": "keyless-not-asked", "by": "spec/core/store/process_command_contract",
     "breaks": "a receiver without a key does not hear a message that has one",
     "changes": [("core/store/rules/process/subscription.h",
                  """AND name=" name_ " AND key='' AND \"""", """AND name=" name_ " AND key='-' AND \"""")]},
    {"name": "keyless-start-not-asked", "by": "spec/core/store/process_command_contract",
     "breaks": "a start event without a key does not hear a message that has one",
     "changes": [("core/store/rules/process/subscription.h",
                  """WAITING_FOR("?1", "?2", "instance=0 AND ?3=0")""",
                  """WAITING_FOR("?1", "?2", "instance=0 AND ?3=0 AND key<>''")""")]},
    {"name": "parked-beyond-the-set", "by": "spec/core/store/lanes_contract",
     "breaks": "of more parked lanes than are told apart some are not looked for",
     "changes": [("core/store/rules/place/parked_lanes.c", """
    parked->many = parked->added > LANES_MAX;
""", """
    parked->many = parked->added > 2 * LANES_MAX;
""")]},
    {"name": "turn-skipped", "by": "spec/lua/process/multi_spec.lua",
     "breaks": "the job that makes more turns leaves out the first of them",
     "changes": [("lua/moonshift/process/multi.lua", """
    seed.more = index + count
""", """
    seed.more = index + count + 1
""")]},
    {"name": "watches-of-all-hosts", "by": "spec/lua/process/events_spec.lua",
     "breaks": "with an activity the boundary events of all others end",
     "changes": [("lua/moonshift/process/events.lua", """
    if token.scope == host and not token.gone and frame.watches(token)
""", """
    if not token.gone and frame.watches(token)
""")]},
    {"name": "unhandled-ends-nothing", "by": "spec/lua/process/errors_spec.lua",
     "breaks": "a token ends with an error that nothing takes, and what stands behind it waits",
     "changes": [("lua/moonshift/process/errors.lua", """
  walk.ended(w, inst, token)
""", """
  frame.remove(inst.frame, token)
"""), ("lua/moonshift/process/errors.lua", """
local variables = require "moonshift.process.variables"
""", """
local frame = require "moonshift.process.frame"
local variables = require "moonshift.process.variables"
""")]},
    {"name": "running-job-deleted", "by": "spec/core/store/verbs_contract",
     "breaks": "a job that runs is deleted",
     "changes": [("core/store/rules/job/job_commands.c", """
    (void)change;
    if (!row->token)
        return true;
""", """
    (void)change;
    if (row->id)
        return true;
""")]},
    {"name": "permanent-waits", "by": "spec/life/retries_spec.lua",
     "breaks": "a failure that is permanent is given the date of the next try by its file",
     "changes": [("core/script/decide.c", """
    if (plan && plan->retry && !outcome->permanent)
""", """
    if (plan && plan->retry)
""")]},
    {"name": "incident-opened-unknown", "by": "spec/core/store/incident_contract",
     "breaks": "that a command has opened an incident is not remembered",
     "changes": [("core/store/rules/record/incident.c", """
    store->incidents = 1;
    bool done = incident_insert(store, row, job->id, type, now, error);
""", """
    bool done = incident_insert(store, row, job->id, type, now, error);
""")]},
    {"name": "incident-of-others-unknown", "by": "spec/life/incidents_spec.lua",
     "breaks": "an incident that another process has opened is not looked for",
     "changes": [("core/store/rules/ground/state.c", """
    store->incidents = store->lines = store->kept = -1;
""", """
    store->lines = store->kept = -1;
""")]},
    {"name": "incident-of-run-unknown", "by": "spec/core/store/incident_contract", "server": True,
     "breaks": "that runs which end together have opened an incident is not remembered",
     "changes": [("core/store/rules/work/settle.c", """
    if (row->retries == 0) {
        store->incidents = 1;
""", """
    if (row->retries == 0) {
""")]},
    {"name": "incidents-of-turn-unasked", "by": "spec/core/store/incident_contract", "server": True,
     "breaks": "a turn begins as if no incident was open",
     "changes": [("core/store/rules/work/timer.c", """
    store->incidents = row_int(row, 0) != 0;
""", """
    store->incidents = 0;
""")]},
    {"name": "unrun-one-by-one", "by": "spec/core/store/postgres/turn/again_contract", "server": True,
     "breaks": "jobs that are given back unrun go one by one",
     "changes": [("core/store/rules/work/way.c", """
    bool goes_back = outcome->kind == OUTCOME_FAILURE || outcome->kind == OUTCOME_RETURNED;
""", """
    bool goes_back = outcome->kind == OUTCOME_FAILURE;
""")]},
    {"name": "places-without-jobs", "by": "spec/core/store/postgres/turn/again_contract", "server": True,
     "breaks": "jobs whose places came alone are read one by one",
     "changes": [("core/store/rules/place/merge.c", """
    if (!store->engine->sets || best->lane || !lacks_job(&best->head, best->job))
        return true;
""", """
    if (best)
        return true;
""")]},
    {"name": "frames-a-few-at-a-time", "by": "spec/core/store/postgres/turn/flight_contract", "server": True,
     "breaks": "the frames for a page of jobs are read 32 at a time",
     "changes": [("core/store/rules/work/taken_frame.c", """
    bool ahead = store->engine->sets && job_walked(job) && !frame_page_asked(&taking->frames, job);
""", """
    bool ahead = false;
""")]},
    {"name": "start-beside-a-receiver", "by": "spec/core/engine/process/command_contract", "server": True,
     "breaks": "a message begins an instance though another one waits for it",
     "changes": [("core/store/postgres/turn/command.c", """
          " WHERE ?10<>0 OR NOT EXISTS(SELECT 1" RECEIVING("") ")");
""", """
          " WHERE ?10<>0 OR 1=1 OR NOT EXISTS(SELECT 1" RECEIVING("") ")");
""")]},
    {"name": "first-version-with-a-tag", "by": "spec/core/engine/process/command_contract", "server": True,
     "breaks": "a start with a tag begins the oldest version that has it",
     "changes": [("core/store/postgres/turn/command.c", """
          " WHERE key=p.key AND tag=?3 ORDER BY number DESC LIMIT 1) ELSE p.current END"
""", """
          " WHERE key=p.key AND tag=?3 ORDER BY number LIMIT 1) ELSE p.current END"
""")]},
    {"name": "kept-one-by-one", "by": "spec/core/engine/process/command_contract", "server": True,
     "breaks": "messages of a list are kept one by one",
     "changes": [("core/store/rules/process/message.c", """
    const size_t step = store->engine->sets ? count : 1;
""", """
    const size_t step = 1;
""")]},
    {"name": "kept-behind-a-purge-each", "by": "spec/core/engine/process/command_contract", "server": True,
     "breaks": "each message that is kept looks for those whose time is over",
     "changes": [("core/store/rules/process/message.c", """
    return store->unit_rows.of[ROWS_KEPT].count || messages_clean(store, &room, now, error);
""", """
    return messages_clean(store, &room, now, error);
""")]},
    {"name": "unrun-as-failed", "by": "spec/core/store/postgres/turn/again_contract", "server": True,
     "breaks": "a job that did not run has failed beside those that have",
     "changes": [("core/store/rules/record/bulk.c", """
    while (ran < count && bulk->rows[ran].goes != GOES_BACK)
        ran++;
""", """
    ran = count;
""")]},
    {"name": "default-beside-another", "by": "spec/lua/process/walk_spec.lua",
     "breaks": "the default flow is taken beside one that is true",
     "changes": [("lua/moonshift/process/walk.lua", """
  if not taken[1] then
    taken[1] = default
  end
""", """
  if default then
    taken[#taken + 1] = default
  end
""")]},
    {"name": "transient-to-called", "by": "spec/lua/process/called_spec.lua",
     "breaks": "a called instance gets what should last for a walk",
     "changes": [("lua/moonshift/process/called.lua", """
      for name, value in pairs(variables.all(token, true)) do
""", """
      for name, value in pairs(variables.all(token)) do
""")]},
    {"name": "join-waits-for-chosen", "by": "spec/lua/process/nodes/inclusive_spec.lua",
     "breaks": "a join waits for a token whose chosen flow leads elsewhere",
     "changes": [("lua/moonshift/process/nodes/inclusive.lua", """
  if token.state == "after" and token.more then
""", """
  if token.state == "after" and not token.more then
""")]},
    {"name": "join-before-a-scope", "by": "spec/lua/process/nodes/inclusive_spec.lua",
     "breaks": "a join does not wait for what goes on behind a sub-process",
     "changes": [("lua/moonshift/process/nodes/inclusive.lua", """
    return step.scope ~= nil and reaches(step.scope, target, seen)
""", """
    return step.scope == target
""")]},
    {"name": "cancelled-without-outputs", "by": "spec/lua/process/scopes_spec.lua",
     "breaks": "a cancelled activity maps no outputs",
     "changes": [("lua/moonshift/process/scopes.lua", """
  walk.map_outputs(w, inst, token, step)
  inst:tell("c", token, step.id)
""", """
  inst:tell("c", token, step.id)
""")]},
    # ---- turns, places and bells
    {"name": "prelocked-are-idle", "by": "spec/core/run/turn_contract",
     "breaks": "a job with a rate is taken where the idle worker has a job already",
     "changes": [(TURN, "turn->idle - (turn->room - work->capacity.room);", "turn->idle;")]},
    {"name": "loop-in-slot-0", "by": "spec/core/run/turn_contract",
     "breaks": "what the first worker runs is not known when its process dies",
     "changes": [(TURN, "store_care(turns->store, work->rows, turns->self.workers);",
                  "store_care(turns->store, work->rows, 0);")]},
    {"name": "lease-by-one-clock", "by": "spec/core/run/lease_contract",
     "breaks": "an executor whose wall clock was set forward believes in a lease that is over",
     "changes": [("core/run/lease.c",
                  "return at >= lease->at + lease->span || now >= lease->wall + lease->span;",
                  "return at >= lease->at + lease->span;")]},
    {"name": "served-goes-back", "by": "spec/core/store/fair_share_contract",
     "breaks": "a turn that is served late lets those who come next go before all others",
     "changes": [("core/store/rules/place/fair_share.c",
                  "DO UPDATE SET turn=excluded.turn WHERE excluded.turn>served.turn",
                  "DO UPDATE SET turn=excluded.turn")]},
    {"name": "ring-kept", "by": "spec/core/store/sqlite/beside/bell_contract",
     "breaks": "after one bell each commit rings again",
     "changes": [("core/store/rules/ground/peers.c", """
    store->ring = (struct ring){0};
    CRASH_POINT("bell_rung");
""", """
    CRASH_POINT("bell_rung");
""")]},
    {"name": "catalog-kept-undone", "by": "spec/core/store/part_contract",
     "breaks": "a definition that was made in a part that is undone is never made again",
     "changes": [("core/store/rules/ground/catalog.c", """
    (void)point;
    store->catalog.version = 0;
""", """
    (void)point;
""")]},
    {"name": "schedule-over-again", "by": "spec/life/schedules_spec.lua",
     "breaks": "a schedule that is over begins again when another file changes",
     "changes": [("core/store/rules/schedule/schedule.c",
                  "stored->same && (stored->waits || !stored->job);",
                  "stored->same && stored->waits;")]},
    {"name": "address-unchecked", "by": "spec/core/script/transfer_spec.lua",
     "breaks": "a name that leads to a denied address is reached",
     "changes": [("core/script/transfer.c",
                  "return allowed && !reach_has_address(transfer->deny, address);",
                  "return allowed;")]},
    {"name": "request-key-of-attempt", "by": "spec/life/http_spec.lua",
     "breaks": "each attempt of a job asks under another key",
     "changes": [("core/script/natives/native_http.c",
                  "(LUAI_UACINT)job->id, (LUAI_UACINT)job->created);",
                  "(LUAI_UACINT)job->id, (LUAI_UACINT)job->token);")]},
    {"name": "secrets-along", "by": "spec/core/script/transfer_spec.lua",
     "breaks": "a redirect to another host takes all headers along",
     "changes": [("core/script/transfer.c",
                  "if (hop->sheds && !is_harmless(*header))",
                  "if (false && !is_harmless(*header))")]},
    # ---- bodies whose turns stand outside of the frame
    {"name": "turn-of-closed-body", "by": "spec/core/store/body_contract",
     "breaks": "a turn goes on although its body is closed",
     "changes": [("core/store/rules/process/turn.c", """
            "SELECT t.rev FROM body_turn t WHERE t.id=?1 AND " OPEN_BODY("closed") "=0", "i", id);
    if (change)
""", """
            "SELECT t.rev FROM body_turn t WHERE t.id=?1", "i", id);
    if (change)
""")]},
    {"name": "receivers-that-left", "by": "spec/core/store/postgres/turn/signal_flight_contract", "server": True,
     "breaks": "what has ceased to wait for a signal gets the next one of the turn",
     "changes": [("core/store/rules/process/subscription.c", """
    signals_ahead_left(store, instance);
    if (token)
""", """
    if (token)
""")]},
    {"name": "jobs-of-a-turn", "by": "spec/core/store/process_turn_contract", "server": True,
     "breaks": "jobs of an instance that are still to end count as ended",
     "changes": [("core/store/rules/process/waiting.c", """
        may = jobs[i].id == running || unit_ahead_gone(store, jobs[i].id) ||
              (unit_ahead_goes(store, &jobs[i]) && goes_untold(store, token));
""", """
        may = true;
""")]},
    {"name": "turn-unguarded", "by": "spec/core/store/body_contract",
     "breaks": "a unit of a turn is written over another one that came first",
     "changes": [("core/store/rules/process/unit_write.c", """
    enum answer found = one->rev ? body_turn_rev(store, one->id, &rev, error) : YES;
    if (found == FAILED)
        return UNIT_FAILED;
    return found == YES && rev == one->rev ? UNIT_FINE : UNIT_BEHIND;
""", """
    enum answer found = one->rev ? body_turn_rev(store, one->id, &rev, error) : YES;
    if (found == FAILED)
        return UNIT_FAILED;
    return found == YES ? UNIT_FINE : UNIT_BEHIND;
""")]},
    {"name": "body-count-unread", "by": "spec/core/store/body_contract",
     "breaks": "what a handler has read of the counters of its body need not be so any more",
     "changes": [("core/store/rules/process/turn.c",
                  "return ended + (count ? count->ended : 0) == one->seen - 1 ? YES : NO;",
                  "return count || ended + 1 != one->seen || true ? YES : NO;")]},
    {"name": "body-left-too-early", "by": "spec/core/store/body_contract",
     "breaks": "a body is left when one turn of it is still to end",
     "changes": [("core/store/rules/process/turn.c",
                  "CASE WHEN ended>=turns THEN 1", "CASE WHEN ended+1>=turns THEN 1")]},
    {"name": "body-left-too-early-set", "by": "spec/core/store/body_contract", "server": True,
     "breaks": "on a server a body is left when one turn of it is still to end",
     "changes": [("core/store/postgres/turn/set.c",
                  "CASE WHEN body.ended>=body.turns THEN 1",
                  "CASE WHEN body.ended+1>=body.turns THEN 1")]},
    {"name": "body-counts-commits", "by": "spec/core/store/body_contract",
     "breaks": "of the turns that end in one transaction one is counted",
     "changes": [("core/store/rules/process/turn.c",
                  "count->ended += one->ended;", "count->ended = one->ended;")]},
    {"name": "body-half-cleared", "by": "spec/core/store/body_contract",
     "breaks": "the first page of a closed body goes, and no other one",
     "changes": [("core/store/rules/process/turn.c", """
    return done && CRASH_POINT("body_cleared") && body_clear_on(store, one->id, now, error);
""", """
    return done && CRASH_POINT("body_cleared");
""")]},
    {"name": "body-jobs-stay", "by": "spec/core/store/body_contract",
     "breaks": "the jobs of a closed body's turns stay behind",
     "changes": [("core/store/rules/process/turn.c", """
    return waiting_remove_range(store, instance, tokens, now, error) &&
           subscriptions""", """
    return now && subscriptions""")]},
    {"name": "turns-gone-unwalked", "by": "spec/life/process_bodies_spec.lua",
     "breaks": "turns of a closed body go without their listeners and outputs",
     "changes": [("lua/moonshift/process/turns.lua", """
    drop_all(w, inst, body)
""", """
    entry.closed = 1
""")]},
    {"name": "turns-of-first-page", "by": "spec/life/process_bodies_spec.lua",
     "breaks": "of turns that have to be walked as they are cancelled one is left out",
     "changes": [("lua/moonshift/process/turns.lua", """
      if row.frame and not w.instances[row.id] then
""", """
      if row.frame and not w.instances[row.id] and row ~= rows[2] then
""")]},
    {"name": "undone-outside", "by": "spec/life/process_bodies_spec.lua",
     "breaks": "turns that can be taken back stand outside of the frame, and are forgotten",
     "changes": [("lua/moonshift/process/turns.lua",
                  'return inst.plan.undoes and has_inside(inst.plan, step, "remembers", is_remembered)',
                  "return false")]},
    {"name": "list-blind", "by": "spec/life/process_bodies_spec.lua",
     "breaks": "a command of a list reads turns as they were before the list",
     "changes": [("core/engine/process/process_list.c",
                  "    list->engine->list = list;", "    list->engine->list = NULL;")]},
    {"name": "due-of-the-instance", "by": "spec/life/process_bodies_spec.lua",
     "breaks": "a timer is counted anew by what the instance knows, not its turn",
     "changes": [("core/engine/process/process_due.c",
                  'json_object_get(frame, "token")', "json_null()")]},
    # ---- commands of a server that wait twice
    {"name": "command-unchecked", "by": "spec/core/store/postgres/turn/command_contract",
     "breaks": "a command is written although what it has read is another one by now",
     "changes": [("core/store/postgres/turn/command.c",
                  """"SELECT CASE WHEN " WORLD "=?1 AND coalesce(" WAITS("?2") ", '')=?3 THEN 1 ELSE\"""",
                  """"SELECT CASE WHEN " WORLD "=?1 AND (?2+0=?2 OR ?3='') THEN 1 ELSE\"""")]},
    {"name": "command-beyond-numbers", "by": "spec/core/store/postgres/turn/command_contract",
     "breaks": "a command gives numbers that were not drawn",
     "changes": [("core/store/postgres/turn/command.c",
                  "store->meta.next_token > ground->token_end || store->meta.next_id > ground->id_end;",
                  "!store->schema.version;")]},
    {"name": "numbers-of-another-server", "by": "spec/core/store/postgres/turn/command_contract",
     "breaks": "numbers that another server has drawn are given",
     "changes": [("core/store/postgres/turn/command.c",
                  "ground->token = ground->token_end = ground->id = ground->id_end = 0;",
                  "ground->open = false;")]},
    {"name": "command-opens-pages", "by": "spec/core/store/postgres/turn/command_contract",
     "breaks": "each command takes the locks of other runs out of their pages",
     "changes": [("core/store/postgres/turn/command.c",
                  "bool minds = outcome->effects || !unit_is_plain(store, outcome->unit, 0);",
                  "bool minds = outcome->unit != NULL;")]},
    # ---- rows of the outbox
    {"name": "outbox-out-of-order", "by": "spec/faults/outbox_spec.lua",
     "breaks": "rows become jobs in the order of their numbers, not of their commits",
     "changes": [("core/store/rules/record/outbox.c",
                  " AND place IS NOT NULL ORDER BY place, id LIMIT ?1) AS f) AS p\"",
                  " AND place IS NOT NULL ORDER BY id LIMIT ?1) AS f) AS p\""),
                 ("core/store/rules/record/outbox.c",
                  "OVER (ORDER BY place, id ROWS", "OVER (ORDER BY id ROWS"),
                 ("core/store/rules/record/outbox.c",
                  "coalesce(before, 0)<?2 ORDER BY place, id", "coalesce(before, 0)<?2 ORDER BY id")]},
    {"name": "outbox-row-gone", "by": "spec/faults/outbox_spec.lua",
     "breaks": "a row of which no job can be made goes, with what was wanted",
     "changes": [("core/store/rules/record/outbox.c", """
           db_run(&store->db, error, "UPDATE outbox SET incident=?2 WHERE id=?1", "ii", id,
                  incident);
""", """
           db_run(&store->db, error, "DELETE FROM outbox WHERE id=?1 AND ?2=?2", "ii", id,
                  incident);
""")]},
    {"name": "ready-unnoticed", "by": "spec/core/run/asleep_contract",
     "breaks": "nobody looks for a job that became ready while another ended",
     "changes": [("core/store/rules/ground/capacity.c", """
    capacity->ready.left = capacity->ready.look = true;
""", """
    capacity->ready.left = true;
""")]},
    {"name": "rest-unnoticed", "by": "spec/core/run/asleep_contract",
     "breaks": "what an acquisition leaves behind is not looked for again",
     "changes": [(ACQUIRE, """
    capacity->ready.look = capacity->ready.look || more;
""", "")]},
    {"name": "worker-wakes-nobody", "by": "spec/life/wakes_spec.lua",
     "breaks": "the loop learns that a run has ended when it looks, once a second",
     "changes": [("core/run/pool/threads.c", """
    if (first || pressed)
        client->options.wake(client->options.wake_arg);
""", """
    if (first && !pressed && client->stopping)
        client->options.wake(client->options.wake_arg);
""")]},
]
