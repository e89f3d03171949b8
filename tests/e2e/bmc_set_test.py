# SPDX-License-Identifier: Apache-2.0
"""Many BMCs (tests/bmc) of one daemon: hostile ones beside a good one, sets that a reload changes, what ends while a
login is under way, and where secrets are in memory.
"""

import os
import re
import signal
import socket
import sys
import threading
import time

import bmc_site
import exposition
import process_memory
import programs
import site_layout
from bmc_site import PASSWORD, STALE_S

sys.path.append(programs.runfile("tests/bmc"))
import mock_bmc  # noqa: E402 pylint: disable=wrong-import-position
import mock_faults  # noqa: E402 pylint: disable=wrong-import-position
import mock_machine  # noqa: E402 pylint: disable=wrong-import-position

ROOT = mock_machine.ROOT
ENVIRONMENT = mock_machine.REPORTS + "/HGX_PlatformEnvironmentMetrics_0"
ACTIVITY = mock_machine.REPORTS + "/HGX_ProcessorGPMMetrics_0"


def power_of(series, device):
    return exposition.value(series, "sideband_power_watts", device=device, sensor="total")


def activity_of(series, device):
    return exposition.value(series, "sideband_board_sm_activity_ratio", device=device)


def is_up(series, device):
    return exposition.value(series, "sideband_device_up", device=device) == 1


def device_names(series):
    return {dict(labels)["device"] for _, labels in series if "device" in dict(labels)}


