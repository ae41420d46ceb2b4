#!/usr/bin/env python3
"""The checker, checked: for each invariant a story that keeps it and stories that break it."""
import sys
import unittest

import checker
import line
from story import BEGIN, Story

SECOND = 1000  # ms


class Checked(unittest.TestCase):
    def setUp(self):
        self.story = Story()

    def reports(self):
        return {report.name: report for _, report in checker.check(self.story.evidence())}

    def good(self, name):
        """Nothing is violated, and the invariant was met."""
        reports = self.reports()
        self.assertEqual([], [(r.name, r.violations) for r in reports.values() if r.violations])
        self.assertGreater(reports[name].seen, 0)

    def bad(self, name, text):
        violations = self.reports()[name].violations
        self.assertTrue(violations, "nothing was found")
        self.assertIn(text, violations[0][0])


class Jobs(Checked):
    def test_a_job_that_lives_and_ends(self):
        self.story.live(1)
        for name in ("I1", "I2", "I3", "I4", "I7", "I15"):
            self.good(name)

    def test_a_job_that_was_never_written(self):
        self.story.line("P", "ack", job=7, note="m7 chore")
        self.bad("I1", "never written")

    def test_a_job_that_is_gone_without_an_end(self):
        self.story.create(1)
        self.story.lock(1)
        self.story.unlock(1)
        self.bad("I1", "is lost")
        self.bad("I15", "is lost")

    def test_a_key_that_is_answered_as_before(self):
        self.story.live(1)
        self.story.line("P", "same", job=1, note="m1 [(1, 'ack')]")
        self.good("I2b")

    def test_a_key_that_has_another_answer(self):
        self.story.live(1)
        self.story.line("P", "other", job=1, note="m1 [(2, 'ack')]")
        self.bad("I2b", "another answer")

    def file_broken_off(self):
        for i in (1, 2):
            self.story.intent("storm-7-%d" % i, "plain")
            self.story.born(i, "storm-7-%d" % i, "plain")
            self.story.line("P", "unknown", note="storm-7-%d plain" % i)

    def test_a_file_that_was_broken_off_is_withdrawn(self):
        self.file_broken_off()
        self.good("I15")

    def test_a_file_that_was_broken_off_is_withdrawn_whole(self):
        self.file_broken_off()
        self.story.lock(2)
        self.story.ended(2)
        self.bad("I15", "is lost")

    def test_a_job_that_was_deleted_by_nobody(self):
        self.story.create(1)
        self.story.ended(1, outcome=2)
        self.bad("I1", "nobody asked")

    def test_a_job_that_was_deleted_by_an_operator(self):
        self.story.create(1)
        self.story.line("P", "verb", job=1, note="- job delete 1")
        self.story.row("ended", 1, new=2)
        self.good("I1")

    def test_a_job_that_nobody_created(self):
        self.story.born(1, "m1")
        self.story.run(1)
        self.story.ended(1)
        self.bad("I2", "nobody created it")

    def test_a_job_whose_creation_was_refused(self):
        self.story.intent("m1")
        self.story.line("P", "nack", note="m1 chore")
        self.story.born(1, "m1")
        self.story.run(1)
        self.story.ended(1)
        self.bad("I2", "answered with nack")

    def test_a_job_that_was_created_twice(self):
        self.story.live(1)
        self.story.born(2, "m1")
        self.bad("I2", "created 2 times")

    def test_success_without_a_run(self):
        self.story.create(1)
        self.story.lock(1)
        self.story.ended(1)
        self.bad("I3", "no run ended well")

    def test_success_with_the_token_of_a_run_that_goes_on(self):
        self.story.create(1)
        self.story.lock(1)
        self.story.start(1)
        self.story.ended(1)
        self.story.wait(20)
        self.story.end(1)
        self.bad("I3", "before its run")

    def test_success_of_a_run_that_failed(self):
        self.story.create(1)
        self.story.run(1, word="fail")
        self.story.ended(1)
        self.bad("I3", "no run ended well")

    def test_a_second_end(self):
        self.story.live(1)
        self.story.row("ended", 1, new=1)
        self.bad("I4", "ended 2 times")

    def test_a_lock_after_the_end(self):
        self.story.live(1)
        self.story.lock(1)
        self.story.unlock(1)
        self.bad("I4", "locked after")

    def test_a_run_after_the_end(self):
        self.story.live(1)
        self.story.wait(100)
        self.story.start(1)
        self.bad("I4", "after it had ended")

    def late(self, count, stopped=True):
        """So many jobs begin in north after their locks have gone; south has them."""
        tokens = {}
        for job in range(1, count + 1):
            self.story.create(job)
            tokens[job] = self.story.lock(job)
        if stopped:
            self.story.line("N", "stop", pid=11, node="north")
        self.story.wait(2100)
        for job, token in tokens.items():
            self.story.unlock(job, token)
            self.story.run(job, pid=12, node="south")
            self.story.ended(job)
        self.story.wait(60)
        if stopped:
            self.story.line("N", "cont", pid=11, node="north")
        for job, token in tokens.items():
            self.story.start(job, token=token)

    def test_two_that_begin_without_a_lock_behind_a_stop(self):
        self.late(2)
        self.assertEqual([], self.reports()["I4b"].violations)

    def test_three_that_begin_without_a_lock_behind_a_stop(self):
        self.late(3)
        self.bad("I4b", "north/11 began 3 jobs whose locks it had lost")

    def test_one_that_begins_without_a_lock_by_itself(self):
        self.late(1, stopped=False)
        self.bad("I4b", "began 1 jobs")

    def test_a_token_that_comes_again(self):
        self.story.live(1)
        self.story.token -= 1
        self.story.live(2)
        self.bad("I7", "token 1 was drawn twice")

    def test_a_token_below_one_that_was_given_up(self):
        self.story.token = 5
        self.story.live(1)
        self.story.token = 3
        self.story.live(2)
        self.bad("I7", "token 4 was drawn after 6")

    def test_tokens_in_any_order_in_one_transaction(self):
        for job, token in ((1, 2), (2, 1)):
            self.story.create(job)
            self.story.token = token - 1
            self.story.lock(job)
        for job, token in ((1, 2), (2, 1)):
            self.story.start(job, token=token)
            self.story.end(job, token=token)
            self.story.row("unlock", job, token=token, owner=1)
            self.story.row("ended", job, old=1, new=1)
        self.good("I7")

    def test_a_run_with_a_token_of_nobody(self):
        self.story.live(1)
        self.story.start(1, token=77)
        self.bad("I7", "never locked with")

    def test_a_token_with_two_runs(self):
        self.story.create(1)
        self.story.run(1)
        self.story.start(1, pid=12, node="south")
        self.story.ended(1)
        self.bad("I7", "ran 2 times with token 1")

    def test_a_lock_over_a_lock(self):
        self.story.create(1)
        self.story.lock(1)
        self.story.lock(1)
        self.bad("I7", "over")

    def test_a_unique_key_of_two(self):
        self.story.create(1, "single", unique="k")
        self.story.create(2, "single", unique="k")
        self.bad("I13c", "held the key")

    def test_a_unique_key_of_one_after_the_other(self):
        for job in (1, 2):
            self.story.create(job, "single", unique="k")
            self.story.run(job, "single")
            self.story.ended(job)
        self.good("I13c")

    def test_a_unique_key_that_outlives_its_job(self):
        for wait, seen in ((100, []), (5 * SECOND, ["I13c"])):
            self.story = Story()
            self.story.create(1, "single", unique="k")
            self.story.run(1, "single")
            self.story.ended(1)
            self.story.wait(wait)
            self.story.intent("m2", "single")
            self.story.line("P", "kept", job=1, note="m2 single")
            self.assertEqual(seen, [r.name for r in self.reports().values() if r.violations])

    def suspended(self, until):
        self.story.create(1)
        self.story.row("suspended", 1, old=0, new=1)
        self.story.line("P", "verb", job=1, note="- job suspend 1")
        self.story.row("suspended", 1, old=1, new=until)
        self.story.run(1)
        self.story.ended(1)

    def test_a_job_that_was_suspended(self):
        self.suspended(until=0)
        self.good("I11c")

    def test_a_job_that_is_suspended_and_runs(self):
        self.suspended(until=1)
        self.bad("I11c", "while it was suspended")

    def crash(self, job, counted, verb=None):
        self.story.create(1)
        self.story.create(2)
        self.story.lock(1)
        self.story.start(1)
        self.story.wait(10)
        self.story.line("N", "kill", pid=11, node="north")
        if verb:
            self.story.line("P", "verb", job=1, note=verb)
        self.story.unlock(1)
        if counted:
            self.story.row("crashes", job, old=0, new=1)
        for each in (1, 2):
            self.story.run(each, pid=12, node="south")
            self.story.ended(each)

    def test_a_crash_of_the_job_that_ran(self):
        self.crash(1, counted=True)
        self.good("I8b")

    def test_a_crash_that_was_not_counted(self):
        self.crash(1, counted=False)
        self.bad("I8b", "0 crashes counted, 1 processes were killed")

    def test_a_crash_whose_lock_was_taken_before_it_was_counted(self):
        self.crash(1, counted=False, verb="- job suspend 1")
        self.good("I8b")

    def unwritten(self, count):
        """Crashes of jobs that were locked, and of which no run is written down."""
        for job in range(1, count + 1):
            self.story.create(job)
            self.story.lock(job)
        self.story.line("N", "kill", pid=11, node="north")
        for job in range(1, count + 1):
            self.story.unlock(job, job)
            self.story.row("crashes", job, old=0, new=1)
            self.story.run(job, pid=12, node="south")
            self.story.ended(job)

    def test_two_crashes_that_nobody_has_written_down(self):
        self.unwritten(2)
        self.assertEqual([], self.reports()["I8b"].violations)

    def test_three_crashes_that_nobody_has_written_down(self):
        self.unwritten(3)
        self.bad("I8b", "3 crashes counted of jobs that had not begun, by the death of [11]")

    def test_a_crash_of_another_job(self):
        self.crash(2, counted=True)
        self.bad("I8b", "0 crashes counted")
        self.assertIn("1 crashes counted, it ran in 0", self.reports()["I8b"].violations[1][0])

    def heard_late(self, handler, slow):
        """A lock of which its worker hears when it is over."""
        self.story.create(1, handler)
        if slow:
            self.story.line("N", "delayed", node="north")
        self.story.lock(1)
        self.story.wait(3000)
        self.story.unlock(1)
        self.story.row("crashes", 1, old=0, new=1)
        if slow:
            self.story.line("N", "prompt", node="north")
        self.story.wait(60000)

    def test_a_crash_of_a_lock_whose_worker_hears_late(self):
        self.heard_late("topic/outer", True)
        self.assertEqual([], self.reports()["I8b"].violations)

    def test_a_crash_of_a_lock_whose_worker_hears_in_time(self):
        self.heard_late("topic/outer", False)
        self.bad("I8b", "1 crashes counted, it ran in 0")

    def test_a_crash_of_a_lock_of_an_executor_that_is_slow(self):
        self.heard_late("chore", True)
        self.bad("I8b", "1 crashes counted, it ran in 0")

    def test_children_with_their_parent(self):
        self.parent(2)
        self.good("I15b")

    def test_a_child_that_is_missing(self):
        self.parent(1)
        self.bad("I15b", "child 2 was created 0 times")

    def test_children_of_a_parent_that_failed(self):
        self.story.create(1, "parent")
        self.story.born(2, "m1.1")
        self.bad("I15b", "child 1 was created 1 times")

    def parent(self, count):
        self.story.live(1, "parent")
        for i in range(1, count + 1):
            self.story.born(1 + i, "m1.%d" % i)
            self.story.run(1 + i, marker="m1.%d" % i)
            self.story.ended(1 + i)

    def test_a_payload_that_arrives(self):
        self.story.live(1, hash=line.hash_of("text"))
        self.good("I16")

    def test_a_payload_that_has_changed(self):
        self.story.create(1, hash=line.hash_of("text"))
        self.story.run(1, hash=line.hash_of("test"))
        self.bad("I16", "was given")


