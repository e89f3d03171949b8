# SPDX-License-Identifier: Apache-2.0
"""A daemon whose only devices are those of BMCs, which tests/bmc plays.

    site = bmc_site.BmcSite(mock_machine.HgxMachine(2))     # one BMC: node3, with gpu1 and gpu2
    site.start(); site.wait_for(1, "sideband_device_up", device="gpu1")

    site = bmc_site.FleetSite()                             # one-gpu1, two-gpu1
    for name in ("one", "two"): site.add(name, mock_machine.HgxMachine(1))
    site.configure(); site.start_daemon()
    site.remove("two"); site.reload()
"""

import json
import os
import signal
import sys
import unittest

import exposition
import programs
import site_layout

sys.path.append(programs.runfile("tests/bmc"))
import mock_bmc  # noqa: E402 pylint: disable=wrong-import-position
import mock_machine  # noqa: E402 pylint: disable=wrong-import-position

PASSWORD = "correct-horse-battery-7"
# The shortest interval of a BMC; a value is shown for three.
INTERVAL_S = 5
STALE_S = 3 * INTERVAL_S

BMCS = """bmcs:
  - name: node3
    url: %s
    %s
    user: sideband
    password_file: bmc.password
    requests_per_minute: %d
    links: %s
    devices: %s
"""


class BmcSite(site_layout.Site):
    """A site whose only devices are those of a BMC."""

    def __init__(self, machine, requests_per_minute=120, **behaviour):
        super().__init__()
        self.requests_per_minute = requests_per_minute
        self.url = None  # instead of the BMC's
        self.has_links = False
        os.mkdir(self.path("state"), 0o700)
        self.bmc = mock_bmc.MockBmc(machine, self.folder, password=PASSWORD, **behaviour)

    def start(self, devices='{name: "gpu{index}"}', trust="ca_file: %s"):
        self.bmc.start()
        self.configure(devices, trust)
        self.start_daemon()

    def configure(self, devices='{name: "gpu{index}"}', trust="ca_file: %s"):
        self.set_password(PASSWORD)
        trust = trust % self.bmc.ca_file if "%s" in trust else trust
        section = BMCS % (self.url or self.bmc.url, trust, self.requests_per_minute,
                          str(self.has_links).lower(), devices)
        self.write_config(section)

    def write_config(self, section):
        config = site_layout.CONFIG.format(interval="1s", **site_layout.VM_UUIDS).split("sealing:")[0]
        rest = config[config.index("grpc:"):].replace("http:\n", "http:\n  redfish: true\n") + "state_dir: state\n"
        site_layout.write(self.folder, "sidebandd.yaml", section + rest)

    def set_password(self, password):
        site_layout.write(self.folder, "bmc.password", password + "\n")
        os.chmod(self.path("bmc.password"), 0o600)

    def value(self, name, **labels):
        return exposition.value(self.metrics("operator"), name, **labels)

    def wait_for(self, expected, name, seconds=programs.PATIENCE_S, **labels):
        programs.wait_until(lambda: self.value(name, **labels) == expected,
                            lambda: "%s %s of %s\n%s" % (name, labels, expected, self.daemon.log()), seconds)

    def close(self):
        super().close()
        if self.bmc.port:
            self.bmc.stop()


class FleetSite(BmcSite):
    """Several BMCs, each with an entry of its name in the configuration."""

    def __init__(self):
        super().__init__(mock_machine.HgxMachine(0))  # that one does not listen
        self.bmcs, self.entries = {}, {}
        self.set_password(PASSWORD)

    def add(self, name, machine, settings=None, **behaviour):
        """A BMC that listens. `settings` are those of its entry; None leaves one out."""
        bmc = mock_bmc.MockBmc(machine, self.folder, name=name, password=PASSWORD, **behaviour).start()
        self.bmcs[name] = bmc
        self.entries[name] = {"name": name, "url": bmc.url, "ca_file": bmc.ca_file, "user": "sideband",
                              "password_file": "bmc.password", "requests_per_minute": 120, **(settings or {})}
        return bmc

    def remove(self, name):
        """Takes the entry away; the BMC listens on."""
        del self.entries[name]

    def configure(self, *_):
        entries = ({key: value for key, value in entry.items() if value is not None} for entry in self.entries.values())
        self.write_config("bmcs:\n" + "".join("  - %s\n" % json.dumps(entry) for entry in entries))

    def reload(self):
        """Until the daemon has the configuration."""
        self.configure()
        before = self.daemon.log().count("is in force")
        self.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.daemon.log().count("is in force") > before, self.daemon.log)

    def wait_for_line(self, text):
        programs.wait_until(lambda: text in self.daemon.log(), lambda: text + "\n" + self.daemon.log())

    def close(self):
        try:
            super().close()
        finally:
            for bmc in self.bmcs.values():
                bmc.stop()


class BmcTestCase(unittest.TestCase):
    def site_of(self, machine, **options):
        site = BmcSite(machine, **options)
        self.addCleanup(site.close)
        return site

    def fleet(self):
        site = FleetSite()
        self.addCleanup(site.close)
        return site

    @staticmethod
    def probe(site):
        return programs.run("sidebandd", "--check", "--probe", "--config", "sidebandd.yaml", cwd=site.folder)
