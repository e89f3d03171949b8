# SPDX-License-Identifier: Apache-2.0
"""The status page in a real browser, as the operator and as each tenant. Screenshots are among the test's outputs."""

import datetime
import json
import re
import shutil
import unittest

import browser
import exposition
import programs
import site_layout

# Names that a user must not find on the page.
FOREIGN = {"tenant-a": ("vm2", "vm3", "infer"), "tenant-b": ("vm1", "train")}


# How much of a chart's width the first line covers; to be completed with its selector.
DRAWN_SHARE = """(selector => {
  const canvas = document.querySelector(selector + ' canvas');
  const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const columns = [];
  for (let x = 0; x < width; x += 1) {
    for (let y = 0; y < height; y += 1) {
      const [r, g, b, a] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
      if (a > 200 && r < 90 && b > 130 && b - r > 70) { columns.push(x); break; }
    }
  }
  return columns.length === 0 ? 0 : (columns.at(-1) - columns[0]) / width;
})('%s')"""


def count_of(text):
    return int(text.replace(",", ""))


@unittest.skipIf(browser.why_absent(), browser.why_absent())
class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="250ms")
        cls.addClassCleanup(cls.site.close)
        # The page warns of certificates that expire within a week.
        cls.site.authority.issue("server", valid=datetime.timedelta(days=30))
        # As a service has it: the totals of the device then add up from the start (docs/metrics.md).
        site_layout.write(cls.site.folder, "sidebandd.yaml",
                          cls.site.read("sidebandd.yaml").decode() + "state_dir: state\n")
        cls.site.start()
        cls.page = browser.Browser()
        cls.addClassCleanup(cls.page.close)

    def open(self, user, **options):
        """Opens the page and waits for its data; the page must not complain until the test has ended."""
        status = self.page.open("https://127.0.0.1:%d" % self.site.http_port, self.site.path(user), **options)
        self.assertEqual(status, 200)
        self.page.wait(".badge.fresh")
        self.page.wait(".vms .bar")
        self.addCleanup(lambda: self.assertEqual(self.complaints(), []))

    def complaints(self):
        """Without what the browser says while a test has it offline."""
        return [line for line in self.page.complaints() if "ERR_INTERNET_DISCONNECTED" not in line]

    def body(self):
        return self.page.text("body")[0]

    def counters(self, row):
        """{event: count} in the table of a row, which is opened."""
        self.page.click(row + " > .counters > summary")
        self.page.wait(row + " > .counters table")
        events = self.page.text(row + " > .counters td:nth-child(1)")
        counts = self.page.text(row + " > .counters td:nth-child(2)")
        return dict(zip(events, map(count_of, counts)))

    def test_the_operator_sees_devices_with_their_bus(self):
        self.open("operator")
        self.page.screenshot("operator")
        body = self.body()
        self.assertIn("operator · spiffe://e2e.sideband/operator", body)
        self.assertRegex(body, r"bus\s+[\d.]+( k)? transactions, 0 failed")
        self.assertRegex(body, r"conservation\s+counts add up")
        self.assertEqual([re.match(r"\S+", name.strip()).group() for name in self.page.text("article h3")],
                         ["vm1", "vm2", "vm3"])
        self.assertIn("Confidential: its counters exist in sealed records only.", body)
        self.assertNotIn("context", body.lower(), "contexts are the tenants' own")

    def test_counts_of_the_vms_add_up_to_the_device(self):
        self.open("operator")
        self.page.click("button")
        self.page.wait("button[aria-pressed=true]")
        self.page.click(".body > .total:has-text('whole device') > summary")
        device = self.counters(".body > .total:has-text('whole device')")
        vms = [self.counters(".own:has(h3:text('%s'))" % vm) for vm in ("vm1", "vm2")]
        self.assertGreater(device["sm_active_cycles"], 0)
        for event, count in device.items():
            if all(event in vm for vm in vms):
                self.assertEqual(sum(vm[event] for vm in vms), count, event)

    def test_a_tenant_sees_its_own_and_nothing_of_others(self):
        for user, foreign in FOREIGN.items():
            with self.subTest(user):
                self.open(user)
                self.page.screenshot(user)
                for text in (self.body(), self.site.get(user, "/page/status")[1]):
                    for name in foreign:
                        self.assertNotRegex(text, r"\b%s\b" % name)
                    self.assertNotIn("transactions", text)
        self.open("tenant-a")
        self.assertEqual([name.split()[0] for name in self.page.text("h4")], ["train", "eval"])

    def test_an_identity_outside_the_policy_sees_no_page(self):
        self.assertEqual(self.page.open("https://127.0.0.1:%d" % self.site.http_port, self.site.path("nobody")), 403)
        self.assertEqual(self.body().strip(), "the caller has no valid credentials, or is not in the policy")

    def test_values_are_those_of_the_exposition(self):
        self.open("tenant-a")
        shown = dict(zip(self.page.text(".own > .bar .name"), self.page.text(".own > .bar .value")))
        scrape = self.site.metrics("tenant-a")
        for name in ("sm_active", "tensor_active", "resident"):
            share = exposition.value(scrape, "sideband_vm_%s_ratio" % name, device="gpu0", slice="0", vm="vm1")
            # Of another interval: the workload is steady over the whole of its phases only.
            self.assertAlmostEqual(float(shown[name].split()[0]), 100 * share, delta=25, msg=name)

    def test_charts_draw_the_chosen_share(self):
        self.open("tenant-a")
        self.page.select("select", "tensor_active")
        self.page.wait(".bar.chosen .name:text('tensor_active')")
        self.assertIn("tensor_active of each VM", self.body())
        drawn = ("[...document.querySelectorAll('canvas')].map(c => c.getContext('2d')"
                 ".getImageData(0, 0, c.width, c.height).data.some(v => v > 0))")
        programs.wait_until(lambda: all(self.page.evaluate(drawn)), "a line in every chart")
        self.assertEqual(len(self.page.evaluate(drawn)), 4, "all VMs, vm1, and its two contexts")

    def test_charts_begin_before_the_page_was_opened(self):
        def span_s():
            return exposition.value(self.site.metrics("operator"), "sideband_history_span_seconds", device="gpu0") or 0
        programs.wait_until(lambda: span_s() > 25, "some history")
        for user, chart in (("operator", ".chart.large"), ("tenant-a", ".contexts .chart")):
            self.open(user)
            drawn = DRAWN_SHARE % chart
            # A chart is of 30 s at least, of which what comes from now on fills 15 s.
            programs.wait_until(lambda: (self.page.evaluate(drawn) or 0) > 0.6, "a line of twenty seconds", 15)

    def test_the_legend_has_values(self):
        def legend():
            return self.page.text(".u-legend .u-series")
        self.open("tenant-a")
        programs.wait_until(lambda: re.fullmatch(r"vm1:?\s*[\d.]+ %", legend()[-1]), "the newest value")
        newest = legend()[0]
        self.page.evaluate("(over => over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, "
                           "clientX: over.getBoundingClientRect().right - 200, clientY: "
                           "over.getBoundingClientRect().top + 9})))(document.querySelector('.u-over'))")
        programs.wait_until(lambda: legend()[0] < newest, "an earlier time under the pointer")

    def test_how_a_row_was_counted_is_no_warning(self):
        self.open("operator")
        self.assertEqual(self.page.text(".flag"), [])
        # On a slow machine a device may be late for a while.
        programs.wait_until(lambda: self.page.text(".row .problem") == [], "a device without problems")

    def test_pause_freezes_the_page(self):
        self.open("operator")
        self.page.click("button")
        self.page.wait("button[aria-pressed=true]")
        before = self.page.text("main .vms")
        snapshots = self.site.snapshots()
        # The page would have requested the data twice meanwhile.
        programs.wait_until(lambda: self.site.snapshots() > snapshots + 20, "five seconds of snapshots")
        self.assertEqual(self.page.text("main .vms"), before)
        self.page.click("button")
        programs.wait_until(lambda: self.page.text("main .vms") != before, "new values")

    def test_a_filter_hides_other_vms(self):
        self.open("operator")
        self.page.fill("input", "vm2")
        programs.wait_until(lambda: len(self.page.text("article")) == 1, "one VM")
        self.assertIn("vm2", self.page.text("article h3")[0])

    def test_everything_is_reached_by_keyboard(self):
        self.open("tenant-a")
        reached = []
        for _ in range(12):
            self.page.press("Tab")
            reached.append(self.page.evaluate("document.activeElement.tagName"))
        for element in ("SELECT", "INPUT", "BUTTON", "SUMMARY"):
            self.assertIn(element, reached)
        self.page.evaluate("document.querySelector('.own > .counters > summary').focus()")
        self.page.press("Enter")
        self.page.wait(".own > .counters[open] table")
        self.page.evaluate("document.querySelector('summary.row').focus()")
        self.page.press("Enter")
        programs.wait_until(lambda: self.page.text(".body") == [], "a closed device")

    def test_focus_survives_new_values(self):
        self.open("tenant-a")
        self.page.evaluate("document.querySelector('.own > .counters > summary').focus()")
        before = self.body()
        programs.wait_until(lambda: self.body() != before, "new values")
        self.assertEqual(self.page.evaluate("document.activeElement.tagName"), "SUMMARY")

    def test_a_phone_needs_no_scrolling_to_the_side(self):
        for user in ("tenant-a", "operator"):
            self.open(user, width=360, height=740)
            self.page.click(".own > .counters > summary")
            self.page.wait(".own > .counters table")
            self.page.screenshot("phone-" + user)
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)

    def test_dark_where_the_viewer_prefers_it(self):
        backgrounds = []
        for scheme in ("light", "dark"):
            self.open("operator", scheme=scheme)
            backgrounds.append(self.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.page.screenshot("dark")
        self.assertEqual(backgrounds, ["rgb(255, 255, 255)", "rgb(20, 23, 27)"])

    def test_a_daemon_that_does_not_answer_is_reported(self):
        self.open("operator")
        self.page.set_offline(True)
        self.page.wait(".problem")
        self.assertRegex(self.page.text(".problem")[0], r"the daemon does not answer; the data below is .* old")
        since = self.page.text(".problem")[0]
        programs.wait_until(lambda: self.page.text(".problem")[0] != since, "the age grows")
        self.page.wait("main.stale")
        self.assertEqual(self.page.text(".badge"), ["state unknown"])
        self.page.screenshot("no-answer")
        self.page.set_offline(False)
        self.page.wait("main:not(.stale)")
        self.assertEqual(self.page.text(".problem"), [])


@unittest.skipIf(browser.why_absent(), browser.why_absent())
class DevicePageTest(unittest.TestCase):
    def test_a_device_that_is_away_has_no_values(self):
        site = site_layout.Site(interval="250ms")
        self.addCleanup(site.close)
        site.start()
        with browser.Browser() as page:
            page.open("https://127.0.0.1:%d" % site.http_port, site.path("operator"))
            page.wait(".badge.fresh")
            page.wait(".vms .bar")
            site.device.stop()
            page.wait(".badge.stale")
            programs.wait_until(lambda: page.text(".vms .bar") == [], "no shares")
            page.screenshot("stale")
            self.assertRegex(page.text(".badge")[0], r"stale, .* old")
            self.assertEqual(len(page.text("select")), 1, "the charts remain, with a gap")
            self.assertNotIn("counts add up", page.text("body")[0])
            site.start_device()
            page.wait(".badge.fresh")
            page.wait(".vms .bar")
            self.assertEqual(page.complaints(), [])


HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
BOARD_FAULTS = """seed: 1
rules:
  - {fault: ecc, at: 1, errors: uncorrected, memory: sram}
  - {fault: row_remap, at: 1, errors: uncorrected}
  - {fault: nvlink_down, at: 1, link: 2}
  - {fault: xid, at: 1, xid: 31, text: '%s'}
""" % HOSTILE.replace("'", "''")


@unittest.skipIf(browser.why_absent(), browser.why_absent())
class BoardPageTest(unittest.TestCase):
    """A board of today, damaged, beside a device with counters."""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="500ms")
        cls.addClassCleanup(cls.site.close)
        site = cls.site
        site.authority.issue("server", valid=datetime.timedelta(days=30))
        shutil.copy(programs.runfile("deploy/examples/chip-board.yaml"), site.path("board.yaml"))
        site_layout.write(site.folder, "faults.yaml", BOARD_FAULTS)
        board = programs.Program("sideband-mcu", "serve", "--chip", "board.yaml", "--bus", "unix:gpu1.sock",
                                 "--persona", "nvidia", "--faults", "faults.yaml", cwd=site.folder)
        cls.addClassCleanup(board.kill)
        config = site.read("sidebandd.yaml").decode().replace("500ms}", "500ms, board: {mailbox: off}}")
        site_layout.write(site.folder, "sidebandd.yaml", config.replace("grpc:", (
            "  - {name: gpu1, bus: \"unix:gpu1.sock@0x4f\", interval: 500ms, board: {mailbox: exclusive}}\ngrpc:"), 1))
        site.start()
        cls.page = browser.Browser()
        cls.addClassCleanup(cls.page.close)
        programs.wait_until(lambda: {"messages", "remapped_rows", "ecc", "nvlinks", "partitions"} <= set(cls.board()),
                            "each group of the board")

    @classmethod
    def board(cls):
        return json.loads(cls.site.get("operator", "/page/status")[1])["boards"].get("gpu1", {})

    def open(self, user, **options):
        """The operator's two devices are folded at first."""
        self.page.open("https://127.0.0.1:%d" % self.site.http_port, self.site.path(user), **options)
        self.page.wait(".badge.fresh")
        if user == "operator":
            self.assertEqual(self.page.text(".body"), [])
            for device in ("gpu0", "gpu1"):
                self.page.click("summary.row:has(h2:text('%s'))" % device)
        self.page.wait(".body .bar")

    def facts(self, device):
        """{name: text} of a device."""
        names, texts = (self.page.text("section:has(h2:has-text('%s')) %s" % (device, tag)) for tag in ("dt", "dd"))
        return dict(zip(names, texts))

    def test_the_operator_sees_each_kind(self):
        self.open("operator")
        self.page.wait(".board .partitions table")
        self.page.screenshot("board")
        counters, board = self.facts("gpu0"), self.facts("gpu1")
        self.assertEqual(counters["kind"], "counters")
        self.assertEqual(counters["clock"], "1.40 GHz")
        self.assertNotIn("temperature", counters)
        self.assertEqual((board["kind"], board["clock"], board["boot"]), ("board", "–", "–"))
        for name in ("snapshot", "snapshots", "conservation", "pipeline"):
            self.assertIn(name, counters)
            self.assertNotIn(name, board)
        self.assertRegex(board["temperature"], r"^GPU0 \d+(\.\d)? °C")
        self.assertRegex(board["power"], r"total \d+(\.\d)? of 400 W")
        self.assertRegex(board["memory"], r"^[\d.]+ GiB used$")
        self.assertEqual(board["ECC errors"], "SRAM 0 corrected, 1 uncorrected; DRAM 0 corrected, 0 uncorrected")
        self.assertEqual(board["remapped rows"], "0 corrected, 1 uncorrected, pending")
        self.assertRegex(board["NVLinks"], r"^3 of 4 up \(down: 2\)")
        self.assertRegex(board["PCIe"], r"^generation 4 × 16 lanes")
        programs.wait_until(lambda: self.page.text("section:has(h2:text('gpu0')) .problem") == [], "no problem of gpu0")
        problems = self.page.text("section:has(h2:text('gpu1')) .problem")
        for problem in ("a row waits for its replacement, which needs a reset", "uncorrected ECC errors: SRAM 1",
                        "NVLinks down: 2"):
            self.assertIn(problem, problems)
        self.assertEqual(self.page.text(".partitions tbody th"), ["1", "1, instance 0", "2", "2, instance 0"])
        self.assertEqual(self.page.complaints(), [])

    def test_an_overview_has_a_row_for_each_device(self):
        self.open("operator")
        def names():
            return self.page.text("h2")
        self.assertEqual(names(), ["gpu0", "gpu1"])
        self.page.select("select >> nth=1", "problems")
        programs.wait_until(lambda: names() == ["gpu1", "gpu0"], "problems first")
        self.page.click("input[type=checkbox]")
        programs.wait_until(lambda: names() == ["gpu1"], "only problems")
        self.page.click("summary.row")
        programs.wait_until(lambda: self.page.text(".body") == [], "a folded device")
        row = self.page.text("summary.row")[0]
        self.assertRegex(row, r"\d °C")
        self.assertRegex(row, r"[\d.]+ of 400 W")
        self.assertRegex(row, r"[\d.]+ GiB used")
        self.assertIn("2 partitions", row)
        self.page.screenshot("overview")

    def test_a_text_of_the_board_is_shown_and_does_nothing(self):
        self.open("operator")
        self.page.wait(".messages table")
        self.assertEqual(self.page.text(".messages td.text"), [HOSTILE])
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.messages img').length"), 0)
        self.assertEqual(self.page.evaluate("document.title"), "Sideband")
        self.assertEqual(self.page.complaints(), [])

    def test_a_tenant_sees_nothing_of_it(self):
        self.open("tenant-a")
        body = self.page.text("body")[0]
        for text in (body, self.site.get("tenant-a", "/page/status")[1]):
            for word in ("gpu1", "board", "KIND_BOARD", "°C", "Xid"):
                self.assertNotIn(word, text)

    def test_a_phone_needs_no_scrolling_to_the_side(self):
        self.open("operator", width=360, height=740)
        self.page.wait(".board .partitions table")
        self.page.screenshot("board-phone")
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)


if __name__ == "__main__":
    unittest.main()
