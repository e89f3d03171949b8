#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""No program waits on the wall clock, or reads it other than through its Clock.

A wall clock that is set back by an hour makes each wait on it an hour longer. Abseil's waits with a timeout use the
wall clock. Exceptions are listed in ALLOWED, with their reasons. Tests and fakes may read the wall clock, but wait by
WaitUntil, which ends in vain with what it waited for.
"""

import os
import re
import sys
import unittest

# The tests' runfiles contain, beside this file, a link to the repository's own file.
_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_FOLDERS = ("client", "daemon", "proto", "secure_mcu", "sim")
_IS_TEST = re.compile(r"_test\.cc$|/(fake|expect)_[^/]*$")

# (pattern, alternative)
RULES = (
    (r"\b(Await|Wait|LockWhen|ReaderLockWhen|WriterLockWhen|WaitForNotification)With(Timeout|Deadline)\b",
     "SteadyCondVar::AwaitFor of proto/base/steady_time.h"),
    (r"\b(pthread_cond_timedwait|pthread_mutex_timedlock|sem_timedwait|mq_timed\w+)\b|\btimed_mutex\b",
     "SteadyCondVar::AwaitFor of proto/base/steady_time.h"),
    (r"\bSleepFor\b|\bsleep_(for|until)\b|\b(usleep|nanosleep|sleep)\(", "SteadySleep of proto/base/steady_time.h"),
    (r"\b(system|deadline)_timer\b", "boost::asio::steady_timer"),
    (r"\babsl::(Now|GetCurrentTimeNanos)\b|\b(system|high_resolution)_clock\b|\bgettimeofday\b|\bCLOCK_REALTIME\b|"
     r"\bGPR_CLOCK_REALTIME\b|\bstd::time\(|(?<![\w:.>])time\((nullptr|NULL|0|&)",
     "the Clock (daemon/base/clock.h) that the constructor gets, or SteadyNow() of proto/base/steady_time.h"),
)

# The same for tests and fakes.
RULES_OF_TESTS = (
    (r"\b(Await|Wait|LockWhen|ReaderLockWhen|WriterLockWhen|WaitForNotification)With(Timeout|Deadline)\b|"
     r"\bWaitForNotification\(|\bAwait\(absl::Condition\b|\bBlockingCounter\b", "WaitUntil of proto/base/wait_until.h"),
    (r"\bSleepFor\b|\bsleep_(for|until)\b|\b(usleep|nanosleep|sleep)\(|\bthis_thread::yield\b",
     "WaitUntil of proto/base/wait_until.h, or SteadySleep of proto/base/steady_time.h"),
    (r"\babsl::Now\(\) - start\b|\b(deadline|end|until) = absl::Now\(\)|\babsl::Now\(\) [<>]", "SteadyNow() of proto/base/steady_time.h"),
)

# {(file, the code): reason}
ALLOWED = {
    ("daemon/base/clock.cc", "absl::Now"): "the Clock itself",
    ("client/lib/record_source.cc", "absl::Now"): "a certificate ends at a time of the wall clock",
    ("client/cli/command.h", "absl::Now"): "what `--since 5m` is counted from: the daemon's snapshots have calendar times",
    ("daemon/metrics/self_metrics.cc", "CLOCK_REALTIME"): "the start of the process, since 1970, read once",
    ("secure_mcu/command_line.cc", "absl::Now"): "a driver's messages have calendar times",
    ("client/bus/bus_command.cc", "absl::Now"): "the calendar time at which a capture begins; all else in it is steady",
}


def without_comment(line):
    return line.split("//", 1)[0]


def breaches(path, text):
    """[(line number, code, alternative)] of a file."""
    return [(number, match.group(0), instead)
            for number, line in enumerate(text.splitlines(), 1)
            for pattern, instead in (RULES_OF_TESTS if _IS_TEST.search(path) else RULES)
            for match in re.finditer(pattern, without_comment(line))
            if (path, match.group(0)) not in ALLOWED]


def sources(root):
    """(path below `root`, text) of the C++ sources of the programs."""
    for folder in _FOLDERS:
        for parent, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(parent, name), root)
                if name.endswith((".cc", ".h")):
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        yield path, file.read()


class WallClockTest(unittest.TestCase):
    def setUp(self):
        # The link points to the tree that is being built.
        self.root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))

    def test_nothing_waits_on_it(self):
        files = dict(sources(self.root))
        self.assertIn("daemon/main.cc", files, "the sources are not where they were looked for")
        found = ["%s:%d: %s: use %s" % (path, number, code, instead)
                 for path, text in sorted(files.items()) for number, code, instead in breaches(path, text)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_exception_is_needed(self):
        files = dict(sources(self.root))
        for path, code in ALLOWED:
            self.assertIn(code, files.get(path, ""), "%s has no %s any more" % (path, code))

    def test_each_rule(self):
        for line in ("mu_.AwaitWithTimeout(absl::Condition(&done_), interval)", "cv.WaitWithDeadline(&mu_, at);",
                     "absl::SleepFor(kPoll);", "std::this_thread::sleep_for(1ms);", "pthread_cond_timedwait(&c, &m, &t);",
                     "done.WaitForNotificationWithTimeout(d)", "mu_.LockWhenWithTimeout(c, d)", "usleep(5);",
                     "const absl::Time start = absl::Now();", "environment.now = absl::Now;", "time(nullptr)",
                     "std::chrono::system_clock::now()", "clock_gettime(CLOCK_REALTIME, &now);",
                     "asio::system_timer timer;", "gpr_now(GPR_CLOCK_REALTIME)"):
            self.assertEqual(len(breaches("daemon/x.cc", "int x;\n" + line)), 1, line)
        for line in ("changed_.AwaitFor(mu_, absl::Condition(&done_), interval)", "// absl::Now() + absl::Seconds(2)",
                     "SteadySleep(kPoll);", "clock.Now()", "time(first)", "std::chrono::steady_clock::now()",
                     "entry.time = clock_.Now();", "times.Of(snapshot, host_time)"):
            self.assertEqual(breaches("daemon/x.cc", line), [], line)

    def test_each_rule_of_tests(self):
        for line in ("done.WaitForNotification();", "done.WaitForNotificationWithTimeout(absl::Seconds(30))",
                     "mu_.Await(absl::Condition(&open_));", "while (!done) std::this_thread::yield();",
                     "while (!done) absl::SleepFor(kPoll);", "std::this_thread::sleep_for(1ms);", "usleep(5000);",
                     "absl::BlockingCounter three(3);", "EXPECT_LT(absl::Now() - start, kBound);",
                     "const absl::Time deadline = absl::Now() + absl::Seconds(10);", "while (absl::Now() < deadline) {"):
            self.assertEqual(len(breaches("daemon/x_test.cc", "int x;\n" + line)), 1, line)
            self.assertEqual(len(breaches("daemon/fake_x.h", "int x;\n" + line)), 1, line)
        for line in ('WaitUntil(done, "the answer");', "SteadySleep(kLimit / 8);", "FakeClock clock_{absl::Now()};",
                     "Cause(absl::Now() + absl::Hours(24 * 31))", "const absl::Duration start = SteadyNow();"):
            self.assertEqual(breaches("daemon/x_test.cc", line), [], line)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
