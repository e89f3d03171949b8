# SPDX-License-Identifier: Apache-2.0
"""GPUs behind a BMC (tests/bmc) that the daemon reads by Redfish: the values on each surface, what the BMC sees of the
daemon, and what happens when the BMC, its certificate, its sessions or the daemon end.
"""

import datetime
import grp
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

import bmc_site
import exposition
import programs
import site_layout
from bmc_site import INTERVAL_S, PASSWORD, STALE_S

sys.path.append(programs.runfile("tests/bmc"))
import mock_bmc  # noqa: E402 pylint: disable=wrong-import-position
import mock_machine  # noqa: E402 pylint: disable=wrong-import-position

_NGINX = os.path.join(os.environ.get("SIDEBAND_NGINX") or "/usr/sbin", "nginx")


def number_of(text):
    """A number, or the seconds of a duration."""
    duration = re.fullmatch(r"P(?:(\d+)D)?T(?:(\d+)H)?(?:(\d+)M)?([\d.]+)S", str(text))
    if not duration:
        return float(text)
    days, hours, minutes, seconds = (float(part or 0) for part in duration.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


class ValuesTest(bmc_site.BmcTestCase):
    def test_an_hgx_machine_on_every_surface(self):
        machine = mock_machine.HgxMachine(2)
        machine.time_s = 1000  # all values stand still
        site = self.site_of(machine)
        site.has_links = True
        site.start()
        site.wait_for(1, "sideband_device_up", device="gpu1")
        site.wait_for(1, "sideband_device_up", device="gpu2")
        programs.wait_until(lambda: site.value("sideband_remapped_rows_total", device="gpu1", kind="corrected")
                            is not None, "the values of the memory")
        programs.wait_until(lambda: site.value("sideband_nvlink_bytes_total", device="gpu1", link="17", direction="rx")
                            is not None, "the links")
        series, sent = site.metrics("operator"), site.bmc.values()
        chassis = "/redfish/v1/Chassis/HGX_GPU_SXM_1/Sensors/HGX_GPU_SXM_1_"
        system = "/redfish/v1/Systems/HGX_Baseboard_0/"
        metrics = system + "Processors/GPU_SXM_1/ProcessorMetrics#/"
        memory = system + "Memory/GPU_SXM_1_DRAM_0/MemoryMetrics#/"
        link = system + "Processors/GPU_SXM_1/Ports/NVLink_3"
        for name, labels, uri, scale in (
                ("temperature_celsius", {"sensor": "gpu"}, chassis + "TEMP_0", 1),
                ("temperature_celsius", {"sensor": "memory"}, chassis + "DRAM_0_Temp_0", 1),
                ("temperature_margin_celsius", {"sensor": "gpu"}, chassis + "TEMP_1", 1),
                ("power_watts", {"sensor": "total"}, chassis + "Power_0", 1),
                ("energy_joules_total", {"sensor": "total"}, chassis + "Energy_0", 1),
                ("clock_hertz", {"clock": "graphics", "kind": "current"}, metrics + "OperatingSpeedMHz", 1e6),
                ("clock_hertz", {"clock": "memory", "kind": "current"}, memory + "OperatingSpeedMHz", 1e6),
                ("board_tensor_activity_ratio", {}, metrics + "Oem/Nvidia/TensorCoreActivityPercent", 0.01),
                ("board_fp64_activity_ratio", {}, metrics + "Oem/Nvidia/FP64ActivityPercent", 0.01),
                ("board_pcie_tx_bytes_per_second", {}, metrics + "Oem/Nvidia/PCIeRawTxBandwidthGbps", 1.25e8),
                ("board_nvlink_data_rx_bytes_per_second", {}, metrics + "Oem/Nvidia/NVLinkDataRxBandwidthGbps", 1.25e8),
                ("violation_seconds_total", {"kind": "power_limit"}, metrics + "PowerLimitThrottleDuration", 1),
                ("pcie_link_errors_total", {"kind": "recovery"}, metrics + "PCIeErrors/L0ToRecoveryCount", 1),
                ("nvlink_bandwidth_bits_per_second", {"link": "3"}, link + "#/CurrentSpeedGbps", 1e9),
                ("nvlink_bytes_total", {"link": "3", "direction": "tx"}, link + "/Metrics#/TXBytes", 1),
                ("nvlink_bytes_total", {"link": "3", "direction": "rx"}, link + "/Metrics#/RXBytes", 1),
                ("nvlink_errors_total", {"link": "3", "kind": "symbol"}, link + "/Metrics#/Oem/Nvidia/SymbolErrors", 1),
                ("nvlink_errors_total", {"link": "3", "kind": "down"},
                 link + "/Metrics#/Oem/Nvidia/UnintentionalLinkDownCount", 1),
                ("nvlink_errors_total", {"link": "3", "kind": "replay"},
                 link + "/Metrics#/Oem/Nvidia/NVLinkErrors/ReplayCount", 1),
                ("ecc_errors_total", {"kind": "corrected", "memory": "dram"},
                 memory + "LifeTime/CorrectableECCErrorCount", 1)):
            with self.subTest(name, **labels):
                expected = number_of(sent[uri]) * scale
                found = exposition.value(series, "sideband_" + name, device="gpu1", **labels)
                self.assertIsNotNone(found)
                self.assertLessEqual(abs(found - expected), max(1e-6 * expected, 1e-3))
        self.assertEqual([labels for name, labels in series if name == "sideband_vm_flags"], [])
        shown = site.sideband("operator", "sensors", "--device", "gpu1", "--name", "power").stdout
        self.assertRegex(shown, r"(?m)^gpu1 +power +sensor=total +\d+\.\d W$")
        listed = site.sideband("operator", "devices").stdout
        self.assertRegex(listed, r"(?m)^gpu1 ")
        self.assertIn('"gpu2"', site.get("operator", "/page/status")[1])
        self.assertEqual(site.get("operator", "/redfish/v1/Chassis/gpu1/Sensors/power_total")[0], 200)
        for user in ("tenant-a", "tenant-b"):
            self.assertNotIn("power", site.get(user, "/metrics")[1])
            self.assertNotIn("gpu1 ", site.sideband(user, "sensors").stdout)

    def test_a_ubb_machine(self):
        site = self.site_of(mock_machine.UbbMachine(8))
        site.start()
        for device in ("gpu0", "gpu7"):
            site.wait_for(1, "sideband_device_up", device=device)
            programs.wait_until(lambda name=device: site.value("sideband_power_watts", device=name, sensor="total"),
                                "its power")
            programs.wait_until(lambda name=device: site.value("sideband_temperature_celsius", device=name,
                                                               sensor="memory"), "the memory's temperature")
        self.assertIsNone(site.value("sideband_energy_joules_total", device="gpu0", sensor="total"))

    def test_listed_devices_have_their_names(self):
        machine = mock_machine.HgxMachine(3)
        site = self.site_of(machine)
        site.start(devices="[{name: left, id: gpu_sxm_1}, {name: right, id: GPU_SXM_3}, {name: gone, id: GPU_SXM_9}]")
        site.wait_for(1, "sideband_device_up", device="left")
        site.wait_for(1, "sideband_device_up", device="right")
        self.assertEqual(site.value("sideband_device_up", device="gone"), 0)
        self.assertIsNone(site.value("sideband_device_up", device="gpu2"))
        programs.wait_until(lambda: "bmc node3: no GPU has the id 'GPU_SXM_9' of device gone; the BMC has "
                            "GPU_SXM_1, GPU_SXM_2, GPU_SXM_3\n" in site.daemon.log(), site.daemon.log)

    def test_an_xid(self):
        site = self.site_of(mock_machine.HgxMachine(1))
        site.bmc.machine.log_xid("GPU_SXM_1", 31, "MMU fault, before the log is first read", site.bmc.clock)
        site.start()
        programs.wait_until(lambda: site.value("sideband_bmc_period_seconds", bmc="node3", kind="xid"), "the log")
        site.bmc.machine.log_xid("GPU_SXM_1", 79, "GPU has fallen off the bus", site.bmc.clock)
        site.wait_for(1, "sideband_driver_messages_total", 120, device="gpu1", xid="79")
        self.assertIsNone(site.value("sideband_driver_messages_total", device="gpu1", xid="31"))
        self.assertIn("bmc node3: GPU_SXM_1: xid 79: GPU has fallen off the bus", site.daemon.log())

    def test_reports_without_members_are_replaced_by_resources(self):
        site = self.site_of(mock_machine.HgxMachine(1))
        site.bmc.inject("no_fragments", path="*/HGX_Processor*")
        site.start()
        programs.wait_until(lambda: site.value("sideband_board_sm_activity_ratio", device="gpu1") is not None,
                            "an activity")
        self.assertGreater(site.value("sideband_bmc_values_left_out_total", bmc="node3", reason="no_member"), 0)

    @unittest.skipUnless(os.environ.get("SIDEBAND_SHARED_DATA"), "SIDEBAND_SHARED_DATA is not set: no captured answers")
    def test_a_captured_gb300(self):
        tree = os.path.join(os.environ["SIDEBAND_SHARED_DATA"], "redfish", "nvidia-gb300-supermicro")
        site = self.site_of(mock_machine.CapturedTree(tree))
        site.start()
        site.wait_for(1, "sideband_device_up", device="gpu3")
        site.wait_for(32.9375, "sideband_temperature_celsius", device="gpu0", sensor="gpu")


class ManyWaysToFailTest(bmc_site.BmcTestCase):
    def setUp(self):
        self.site = self.site_of(mock_machine.HgxMachine(1))

    def up(self, expected, seconds=programs.PATIENCE_S):
        self.site.wait_for(expected, "sideband_device_up", seconds, device="gpu1")

    def wait_for_line(self, text):
        programs.wait_until(lambda: text in self.site.daemon.log(), lambda: text + "\n" + self.site.daemon.log())

    def test_a_bmc_that_goes_and_comes_back(self):
        self.site.start()
        self.up(1)
        self.site.bmc.stop()
        self.up(0)
        self.assertEqual(self.site.value("sideband_bmc_up", bmc="node3"), 0)
        programs.wait_until(lambda: self.site.value("sideband_power_watts", device="gpu1", sensor="total") is None,
                            "the end of its sensors")
        self.site.bmc.start()
        # A reload ends the pause.
        self.site.daemon.signal(signal.SIGHUP)
        self.up(1)

    def test_a_bmc_that_repeats_itself_is_stale(self):
        self.site.start()
        self.up(1)
        self.site.bmc.clock.freeze()
        self.up(0)
        programs.wait_until(lambda: self.site.value("sideband_power_watts", device="gpu1", sensor="total") is None,
                            "the end of its sensors")
        self.site.bmc.clock.thaw()
        self.up(1)

    def test_a_clock_of_2000_that_jumps(self):
        self.site.bmc.clock.set(datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc))
        self.site.start()
        self.up(1)
        self.site.bmc.clock.jump(-86400)
        time.sleep(2 * INTERVAL_S)
        self.up(1)
        age = self.site.value("sideband_board_sample_age_seconds", device="gpu1", sensor_group="power")
        self.assertLess(age, STALE_S)

    def test_a_wrong_password_is_tried_once(self):
        self.site.bmc.start()
        self.site.configure()
        self.site.set_password("wrong")
        self.site.start_daemon()
        self.wait_for_line("bmc node3: the BMC refuses the login of sideband (bmc.password): HTTP status 401")
        time.sleep(INTERVAL_S)
        self.assertEqual(len([request for request in self.site.bmc.requests if request.method == "POST"]), 1)
        self.site.set_password(PASSWORD)
        time.sleep(0.1)
        self.assertEqual(self.site.value("sideband_bmc_up", bmc="node3"), 0)
        for secret in ("wrong", PASSWORD):
            self.assertNotIn(secret, self.site.daemon.log())

    def test_certificates_that_are_not_trusted(self):
        self.site.bmc.start()
        self.site.configure(trust="ca_file: ca.pem")
        self.site.start_daemon()
        self.wait_for_line("certificate")
        self.assertEqual((self.site.bmc.logins, self.site.bmc.requests), ([], []))
        self.site.configure(trust="pin_sha256: " + "00" * 32)
        self.site.daemon.signal(signal.SIGHUP)
        self.wait_for_line("pin_sha256")
        self.assertEqual(self.site.bmc.requests, [])
        self.site.configure(trust="pin_sha256: " + mock_bmc.public_key_sha256(self.site.bmc.ca_file).hex())
        self.site.daemon.signal(signal.SIGHUP)
        self.up(1)

    def test_a_certificate_that_is_swapped(self):
        self.site.start()
        self.up(1)
        self.site.bmc.swap_certificate("other")
        self.site.bmc.close_connections()
        self.wait_for_line("certificate")
        self.up(0)

    def test_a_report_that_fails(self):
        self.site.bmc.inject("failed", path="*/HGX_MemoryMetrics_0")
        self.site.start()
        self.up(1)
        self.wait_for_line("HGX_MemoryMetrics_0: HTTP status 500")
        self.assertEqual(self.site.value("sideband_bmc_up", bmc="node3"), 1)