class Retries(Checked):
    def failing(self, left=(2, 1, 0), waits=(300, 300), attempts=(1, 2, 3)):
        self.story.create(1, "flaky", retries=3)
        before = 3
        for i, after in enumerate(left):
            self.story.run(1, "flaky", word="fail", attempt=attempts[i])
            self.story.failed(1, attempts[i], before, after)
            before = after
            if i < len(waits):
                self.story.wait(waits[i])
        if left[-1] == 0:
            self.story.dump["job"].append({"id": 1, "retries": 0, "suspended": 0})

    def incident(self, number=1, open_=True):
        self.story.row("incident", 1, new=number, note="failedJob")
        self.story.dump["incident"].append({"id": number, "job": 1, "type": "failedJob",
                                            "ended": None if open_ else BEGIN})

    def test_failures_until_death(self):
        self.failing()
        self.incident()
        for name in ("I8", "I9", "I10"):
            self.good(name)

    def test_a_failure_that_costs_two(self):
        self.failing(left=(1, 0))
        self.bad("I8", "attempt 2 had 1 retries instead of 2")

    def test_a_failure_that_costs_nothing(self):
        self.failing(left=(3, 2))
        self.bad("I8", "had 3 retries instead of 2")

    def test_less_than_none(self):
        self.failing(left=(2, 1, 0, -1), attempts=(1, 2, 3, 4))
        self.bad("I8", "fewer than no retries")

    def test_a_failure_without_a_run(self):
        self.story.create(1, "flaky")
        self.story.lock(1)
        self.story.failed(1, 1, 3)
        self.bad("I8", "without a run")

    def test_a_failure_that_was_not_counted(self):
        self.story.create(1, "flaky")
        self.story.run(1, "flaky", word="fail")
        self.story.unlock(1)
        self.bad("I8", "0 failures counted")

    def twice(self, ms):
        """It succeeds, its lock is lost so much later, and it succeeds again."""
        self.story.create(1)
        self.story.run(1)
        self.story.wait(ms)
        self.story.unlock(1)
        self.story.run(1)
        self.story.ended(1)

    def test_a_run_that_did_not_count(self):
        self.twice(100)
        self.bad("I8", "{'ok': 2}, 0 failures counted")

    def refused(self, token):
        self.story.logs["north.log"] = (
            'level=warn event="stale outcome refused" job=1 handler=chore token=%d outcome=successful\n'
            % token)

    def test_a_run_that_an_executor_refused(self):
        self.twice(100)
        self.refused(1)
        self.assertEqual([], self.reports()["I8"].violations)

    def test_a_run_that_did_not_count_beside_one_that_was_refused(self):
        self.twice(100)
        self.refused(7)
        self.bad("I8", "{'ok': 2}, 0 failures counted")

    def test_a_result_that_is_refused_by_a_server_that_was_away_long_before(self):
        self.story.line("N", "outage")
        self.story.wait(100)
        self.story.line("N", "back")
        self.story.wait(6000)
        self.test_a_run_that_did_not_count()

    def test_a_run_that_did_not_count_as_nobody_could_write(self):
        self.twice(1500)
        self.good("I5")

    def test_a_retry_before_its_delay(self):
        self.failing(waits=(200, 300))
        self.bad("I9", "after 200 ms instead of 300")

    def test_a_death_without_an_incident(self):
        self.failing()
        self.bad("I10", "is dead and has 0 open")

    def test_a_death_with_two_incidents(self):
        self.failing()
        self.incident(1)
        self.incident(2)
        self.bad("I10", "2 open incidents")

    def test_a_second_incident_after_the_first_was_closed(self):
        self.failing()
        self.incident(1, open_=False)
        self.story.row("closed", 1, new=1, note="failedJob")
        self.incident(2)
        self.bad("I10", "died 1 times and has 2 incidents")

    def test_an_incident_that_outlives_a_second_life(self):
        self.failing()
        self.incident()
        self.story.row("retries", 1, old=0, new=1)
        self.story.row("retries", 1, old=1, new=0)
        self.bad("I10", "got retries 1 times, and 0 incidents were closed")

    def test_an_incident_of_a_run_that_does_not_end(self):
        self.story.row("incident", 1, new=1, note="handlerStuck")
        self.story.row("closed", 1, new=1, note="handlerStuck")
        self.assertEqual([], self.reports()["I10"].violations)

    def test_an_incident_of_the_living(self):
        self.failing(left=(2,))
        self.incident()
        self.bad("I10", "died 0 times and has 1 incidents")