def is_closed(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


class HostileTest(bmc_site.BmcTestCase):
    """A BMC for each fault of the mock, beside a good one: what the fault does not concern is there."""

    # Where a fault matters, or what it needs; elsewhere it is on the report of activities.
    OPTIONS = {
        "busy": {"retry_after": 1},
        "too_many": {"retry_after": 1},
        "redirect": {"to": ACTIVITY + "/"},
        "set": {"value": 65535},
        "duplicate": {"path": ENVIRONMENT, "value": "314.63"},
        "stale": {"path": ENVIRONMENT},
        "next_link": {"path": ROOT + "/Systems", "to": ROOT + "/Systems"},  # without an end
    }
    # With these the activities are there.
    HARMLESS = {"redirect", "drop", "duplicate", "stale", "no_fragments", "many", "next_link", "foreign_link",
                "chunked", "close", "slow", "dropped", "half_closed"}
    # After these, the BMC is left alone for a minute.
    TIME_OUTS = {"silent", "held", "drip"}
    LEFT_OUT = {"null": "null", "nan": "not_a_number", "set": "out_of_range", "no_fragments": "no_member"}

    def setUp(self):
        self.site = self.fleet()
        self.faults, self.elsewhere = {}, None

    def add(self, name, kind, **options):
        settings = {"timeout": "2s"} if kind in self.TIME_OUTS else {}
        bmc = self.site.add(name, mock_machine.HgxMachine(1), settings)
        self.faults[name] = bmc.inject(kind, **{"path": ACTIVITY, **self.OPTIONS.get(kind, {}), **options})
        return bmc

    def add_all(self):
        for kind in sorted(mock_faults.FAULTS):
            self.add(kind, kind)
        self.elsewhere = mock_bmc.MockBmc(mock_machine.HgxMachine(1), self.site.folder, name="elsewhere").start()
        self.addCleanup(self.elsewhere.stop)
        self.add("foreign_link", "next_link", to=self.elsewhere.url + ROOT + "/Systems")
        # These answer nothing else.
        for kind in ("silent", "drip", "huge", "deep"):
            self.site.add("all-" + kind, mock_machine.HgxMachine(1), {"timeout": "2s"}).inject(kind)

    def add_refused(self):
        """A BMC that lists its reports and has none; its processors come back at the third time."""
        bmc = self.site.add("refused", mock_machine.HgxMachine(1))
        return bmc.inject("missing", path="*/MetricReports/*"), bmc.inject("missing", path="*/Processors/*", times=4)

    def scrape(self):
        """All series; the good BMC's are fresh in each."""
        series = self.site.metrics("operator")
        age = exposition.value(series, "sideband_board_sample_age_seconds", device="good-gpu1", sensor_group="power")
        self.assertIsNotNone(age, self.site.daemon.log())
        self.assertLess(age, STALE_S)
        for (name, labels), value in series.items():
            if dict(labels).get("device") == "duplicate-gpu1":
                self.assertNotAlmostEqual(value, 314.63, places=3, msg=name)
        return series

    def missing_in(self, series):
        """What is not there and should be: (BMC, what)."""
        missing = [(name, "activity") for name in self.HARMLESS if activity_of(series, name + "-gpu1") is None]
        for name in self.faults:
            if power_of(series, name + "-gpu1") is None and name != "duplicate":
                missing.append((name, "power"))
            if not is_up(series, name + "-gpu1"):
                missing.append((name, "device"))
        return missing

    def wait_for_all(self, condition, seconds=120):
        """The first scrape that meets the condition and lacks nothing."""
        def look():
            series = self.scrape()
            return series if condition(series) and not self.missing_in(series) else None
        return programs.wait_until(look, lambda: "%s\n%s" % (self.missing_in(self.scrape()), self.site.daemon.log()),
                                   seconds)

    def left_out(self, series):
        return {kind: exposition.value(series, "sideband_bmc_values_left_out_total", bmc=kind, reason=reason) or 0
                for kind, reason in self.LEFT_OUT.items()}

    def check_values(self, series):
        for name, fault in self.faults.items():
            with self.subTest(name):
                # A report that is refused, or empty, three times is replaced by resources.
                if name not in self.HARMLESS and fault.happened < 3:
                    self.assertIsNone(activity_of(series, name + "-gpu1"))
        self.assertIsNone(power_of(series, "duplicate-gpu1"), "which of two values is right is not known")
        for kind in ("silent", "drip"):
            self.assertEqual(exposition.value(series, "sideband_bmc_state", bmc="all-" + kind, state="unreachable"), 1)
        self.assertFalse([name for name in device_names(series) if name.startswith("all-")])
        self.assertEqual(self.elsewhere.connections, [], "a link to another origin is not followed")

    def test_every_fault_beside_a_good_one(self):
        site = self.site
        good = site.add("good", mock_machine.HgxMachine(1))
        site.configure()
        site.start_daemon()
        site.wait_for(1, "sideband_device_up", device="good-gpu1")
        programs.wait_until(lambda: power_of(site.metrics("operator"), "good-gpu1"), "its power")
        tasks = "/proc/%d/task" % site.daemon.pid
        threads = len(os.listdir(tasks))
        self.add_all()
        reports, processors = self.add_refused()
        site.reload()

        first = self.wait_for_all(lambda series: all(fault.happened for fault in self.faults.values()))
        self.check_values(first)
        self.assertLess(len(os.listdir(tasks)), threads + 4, "there are %d BMCs more" % (len(site.bmcs) - 1))

        # The reload ends the pauses of those that have timed out. They are then read, but for the report at fault.
        site.wait_for_line("bmc refused: nothing is answered")
        site.reload()
        rises = lambda series: all(self.left_out(series)[kind] > count for kind, count in self.left_out(first).items()
                                   if kind != "no_fragments")
        self.wait_for_all(lambda series: rises(series) and processors.happened == 4 and reports.happened >= 10 and
                          all(self.faults[kind].happened >= 2 for kind in self.TIME_OUTS))
        self.check_values(self.scrape())
        for kind, reason in self.LEFT_OUT.items():
            self.assertGreater(self.left_out(first)[kind], 0, reason)

        # A third answer 404 says that there are no such reports.
        site.reload()
        def is_replaced():
            series = self.scrape()
            corrected = exposition.value(series, "sideband_ecc_errors_total", device="refused-gpu1", kind="corrected",
                                         memory="dram")
            return None not in (power_of(series, "refused-gpu1"), activity_of(series, "refused-gpu1"), corrected)
        programs.wait_until(is_replaced, site.daemon.log)
        line = r"bmc refused: \S*/(\w+) is refused; each GPU's resource is read instead\n"
        self.assertCountEqual(re.findall(line, site.daemon.log()), ["HGX_" + name for name in (
            "PlatformEnvironmentMetrics_0", "ProcessorGPMMetrics_0", "ProcessorMetrics_0", "MemoryMetrics_0")])

        self.assertFalse(site.daemon.ended())
        self.assertEqual([line for line in site.daemon.log().splitlines() if not line.isprintable()], [])
        self.assertLess(site.value("process_resident_memory_bytes"), 200 << 20)
        for name, bmc in {**site.bmcs, "good": good}.items():
            self.assertEqual((len(bmc.logins) <= 1, bmc.writes), (True, []), name)


class TwinMachine(mock_machine.HgxMachine):
    """Two GPUs of one number: GPU_A_1 and GPU_B_1."""

    def name(self, n):
        return "GPU_%s_1" % "AB"[n]


class ChangesTest(bmc_site.BmcTestCase):
    """One set of BMCs, each with a property of its own, and a reload that changes some."""

    TOKEN = "a-token-that-another-program-has-made"
    PACE = 12  # requests a minute, as many as an inventory needs
    MINUTE_S = 55  # some of its requests come late

    def setUp(self):
        self.site = self.fleet()
        add, machine = self.site.add, mock_machine.HgxMachine
        self.counted, self.gone, self.kept = (add(name, machine(1)) for name in ("counted", "gone", "kept"))
        self.paced = add("paced", machine(1), {"requests_per_minute": self.PACE})
        self.mended = add("mended", machine(1), {"password_file": "mended.password"})
        site_layout.write(self.site.folder, "mended.password", "wrong\n")
        self.listed = add("listed", machine(2))
        self.listed.machine.time_s = 1000
        number = self.listed.machine.identity("GPU_SXM_2", "NVIDIA H100 mock")["UUID"]
        self.site.entries["listed"]["devices"] = [{"name": "by-uuid", "id": number.upper()}]
        add("twins", TwinMachine(2))
        self.token = add("token", machine(1), {"user": None, "password_file": None, "session_token_file": "token"})
        site_layout.write(self.site.folder, "token", self.TOKEN + "\n")
        self.token.sessions[self.TOKEN] = (ROOT + "/SessionService/Sessions/elsewhere", time.monotonic())
        self.prefixed = add("prefixed", machine(1), prefix="/hmc")
        add("direct", machine(1, prefix=False))
        add("slow", mock_machine.UbbMachine(1), {"interval": "60s"})
        self.partial = add("partial", machine(2))
        self.partial.machine.absent.add("GPU_SXM_2")
        self.partial.machine.health["GPU_SXM_1"] = "Critical"
        self.site.configure()

    def test_a_set_that_a_reload_changes(self):
        self.check_without_probe()
        self.site.start_daemon()
        self.site.wait_for(1, "sideband_device_up", 40, device="slow-gpu0")  # no second answer is waited for
        series = self.wait_until_up("counted-gpu1", "gone-gpu1", "kept-gpu1", "by-uuid", "twins-gpu1", "token-gpu1",
                                    "prefixed-gpu1", "direct-gpu1", "partial-gpu1")
        programs.wait_until(lambda: len(self.paced.requests) == self.PACE, "all that the paced BMC is asked")
        self.check_names(series)
        self.check_health()
        self.site.wait_for_line("bmc mended: the BMC refuses the login of sideband")
        self.site.wait_for(1, "sideband_bmc_state", bmc="mended", state="login_refused")
        self.change()
        self.check_removed()
        self.check_counters()
        # Both wait for a minute after their last login.
        self.wait_until_up("mended-gpu1")
        programs.wait_until(lambda: len(self.kept.logins) == 2 and len(self.paced.logins) == 2, "second logins", 120)
        for bmc in (self.kept, self.paced, self.mended):
            self.assertGreaterEqual(bmc.logins[1] - bmc.logins[0], self.MINUTE_S)
        self.wait_until_up("kept-gpu1", "paced-gpu1")
        self.check_pace()
        self.assertEqual(self.gone.requests[-1].method, "DELETE", "it is not asked any more")
        self.assertEqual(self.kept.most_in_flight, 1, "what has it now waits for the logout of what had it")
        self.assertEqual((self.token.logins, list(self.token.sessions)), ([], [self.TOKEN]))
        self.assertEqual(self.site.daemon.stop(), 0)
        self.assertEqual(list(self.token.sessions), [self.TOKEN], "another program's session stays")
        for name, bmc in self.site.bmcs.items():
            self.assertEqual((bmc.sessions if bmc is not self.token else {}, bmc.writes), ({}, []), name)

    def wait_until_up(self, *devices):
        """The scrape in which all have a power and are up."""
        def look():
            series = self.site.metrics("operator")
            return series if all(is_up(series, device) and power_of(series, device) for device in devices) else None
        return programs.wait_until(look, self.site.daemon.log, 150)

    def check_without_probe(self):
        result = programs.run("sidebandd", "--check", "--config", "sidebandd.yaml", cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([name for name, bmc in self.site.bmcs.items() if bmc.connections], [])

    def check_names(self, series):
        power = self.listed.values()[mock_machine.SENSOR.format(gpu="GPU_SXM_2") + "Power_0"]
        self.assertAlmostEqual(power_of(series, "by-uuid"), power, places=3)
        self.assertEqual([name for name in device_names(series) if name.startswith("twins")], ["twins-gpu1"])
        self.site.wait_for_line("bmc twins: GPU_B_1 would be device twins-gpu1, too, and is left out")
        self.assertEqual([request.path for request in self.prefixed.requests
                          if not request.path.startswith("/hmc/redfish/v1")], [])

    def check_health(self):
        self.site.wait_for(1, "sideband_board_health", device="partial-gpu1", state="critical")
        self.assertEqual(self.site.value("sideband_board_health", device="partial-gpu1", state="ok"), 0)
        self.site.wait_for(1, "sideband_board_health", device="direct-gpu1", state="ok")
        programs.wait_until(lambda: self.site.value("sideband_board_dram_usage_ratio", device="direct-gpu1"),
                            "the bandwidth of its DRAM")
        self.site.wait_for_line("bmc partial: GPU_SXM_2 is absent, as the BMC says\n")
        self.site.wait_for(0, "sideband_device_up", device="partial-gpu2")
        self.assertEqual(self.site.value("sideband_bmc_up", bmc="partial"), 1)

    def change(self):
        self.site.remove("gone")
        for name in ("kept", "paced"):
            self.site.entries[name]["timeout"] = "20s"
        site_layout.write(self.site.folder, "mended.password", PASSWORD + "\n")
        self.site.reload()
        series = self.site.metrics("operator")
        self.assertTrue(is_up(series, "kept-gpu1") and power_of(series, "kept-gpu1"), self.site.daemon.log())

    def check_removed(self):
        def traces():
            of_gone = {("bmc", "gone"), ("device", "gone-gpu1")}
            return [name for name, labels in self.site.metrics("operator") if labels & of_gone]
        programs.wait_until(lambda: not traces() and not self.gone.sessions, lambda: "%s\n%s" % (
            traces(), self.site.daemon.log()))
        self.assertNotIn("gone-gpu1", self.site.sideband("operator", "devices").stdout)
        log = self.site.daemon.log()
        self.assertEqual((log.count("device kept-gpu1: added"), log.count("device kept-gpu1: removed")), (1, 0))

    def check_counters(self):
        """A counter that begins again, and one that wraps: the series begins again, and does not fall."""
        def energy():
            _, _, body = self.site.request("operator", "/metrics", {"Accept": "application/openmetrics-text"})
            series = exposition.parse(body)
            found = [exposition.value(series, "sideband_energy_joules_" + end, device="counted-gpu1", sensor="total")
                     for end in ("created", "total")]
            self.assertNotIn(None, found, self.site.daemon.log())
            return found
        seen = [energy()]
        def is_later():
            seen.append(energy())
            self.assertGreaterEqual(seen[-1], seen[-2], "(created, total) never falls")
            return seen[-1][0] > seen[start][0]
        machine = self.counted.machine
        for begin_again in (lambda: machine.reset_counters("GPU_SXM_1", self.counted.clock),
                            lambda: setattr(machine, "wraps_at", seen[-1][1] + 100)):
            start = len(seen) - 1
            begin_again()
            programs.wait_until(is_later, lambda: seen)
            self.assertLess(seen[-1][1], 1e6)

    def check_pace(self):
        # The logout of the reload does not wait for its turn.
        times = [request.at for request in self.paced.requests if request.method != "DELETE"]
        self.assertLessEqual(mock_bmc.most_within(times, self.MINUTE_S), self.PACE)
        for name, bmc in self.site.bmcs.items():
            self.assertEqual(mock_bmc.most_within(bmc.logins, self.MINUTE_S), len(bmc.logins) > 0, name)


class UnderWayTest(bmc_site.BmcTestCase):
    """What ends while a login, or a probe, is under way; and where secrets are."""

    TOKEN = "a-token-that-another-program-has-made"

    def setUp(self):
        self.site = self.fleet()

    def held(self, name, **options):
        """A BMC that answers only once; returns it, the fault, and the event that lets it answer."""
        until = threading.Event()
        bmc = self.site.add(name, mock_machine.HgxMachine(1), {"timeout": "60s"})
        self.addCleanup(until.set)
        return bmc, bmc.inject("held", until=until, **options), until

    def places_of(self, program, *secrets):
        """[(dumped, hidden)] of each: how many places of the program's memory have its end."""
        with process_memory.stopped(program):
            found = process_memory.Memory(program.pid).find(secrets, lambda text: [text[-12:].encode()])
        for secret in secrets:
            self.assertEqual(found[secret]["dumped"], [], secret)
        return [len(found[secret]["hidden"]) for secret in secrets]

    def test_the_daemon(self):
        site = self.site
        plain = site.add("plain", mock_machine.HgxMachine(1))
        other = site.add("token", mock_machine.HgxMachine(1),
                         {"user": None, "password_file": None, "session_token_file": "token"})
        site_layout.write(site.folder, "token", self.TOKEN + "\n")
        other.sessions[self.TOKEN] = (ROOT + "/SessionService/Sessions/elsewhere", time.monotonic())
        site.configure()
        site.start_daemon()
        for name in ("plain", "token"):
            site.wait_for(1, "sideband_device_up", device=name + "-gpu1")
        plain_token = next(iter(plain.tokens_seen))
        of_password, of_file, of_session = self.places_of(site.daemon, PASSWORD, self.TOKEN, plain_token)
        self.assertEqual(of_password, 0, "it is wiped after the login")
        self.assertGreater(min(of_file, of_session), 0, "the search finds what is there")
        for secret in (PASSWORD, self.TOKEN, plain_token):
            self.assertNotIn(secret, site.get("operator", "/metrics")[1])

        late, login, until = self.held("late", method="POST")
        site.reload()
        programs.wait_until(lambda: login.happened, site.daemon.log)
        self.assertGreater(*self.places_of(site.daemon, PASSWORD), 0)
        # A reload removes it, and another one, meanwhile: the session that the login makes is ended.
        for name in ("late", "plain"):
            site.remove(name)
        site.reload()
        self.assertEqual(len(late.sessions), 1)
        until.set()
        programs.wait_until(lambda: not late.sessions and not plain.sessions, site.daemon.log)
        late_token = next(iter(late.tokens_seen))
        programs.wait_until(lambda: self.places_of(site.daemon, PASSWORD, plain_token, late_token) == [0, 0, 0],
                            "the wiping of all that is not in use")

        later, login, until = self.held("later", method="POST")
        site.reload()
        programs.wait_until(lambda: login.happened, site.daemon.log)
        site.daemon.signal(signal.SIGTERM)
        # It stops its servers first.
        programs.wait_until(lambda: is_closed(site.http_port) and is_closed(site.grpc_port), site.daemon.log)
        until.set()
        self.assertEqual(site.daemon.wait(), 0)
        self.assertEqual((len(later.logins), later.sessions), (1, {}))
        self.assertEqual((other.logins, list(other.sessions)), ([], [self.TOKEN]))
        for secret in (PASSWORD, self.TOKEN, plain_token, late_token):
            self.assertNotIn(secret, site.daemon.log())
        self.assertEqual([bmc.writes for bmc in site.bmcs.values()], [[]] * 4)

    def test_a_probe(self):
        bmc, fault, until = self.held("one", path=ROOT + "/Systems")
        self.site.configure()
        probe = programs.Program("sidebandd", "--check", "--probe", "--config", "sidebandd.yaml", cwd=self.site.folder,
                                 log="probe.log")
        self.addCleanup(probe.kill)
        programs.wait_until(lambda: fault.happened or probe.ended(), probe.log)
        token = next(iter(bmc.tokens_seen))
        of_password, of_token = self.places_of(probe, PASSWORD, token)
        self.assertEqual(of_password, 0, "it is wiped after the login")
        self.assertGreater(of_token, 0, "the search finds what is there")
        until.set()
        self.assertEqual(probe.wait(), 0, probe.log())
        self.assertEqual((bmc.sessions, bmc.writes), ({}, []))

    def test_a_probe_of_two(self):
        good = self.site.add("good", mock_machine.HgxMachine(1))
        bad = self.site.add("bad", mock_machine.HgxMachine(1), {"password_file": "bad.password"})
        site_layout.write(self.site.folder, "bad.password", "wrong\n")
        self.site.entries = dict(sorted(self.site.entries.items()))  # the bad one first
        self.site.configure()
        result = self.probe(self.site)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^bmc good: GPU_SXM_1, device good-gpu1 \(.*\): .*power, energy")
        self.assertRegex(result.stderr, r"\Asidebandd: bmc bad: the BMC refuses the login of sideband "
                                        r"\((.*/)?bad\.password\): HTTP status 401\n\Z")
        self.assertEqual((len(good.logins), good.sessions, len(bad.logins)), (1, {}, 1))