class ProbeTest(bmc_site.BmcTestCase):
    def setUp(self):
        self.site = self.site_of(mock_machine.HgxMachine(1))
        self.site.bmc.start()
        self.site.configure()

    def test_what_a_bmc_has(self):
        result = self.probe(self.site)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in (r"NVIDIA Mock HGX, firmware mock-1\.0: 1 GPU, the fastest values every 5s",
                     r"GPU_SXM_1, device gpu1 \(NVIDIA H100 mock\): \d+ values: .*power, energy.*driver_messages.*",
                     r"environment every 5s: HGX_PlatformEnvironmentMetrics_0",
                     r"health every 1m: HGX_HealthMetrics_0", r"xid every 30s: 1 resource",
                     r"these periods take \d\d of 120 requests a minute"):
            self.assertRegex(result.stdout, r"(?m)^bmc node3: %s$" % line)
        self.assertEqual((len(self.site.bmc.logins), len(self.site.bmc.sessions), self.site.bmc.writes), (1, 0, []))

    def test_listed_devices(self):
        self.site.configure(devices="[{name: left, id: gpu_sxm_1}]")
        self.assertIn("bmc node3: GPU_SXM_1, device left (NVIDIA H100 mock): ", self.probe(self.site).stdout)
        self.site.configure(devices="[{name: left, id: GPU_SXM_1}, {name: right, id: GPU_SXM_9}]")
        result = self.probe(self.site)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (
            1, "", "sidebandd: bmc node3: no GPU has the id 'GPU_SXM_9' of device right; the BMC has GPU_SXM_1\n"))

    def test_a_url_without_its_path(self):
        self.site.bmc.prefix = "/hmc"
        result = self.probe(self.site)
        self.assertEqual((result.returncode, result.stderr), (
            1, "sidebandd: bmc node3: there is no Redfish service at the url, which may need a path such as /hmc: HTTP "
               "status 404\n"))

    def test_a_wrong_password(self):
        self.site.set_password("wrong")
        result = self.probe(self.site)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^sidebandd: bmc node3: the BMC refuses the login of sideband "
                                        r"\((.*/)?bmc\.password\): HTTP status 401\n$")

    def test_no_bmc(self):
        config = site_layout.CONFIG.format(interval="1s", **site_layout.VM_UUIDS)
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        result = self.probe(self.site)
        self.assertEqual((result.returncode, result.stderr),
                         (2, "sidebandd: --probe: the configuration has no BMC\n"))