class Times(Checked):
    def both(self, first, second, gap, **fields):
        """Job 1 begins, and `gap` ms later job `second` does, in the other executor."""
        self.story.create(1, first)
        if second != 1:
            self.story.create(second, first)
        self.story.lock(1)
        self.story.start(1, first, **fields)
        mine = self.story.token
        self.story.wait(gap)
        if second == 1:
            self.story.unlock(1)
        self.story.lock(second)
        self.story.start(second, first, pid=12, node="south", **fields)
        self.story.wait(10)
        self.story.end(1, token=mine)
        self.story.end(second, pid=12, node="south")

    def pause(self, pid, ms):
        self.story.line("N", "stop", pid=pid, node="north")
        self.story.wait(ms)
        self.story.line("N", "cont", pid=pid, node="north")

    def test_two_runs_of_a_job_at_once(self):
        self.both("chore", 1, 50)
        self.bad("I5", "50 ms later in south")

    def test_two_runs_of_a_job_whose_lock_was_lost(self):
        self.story.line("N", "stop", pid=11, node="north")
        self.both("chore", 1, 2100)
        self.story.line("N", "cont", pid=11, node="north")
        self.assertEqual([], self.reports()["I5"].violations)

    def test_two_runs_of_a_job_whose_process_stood_still_too_shortly(self):
        self.story.line("N", "stop", pid=11, node="north")
        self.both("chore", 1, 700)
        self.story.line("N", "cont", pid=11, node="north")
        self.bad("I5", "700 ms later")

    def test_two_runs_of_a_job_on_a_machine_that_stood_still(self):
        self.both("chore", 1, 2500)
        self.story.line("N", "stalled", attempt=2400)
        self.assertEqual([], self.reports()["I5"].violations)

    def test_two_runs_of_a_job_that_was_killed(self):
        self.story.create(1)
        self.story.lock(1)
        self.story.start(1)
        self.story.wait(10)
        self.story.line("N", "kill", pid=11, node="north")
        self.story.unlock(1)
        self.story.row("crashes", 1, old=0, new=1)
        self.story.wait(10)
        self.story.run(1, pid=12, node="south")
        self.story.ended(1)
        self.good("I5")

    def test_two_jobs_of_a_lane_at_once(self):
        self.both("lane", 2, 50, lane="red")
        self.bad("I6", "lane red")

    def test_two_jobs_of_a_lane_one_after_the_other(self):
        self.story.live(1, "lane", lane="red")
        self.story.live(2, "lane", lane="red")
        self.good("I6")

    def test_a_start_before_its_date(self):
        due = self.story.ms + 500
        self.story.create(1, "alarm", due=due)
        self.story.wait(480)
        self.story.run(1, "alarm", due=due)
        self.bad("I11", "20 ms before its date")

    def test_a_start_with_another_date_than_it_was_given(self):
        due = self.story.ms + 500
        self.story.create(1, "alarm", due=due)
        self.story.wait(480)
        self.story.run(1, "alarm", due=due - 100)
        self.bad("I11", "-100 ms from when")

    def alarm(self, lateness):
        due = self.story.ms + 500
        self.story.create(1, "alarm", due=due)
        self.story.wait(500 + lateness)
        self.story.run(1, "alarm", due=due)
        self.story.ended(1)

    def test_a_start_in_time(self):
        self.alarm(20)
        self.good("I11")
        self.good("I11b")

    def test_a_start_long_after_its_date(self):
        self.alarm(6 * SECOND)
        self.bad("I11b", "6000 ms after its date")

    def storm(self, first, second):
        for job, level in ((1, first), (2, second)):
            self.story.create(job, "plain", priority=level)
        self.story.wait(SECOND)
        for job, level in ((1, first), (2, second)):
            self.story.run(job, "plain", ms=50, priority=level)
            self.story.ended(job)

    def test_the_more_important_goes_first(self):
        self.storm(60, 40)
        self.good("I12")

    def test_the_more_important_goes_last(self):
        self.storm(40, 60)
        self.bad("I12", "job 1 of priority 40 was taken by north")

    def test_the_less_important_goes_first_as_another_executor_gives_it_back(self):
        for job, level in ((1, 40), (2, 60)):
            self.story.create(job, "plain", priority=level)
        self.story.wait(SECOND)
        self.story.lock(1)
        self.story.wait(300)
        self.story.unlock(1)
        for job, level in ((2, 60), (1, 40)):
            self.story.run(job, "plain", ms=50, priority=level)
            self.story.ended(job)
        self.good("I12")

    def test_one_that_this_executor_may_not_take(self):
        self.storm(60, 10)
        self.story.dump["witness"][1]["at"] += 0
        self.good("I12")

    def capped(self, count):
        for job in range(1, count + 1):
            self.story.create(job, "capped")
            self.story.lock(job)
            self.story.start(job, "capped")
            self.story.wait(10)
        for job in range(1, count + 1):
            self.story.end(job, token=job)
            self.story.row("unlock", job, token=job)
            self.story.row("ended", job, new=1)

    def test_as_many_at_once_as_there_may_be(self):
        self.capped(2)
        self.good("I13")

    def test_more_at_once_than_there_may_be(self):
        self.capped(3)
        self.bad("I13", "the limit is 2")

    def rated(self, gap, runs=6):
        for job in range(1, runs + 1):
            self.story.live(job, "rated", ms=1)
            self.story.wait(gap)

    def test_a_rate_that_holds(self):
        self.rated(250)
        self.good("I13b")

    def test_a_rate_that_does_not(self):
        self.rated(150)
        self.bad("I13b", "six began within 755 ms")

    def test_a_rate_that_holds_with_a_first_run_that_was_written_down_late(self):
        self.story.create(7, "rated")
        self.story.lock(7)
        self.story.wait(900)
        self.story.start(7, "rated")
        self.story.end(7)
        self.story.ended(7)
        self.rated(30, 5)
        self.good("I13b")

    def term(self, ms, code=0, left=0):
        self.story.line("N", "term", pid=11, node="north")
        self.story.wait(ms)
        self.story.line("N", "exited", pid=11, node="north", attempt=code, retries=left)

    def test_an_end_in_order(self):
        self.term(500)
        self.good("I20")

    def test_an_end_that_a_kill_overtakes(self):
        self.story.line("N", "kill", pid=11, node="north")
        self.term(500, code=-9, left=3)
        self.assertEqual([], self.reports()["I20"].violations)

    def test_an_end_that_takes_too_long(self):
        self.term(5 * SECOND)
        self.bad("I20", "took 5.0 s")

    def test_an_end_with_another_status(self):
        self.term(500, code=1)
        self.bad("I20", "ended with 1")

    def test_an_end_that_leaves_locks(self):
        self.term(500, left=3)
        self.bad("I20", "left 3 jobs locked")

    def test_a_start_after_the_word(self):
        self.story.create(1)
        self.story.line("N", "term", pid=11, node="north")
        self.story.wait(600)
        self.story.run(1)
        self.story.ended(1)
        self.story.line("N", "exited", pid=11, node="north", attempt=0, retries=0)
        self.bad("I20", "600 ms after it was told")

    def test_no_end_at_all(self):
        self.story.line("N", "term", pid=11, node="north")
        self.bad("I20", "did not end")


