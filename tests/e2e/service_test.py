# SPDX-License-Identifier: Apache-2.0
"""The daemon as a service: what it tells a service manager (sd_notify(3)), and the sockets that it takes from one."""

import json
import os
import signal
import socket
import time
import unittest

import programs
import site_layout


class Manager:
    """The end of the notify socket that a service manager has."""

    def __init__(self, folder):
        self.address = os.path.join(folder, "notify.sock")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(programs.PATIENCE_S)

    def close(self):
        self._socket.close()

    def next(self):
        """The fields of the next message."""
        return dict(line.split("=", 1) for line in self._socket.recv(4096).decode().splitlines())

    def next_with(self, field):
        """The next message with a field; those before it are skipped."""
        while True:
            message = self.next()
            if field in message:
                return message


def listening_socket():
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.bind(("127.0.0.1", 0))
    one.listen()
    return one


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site()
        self.addCleanup(self.site.close)
        self.manager = Manager(self.site.folder)
        self.addCleanup(self.manager.close)

    def start(self, **environment):
        self.site.start_daemon(environment={"NOTIFY_SOCKET": self.manager.address, **environment})

    def test_is_ready_without_a_device_and_says_how_the_devices_are(self):
        self.start()
        self.assertEqual(self.manager.next(), {"READY": "1", "STATUS": "0 of 1 devices fresh"})
        self.site.start_device()
        self.assertEqual(self.manager.next_with("STATUS")["STATUS"], "1 of 1 devices fresh")

    def test_reloads_and_stops(self):
        self.start()
        self.manager.next_with("READY")
        before = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.site.daemon.signal(signal.SIGHUP)
        reloading = self.manager.next_with("RELOADING")
        self.assertGreaterEqual(int(reloading["MONOTONIC_USEC"]), int(before * 1e6))
        self.manager.next_with("READY")
        self.assertEqual(self.site.daemon.stop(), 0)
        self.manager.next_with("STOPPING")

    def test_is_kept_alive_while_all_parts_make_progress(self):
        self.start(WATCHDOG_USEC="600000")  # a device that is away is no reason to restart
        ready = time.monotonic()
        for _ in range(5):
            self.manager.next_with("WATCHDOG")
        self.assertGreater(time.monotonic() - ready, 4 * 0.1, "not more often than needed")

    def test_a_device_that_stops_in_a_transaction_is_no_reason_to_restart(self):
        self.site.start_device()
        self.start(WATCHDOG_USEC="600000")
        self.site.wait_ready()
        self.site.device.signal(signal.SIGSTOP)
        for _ in range(10):
            self.manager.next_with("WATCHDOG")

    def test_takes_sockets_and_keeps_early_clients(self):
        sockets = {"http": listening_socket(), "grpc": listening_socket()}
        for one in sockets.values():
            self.addCleanup(one.close)
        early = socket.create_connection(sockets["http"].getsockname())  # before the daemon has started
        self.addCleanup(early.close)
        self.site.start_device()
        self.site.start_daemon(sockets=sockets)
        self.assertEqual((self.site.http_port, self.site.grpc_port),
                         tuple(one.getsockname()[1] for one in sockets.values()))
        self.site.wait_ready()
        self.assertIn("http: listens on the service manager's socket, not on `listen`", self.site.daemon.log())
        with self.site.tls("operator").wrap_socket(early, server_hostname="127.0.0.1") as client:
            client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b"200 OK", client.recv(4096))

    def test_other_sockets_are_refused_in_one_line(self):
        unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(unix.close)
        unix.bind(self.site.path("other.sock"))
        unix.listen()
        tcp = listening_socket()
        self.addCleanup(tcp.close)
        for sockets, line in (({"https": tcp}, "the inherited socket 'https' has another name than http and grpc "
                                               "(FileDescriptorName=)"),
                              ({"http": unix}, "the inherited socket 'http' is not a listening TCP socket")):
            daemon = programs.Program(*self.site.daemon_command, cwd=self.site.folder, sockets=sockets, log="other.log")
            self.addCleanup(daemon.kill)
            self.assertEqual(daemon.wait(), 2)
            self.assertEqual(daemon.log().splitlines()[-1], "sidebandd: " + line)


class LogFormatTest(unittest.TestCase):
    def log_of(self, log_format):
        site = site_layout.Site()
        self.addCleanup(site.close)
        site_layout.write(site.folder, "sidebandd.yaml",
                          site.read("sidebandd.yaml").decode() + "log: {format: %s}\n" % log_format)
        site.start_daemon()
        self.assertEqual(site.daemon.stop(), 0)
        return site.daemon.log().splitlines()

    def test_every_line_has_the_format(self):
        for line in self.log_of("json"):
            self.assertEqual(set(json.loads(line)), {"time", "level", "msg"})
        for line in self.log_of("logfmt"):
            self.assertRegex(line, r'^time=\S+Z level=\w+ msg=".*"$')
        lines = self.log_of("auto")  # no journal here
        for line in lines:
            self.assertRegex(line, r"^\S+Z (info|warning|error) .+$")
        self.assertIn("info stopping", [line.partition(" ")[2] for line in lines])


if __name__ == "__main__":
    unittest.main()