class OtherServerTest(bmc_site.BmcTestCase):
    """Servers that are not ours, in front of the mock or instead of it."""

    def setUp(self):
        self.site = self.site_of(mock_machine.HgxMachine(1))
        self.site.bmc.start()
        self.certificate, self.key = mock_bmc.make_certificate(self.site.folder, "front")

    def run_server(self, *command, **options):
        # It ends with the test, and its processes with it.
        server = subprocess.Popen(["/usr/bin/setpriv", "--pdeathsig", "TERM", "--", *command], cwd=self.site.folder,
                                  text=True, stdin=subprocess.PIPE, **options)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return server

    def configure(self, port):
        self.site.url = "https://127.0.0.1:%d" % port
        self.site.configure(trust="ca_file: front.pem")

    def start_nginx(self, directives):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        port = listening.getsockname()[1]
        # The socket is handed over, so that no other program can have its port.
        site_layout.write(self.site.folder, "nginx.conf", """daemon off; worker_processes 1; user {user} {group}; pid nginx.pid;
            events {{worker_connections 32;}}
            http {{access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                   uwsgi_temp_path uwsgi; scgi_temp_path scgi; ssl_certificate front.pem; ssl_certificate_key front.key;
                   server {{listen 127.0.0.1:{port} ssl; {directives}
                            location / {{proxy_pass {url};}}}}}}
            """.format(port=port, directives=directives, url=self.site.bmc.url,
                       user=pwd.getpwuid(os.geteuid()).pw_name, group=grp.getgrgid(os.getegid()).gr_name))
        descriptor = listening.fileno()
        self.configure(port)
        return self.run_server(_NGINX, "-p", self.site.folder, "-c", "nginx.conf", "-e", "nginx.log",
                               env={"NGINX": "%d;" % descriptor}, pass_fds=(descriptor,))

    @unittest.skipUnless(os.access(_NGINX, os.X_OK), "there is no nginx")
    def test_nginx_with_each_tls_and_connections_of_two_requests(self):
        for tls in ("TLSv1.2", "TLSv1.3"):
            with self.subTest(tls):
                nginx = self.start_nginx("ssl_protocols %s; keepalive_requests 2;" % tls)
                result = self.probe(self.site)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertRegex(result.stdout, r"(?m)^bmc node3: GPU_SXM_1, device gpu1 .*power, energy")
                self.assertEqual((len(self.site.bmc.sessions), self.site.bmc.writes), (0, []))
                nginx.terminate()
        self.assertEqual(len(self.site.bmc.logins), 2)

    @unittest.skipUnless(os.access(_NGINX, os.X_OK), "there is no nginx")
    def test_nginx_while_the_bmc_is_away(self):
        self.start_nginx("")
        self.site.start_daemon()
        self.site.wait_for(1, "sideband_device_up", device="gpu1")
        self.site.bmc.stop()
        self.site.wait_for(0, "sideband_device_up", device="gpu1")
        self.assertGreater(self.site.value("sideband_bmc_requests_total", bmc="node3", code="502"), 0)
        self.assertIn("HTTP status 502", self.site.daemon.log())
        self.site.bmc.start()
        self.site.wait_for(1, "sideband_device_up", 150, device="gpu1")  # after pauses of a minute and more

    def test_servers_of_openssl_that_no_bmc_should_be(self):
        for options, line in (
                (("-tls1_1", "-cipher", "ALL:@SECLEVEL=0"), r"no TLS: tlsv1 alert protocol version \(SSL routines\)"),
                (("-nocert",), r"no TLS: .*alert handshake failure \(SSL routines\)"),
                (("-Verify", "1"), r"the connection failed: .*alert certificate required \(SSL routines\)"),
                (("-rev",), "the answer is not HTTP: bad version")):
            with self.subTest(options):
                certificate = () if "-nocert" in options else ("-cert", self.certificate, "-key", self.key)
                server = self.run_server("/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", *certificate,
                                         *options, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                self.addCleanup(server.stdout.close)
                port = next(int(found[1]) for found in (re.match(r"ACCEPT .*:(\d+)", text) for text in server.stdout)
                            if found)
                self.configure(port)
                result = self.probe(self.site)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertRegex(result.stderr, r"\Asidebandd: bmc node3: %s\n\Z" % line)


class KindnessTest(bmc_site.BmcTestCase):
    def test_what_the_bmc_sees(self):
        site = self.site_of(mock_machine.HgxMachine(8), requests_per_minute=30)
        site.start()
        site.wait_for(1, "sideband_device_up", device="gpu8")
        time.sleep(3 * INTERVAL_S)
        bmc = site.bmc
        self.assertLessEqual(mock_bmc.most_within([request.at for request in bmc.requests], 60), 30)
        self.assertEqual((len(bmc.logins), len(bmc.connections), bmc.most_in_flight, bmc.writes), (1, 1, 1, []))
        self.assertEqual(len(bmc.sessions), 1)
        self.assertEqual(site.value("sideband_bmc_logins_total", bmc="node3"), 1)
        self.assertGreater(site.value("sideband_bmc_requests_total", bmc="node3", code="200"), 8)
        self.assertEqual(site.value("sideband_bmc_period_seconds", bmc="node3", kind="environment"), INTERVAL_S)
        self.assertEqual(site.daemon.stop(), 0)
        self.assertEqual(len(bmc.sessions), 0, "it has logged out")

    def test_after_a_crash_it_does_not_log_in_at_once(self):
        site = self.site_of(mock_machine.HgxMachine(1))
        site.start()
        site.wait_for(1, "sideband_bmc_up", bmc="node3")
        site.daemon.kill()
        site.start_daemon()
        site.wait_for(1, "sideband_bmc_up", bmc="node3")
        self.assertEqual(len(site.bmc.logins), 2)
        self.assertGreaterEqual(site.bmc.logins[1] - site.bmc.logins[0], 9)
        self.assertEqual(len(site.bmc.sessions), 2, "one that the crash has left")