class Rest(Checked):
    def batch(self, items=2, state=4, counts=(1, 1, 0, 0), told=1):
        self.story.line("P", "batch", note="1", attempt=2)
        self.story.row("batch", 1, note=str([*counts, state]))
        for i in range(items):
            self.story.line("H", "item", job=9, note="1 item-%d" % (i + 1))
        for job in range(2, 2 + told):
            self.story.born(job, None, "batch_over")
            self.story.run(job, "batch_over", marker="-")
            self.story.line("H", "batch", job=job, note="1")
            self.story.ended(job)
        self.story.dump["batch"].append({"id": 1, "state": state})

    def test_a_batch(self):
        self.batch()
        self.good("I14")

    def test_a_batch_that_leaves_an_item_out(self):
        self.batch(items=1)
        self.bad("I14", "item-2")

    def test_a_batch_that_does_not_end(self):
        self.batch(state=2, told=0)
        self.bad("I14", "did not end")

    def test_a_batch_that_does_not_add_up(self):
        self.batch(counts=(1, 2, 0, 0))
        self.bad("I14", "made 2")

    def test_a_batch_that_ends_twice(self):
        self.batch(told=2)
        self.bad("I14", "2 ends")

    def test_a_damaged_store(self):
        self.good("I17")
        self.story.dump["integrity"] = ["row 7 missing"]
        self.bad("I17", "row 7 missing")

    def test_a_store_of_which_the_program_complains(self):
        self.story.dump["checked"] = {"status": 65, "text": "job 7 is nowhere"}
        self.bad("I17", "nowhere")

    def test_a_lock_that_stays(self):
        self.story.dump["locked"].append({"id": 1})
        self.bad("I17", "nobody is there")

    def test_a_damaged_copy(self):
        self.story.line("N", "backup-done", note="torn")
        self.bad("I17", "a backup")

    def test_all_is_done(self):
        self.story.line("N", "drain")
        self.story.line("N", "quiet")
        self.good("I18")

    def test_something_is_left(self):
        self.story.create(1)
        self.story.dump["ready"].append({"id": 1})
        self.story.line("N", "drain")
        self.story.line("N", "stuck", note="1 ready")
        self.bad("I18", "not done: 1 ready")
        self.bad("I1", "is still there")

    def samples(self, rss=lambda i: 9000, files=lambda i: 20, zombies=0, log=1 << 20):
        for i in range(100):
            self.story.line("N", "sample", pid=11, node="north", attempt=rss(i), token=files(i),
                            priority=log, retries=zombies)
            self.story.wait(500)

    def test_resources_that_stay(self):
        self.samples(rss=lambda i: 9000 + i % 7 * 100)
        self.good("I19")

    def test_memory_that_grows(self):
        self.samples(rss=lambda i: 40000 + i * 200)
        self.bad("I19", "KiB a second")

    def test_caches_that_fill(self):
        self.samples(rss=lambda i: 9000 + i * 200)
        self.good("I19")

    def test_files_that_stay_open(self):
        self.samples(files=lambda i: 20 + i // 2)
        self.bad("I19", "files a second")

    def test_children_that_nobody_waits_for(self):
        self.samples(zombies=1)
        self.bad("I19", "nobody waits for")

    def test_a_log_that_grows(self):
        self.samples(log=100 << 20)
        self.bad("I19", "grew")

    def test_a_sanitizer_that_speaks(self):
        self.story.logs["north.log"] = "==1==ERROR: AddressSanitizer: heap-use-after-free"
        self.bad("I19", "AddressSanitizer")

    def full(self, start):
        """Its disk fills up; who began then, or before, ends with 74."""
        self.story.line("N", "filling")
        if start:
            self.story.line("N", "started", pid=13, node="north")
        self.story.wait(100)
        self.story.line("N", "died", pid=13 if start else 11, node="north", attempt=74)
        self.story.line("N", "emptied")

    def test_an_executor_that_cannot_begin_on_a_full_disk(self):
        self.full(start=True)
        self.assertEqual([], self.reports()["I19"].violations)

    def test_an_executor_that_dies_of_a_full_disk(self):
        self.full(start=False)
        self.bad("I19", "died by itself: 74")

    def away(self, seconds):
        """North begins, and ends with 69 after so many seconds, over a server."""
        self.story.lines[0] = self.story.lines[0]._replace(note="seed 1 slow 1 store server")
        self.story.line("N", "started", pid=13, node="north")
        self.story.wait(seconds * 1000)
        self.story.line("N", "died", pid=13, node="north", attempt=69)

    def test_an_executor_that_finds_no_server_as_it_begins(self):
        self.away(10)  # two servers that do not answer take five seconds each
        self.assertEqual([], self.reports()["I19"].violations)

    def test_an_executor_that_ends_as_the_server_goes(self):
        self.away(16)
        self.bad("I19", "died by itself: 69")

    def test_an_executor_that_is_drained_beside_a_stuck_run(self):
        self.story.line("N", "died", pid=11, node="north", attempt=0)
        self.bad("I19", "died by itself")
        self.story.logs["north.log"] = "level=warn event=drained stuck=1 end=status"
        self.assertEqual([], self.reports()["I19"].violations)

    def test_an_executor_that_dies_by_itself(self):
        self.story.line("N", "died", pid=11, node="north", attempt=-11)
        self.bad("I19", "died by itself")

    def tick(self, dues):
        self.story.intent("m1", "tick")
        for job, due in enumerate(dues):
            self.story.born(job + 1, "m1", "tick", due=BEGIN + due)
            self.story.run(job + 1, "tick", marker="m1")
            self.story.ended(job + 1)

    def test_each_date_of_a_cycle(self):
        self.tick([0, 500, 1000, 1500, 2000])
        self.good("I22")

    def test_a_date_met_twice(self):
        self.tick([0, 500, 500, 1000, 1500])
        self.bad("I22", "met twice")

    def test_a_date_left_out(self):
        self.tick([0, 500, 1000, 1500])
        self.bad("I22", "4 dates of 5")


class Lines(unittest.TestCase):
    def test_a_line_is_read_as_it_was_written(self):
        shown = line.show({"t": 5, "source": "N", "event": "kill", "pid": 7, "note": "two words"})
        self.assertEqual(line.LENGTH, len(shown))
        read = line.read(shown[:-1])
        self.assertEqual((5, "N", "kill", 7, "two words", None),
                         (read.t, read.source, read.event, read.pid, read.note, read.job))

    def test_a_torn_line_is_none(self):
        shown = line.show({"t": 5, "source": "N", "event": "kill", "pid": 7})
        self.assertIsNone(line.read(shown[:100]))
        self.assertIsNone(line.read(shown[:20] + b"x" + shown[21:-1]))


def main():
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (result.testsRun - bad, bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
