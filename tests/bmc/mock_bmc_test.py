#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The mock BMC is what foreign clients expect, and does wrong exactly what it is told.

The clients are Debian's redfishtool and python3-sushy, unmodified, and a few lines of http.client. With
SIDEBAND_SHARED_DATA the captured trees are served, too.
"""

import base64
import contextlib
import datetime
import gzip
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import cryptography.x509
import sushy
import sushy.auth
import sushy.connector
import sushy.resources.system.processor
from cryptography.hazmat.primitives import serialization

import mock_bmc
import mock_machine

HERE = os.path.dirname(os.path.realpath(__file__))
TREES = os.path.join(os.environ.get("SIDEBAND_SHARED_DATA") or "/nonexistent", "redfish")
ROOT, REPORTS = mock_machine.ROOT, mock_machine.REPORTS
SESSIONS = ROOT + "/SessionService/Sessions"
GPU = mock_machine.GPU.format(gpu="GPU_SXM_1")
ENVIRONMENT = REPORTS + "/HGX_PlatformEnvironmentMetrics_0"
MEMORY = REPORTS + "/HGX_MemoryMetrics_0"
PATIENCE_S = 30


class Client:
    """One keep-alive connection, with a session."""

    def __init__(self, bmc, ca_file=None, host="127.0.0.1"):
        context = ssl.create_default_context(cafile=ca_file or bmc.ca_file)
        self._connection = http.client.HTTPSConnection(host, bmc.port, timeout=PATIENCE_S, context=context)
        self._bmc, self.fields = bmc, {}

    def close(self):
        self._connection.close()

    def ask(self, path, method="GET", body=None, **fields):
        """(status, fields, bytes)"""
        self._connection.request(method, path, body=None if body is None else json.dumps(body),
                                 headers={**self.fields, **{name.replace("_", "-"): fields[name] for name in fields}})
        response = self._connection.getresponse()
        return response.status, response.headers, response.read()

    def log_in(self, password=None, path=SESSIONS):
        """The status; later requests bring the token."""
        asked = {"UserName": self._bmc.user, "Password": password or self._bmc.password}
        status, fields, _ = self.ask(path, "POST", asked)
        if status == 201:
            self.fields, self.session = {"X-Auth-Token": fields["X-Auth-Token"]}, fields["Location"]
        return status

    def status(self, path, method="GET", **fields):
        return self.ask(path, method, **fields)[0]

    def json(self, path):
        status, _, body = self.ask(path)
        if status != 200:
            raise AssertionError("%s: %d %s" % (path, status, body))
        return json.loads(body)

    def values(self, report):
        return {value["MetricProperty"]: value["MetricValue"] for value in self.json(report)["MetricValues"]}


class BmcTestCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sb-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.started = 0

    def start(self, machine=None, **behaviour):
        self.started += 1
        bmc = mock_bmc.MockBmc(machine or mock_machine.HgxMachine(2), self.folder, name="bmc%d" % self.started,
                               **behaviour).start()
        self.addCleanup(bmc.stop)
        return bmc

    def client(self, bmc, log_in=True, **options):
        client = Client(bmc, **options)
        self.addCleanup(client.close)
        if log_in:
            self.assertEqual(client.log_in(), 201)
        return client

    def start_both(self, **behaviour):
        bmc = self.start(**behaviour)
        return bmc, self.client(bmc)

    def until(self, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


class SessionTest(BmcTestCase):
    def test_log_in_and_out(self):
        bmc, client = self.start_both()
        self.assertEqual(client.status(ROOT + "/Systems"), 200)
        self.assertEqual(client.json(SESSIONS)["Members"], [{"@odata.id": client.session}])
        self.assertEqual(client.json(client.session)["UserName"], "sideband")
        self.assertEqual(client.status(client.session, "DELETE"), 204)
        self.assertEqual(client.status(ROOT + "/Systems"), 401)
        self.assertEqual(bmc.counts()["sessions"], 0)

    def test_what_is_open(self):
        client = self.client(self.start(), log_in=False)
        for path in ("/redfish", ROOT, ROOT + "/", ROOT + "/odata", ROOT + "/$metadata"):
            self.assertEqual(client.status(path), 200, path)
        for path in (ROOT + "/Systems", ROOT + "/nothing", SESSIONS, ENVIRONMENT):
            status, fields, _ = client.ask(path)
            self.assertEqual((status, fields["WWW-Authenticate"]), (401, 'Basic realm="mock"'), path)

    def test_wrong_credentials_lock_the_account(self):
        bmc = self.start(lockout_after=3)
        client = self.client(bmc, log_in=False)
        for _ in range(3):
            self.assertEqual(client.log_in("wrong"), 401)
        self.assertEqual(client.log_in(), 401)
        bmc.lockout_s = 0
        self.assertEqual(client.log_in(), 201)
        self.assertEqual(len(bmc.logins), 5)
        self.assertEqual(client.ask(SESSIONS, "POST", {"UserName": "x"})[0], 400)

    def test_basic(self):
        bmc = self.start()
        client = self.client(bmc, log_in=False)
        right, wrong = (("Basic " + base64.b64encode(text).decode()) for text in (b"sideband:mock", b"sideband:x"))
        self.assertEqual(client.status(ROOT + "/Systems", Authorization=right), 200)
        self.assertEqual(client.status(ROOT + "/Systems", Authorization=wrong), 401)
        bmc.basic = False
        self.assertEqual(client.status(ROOT + "/Systems", Authorization=right), 401)

    def test_session_limit(self):
        bmc = self.start(session_limit=2)
        first, second, third = (self.client(bmc, log_in=False) for _ in range(3))
        self.assertEqual([client.log_in() for client in (first, second, third)], [201, 201, 503])
        bmc.session_limit_status = 400
        status, _, body = third.ask(SESSIONS, "POST", {"UserName": bmc.user, "Password": bmc.password})
        self.assertEqual((status, json.loads(body)["error"]["@Message.ExtendedInfo"][0]["MessageId"]),
                         (400, "IDRAC.2.8.RAC0218"))
        self.assertEqual(first.status(first.session, "DELETE"), 204)
        self.assertEqual(third.log_in(), 201)

    def test_sessions_expire(self):
        bmc, client = self.start_both(session_timeout_s=0.1)
        time.sleep(0.15)
        self.assertEqual(client.status(ROOT + "/Systems"), 401)
        bmc.session_timeout_s = 60
        self.assertEqual(client.log_in(), 201)
        manager = client.json(bmc.machine.manager)
        bmc.restart()
        bmc.machine.manager_state = "Starting"
        client.close()
        self.assertEqual(client.status(ROOT + "/Systems"), 401)
        self.assertEqual(client.log_in(), 201)
        self.assertEqual(client.json(bmc.machine.manager)["Status"]["State"], "Starting")
        self.assertNotEqual(client.json(bmc.machine.manager)["LastResetTime"], manager["LastResetTime"])

    def test_writes_are_refused_and_recorded(self):
        bmc, client = self.start_both()
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            self.assertEqual(client.ask(GPU, method, {"a": 1})[0], 403, method)
        self.assertEqual([(write.method, write.path, write.body) for write in bmc.writes],
                         [(method, GPU, b'{"a": 1}') for method in ("POST", "PUT", "PATCH", "DELETE")])

    def test_a_session_ends_by_its_own_token_alone(self):
        bmc, client = self.start_both()
        other = self.client(bmc)
        self.assertEqual([client.status(path, "DELETE") for path in (other.session, SESSIONS + "/9", SESSIONS)],
                         [403] * 3)
        self.assertEqual([write.path for write in bmc.writes], [other.session, SESSIONS + "/9", SESSIONS])
        self.assertEqual(other.status(other.session, "DELETE"), 204)
        self.assertEqual((other.status(client.session, "DELETE"), len(bmc.writes)), (401, 3))
        self.assertEqual(client.status(ROOT + "/Systems"), 200)


class CountTest(BmcTestCase):
    def test_requests_logins_and_connections(self):
        bmc, client = self.start_both()
        for _ in range(3):
            client.json(ROOT)
        self.client(bmc)
        counts = bmc.counts()
        self.assertEqual((counts["requests"], counts["logins"], counts["connections"]), (5, 2, 2))
        self.assertEqual((counts["most_connections"], counts["most_in_flight"], counts["sessions"]), (2, 1, 2))
        self.assertEqual([request.path for request in bmc.requests][1:4], [ROOT] * 3)
        self.assertIn(client.fields["X-Auth-Token"], bmc.tokens_seen)
        self.assertEqual(mock_bmc.most_within([request.at for request in bmc.requests], 60), 5)

    def test_it_is_away_and_comes_back(self):
        bmc, client = self.start_both()
        bmc.stop()
        client.close()
        with self.assertRaises(ConnectionRefusedError):
            client.ask(ROOT)
        client.close()
        bmc.start()
        self.assertEqual(client.status(ROOT + "/Systems"), 200)

    def test_most_within(self):
        self.assertEqual(mock_bmc.most_within([], 60), 0)
        self.assertEqual(mock_bmc.most_within([0, 60, 119.9, 120], 60), 2)
        self.assertEqual(mock_bmc.most_within([0, 59, 59.9, 61, 200], 60), 3)

    def test_one_worker_or_more(self):
        def ask(client):
            with contextlib.suppress(OSError, http.client.HTTPException):
                client.status(ROOT)
        for workers in (1, 4):
            bmc = self.start(workers=workers, latency_s=PATIENCE_S)
            clients = [self.client(bmc, log_in=False) for _ in range(5)]
            threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
            for thread in threads:
                thread.start()
            self.until(lambda: (bmc.in_flight, bmc.working) == (5, workers))
            bmc.stop()
            for thread in threads:
                thread.join()
            self.assertEqual(bmc.most_in_flight, 5)


def member_at(client, name):
    """What a MetricProperty names, in its resource."""
    uri, _, pointer = name.partition("#")
    value = client.json(uri.removesuffix("/Reading"))
    for step in (pointer or "/Reading").split("/")[1:]:
        value = value[int(step) if isinstance(value, list) else step]
    return value


class MachineTest(BmcTestCase):
    def test_reports_and_resources_agree(self):
        whole = mock_machine.HgxMachine(2)
        for machine in (whole, mock_machine.HgxMachine(2, prefix=False), mock_machine.UbbMachine(2)):
            machine.time_s = 1234.5
            bmc, client = self.start_both(machine=machine)
            compared = 0
            for member in client.json(REPORTS)["Members"]:
                for name, text in client.values(member["@odata.id"]).items():
                    self.assertEqual("HGX_" in name, machine is whole, name)
                    value = member_at(client, name)
                    if isinstance(value, (int, float)) and not isinstance(value, bool):
                        self.assertAlmostEqual(float(text), value, places=6, msg=name)
                    else:
                        self.assertEqual(text, str(value).lower() if isinstance(value, bool) else value, name)
                    compared += 1
            self.assertGreater(compared, 70)
            self.assertGreaterEqual(len(bmc.values()), compared)

    def test_values_move(self):
        machine, clock = mock_machine.HgxMachine(3), mock_machine.Clock()
        def at(seconds):
            machine.time_s = seconds
            return machine.values(clock)
        first, second = at(0), at(3600)
        self.assertEqual(first, at(0), "the same time has the same values")
        self.assertGreater(sum(first[name] != second[name] for name in first), len(first) / 2)
        energy = mock_machine.SENSOR.format(gpu="GPU_SXM_3") + "Energy_0"
        power = mock_machine.SENSOR.format(gpu="GPU_SXM_3") + "Power_0"
        last = at(0)[energy]
        for seconds in range(1, 100):
            now = at(seconds)
            self.assertAlmostEqual(now[energy] - last, now[power], delta=15)
            last = now[energy]

    def test_counters_reset_and_wrap(self):
        machine = mock_machine.HgxMachine(2)
        bmc, client = self.start_both(machine=machine)
        name = mock_machine.PORT.format(gpu="GPU_SXM_1", port=3) + "/Metrics#/TXBytes"
        def bytes_now():
            return client.json(name.partition("#")[0])["TXBytes"]
        machine.time_s = 100
        self.assertEqual(bytes_now(), 10**12 + 100 * 5 * 10**9)
        machine.reset_counters("GPU_SXM_1", bmc.clock)
        machine.time_s = 110
        self.assertEqual(bytes_now(), 10 * 5 * 10**9)
        machine.wraps_at = 2**32
        self.assertEqual(bytes_now(), 5 * 10**10 % 2**32)
        machine.fixed[name] = 7
        self.assertEqual((bytes_now(), client.values(REPORTS + "/HGX_ProcessorPortMetrics_0")[name]), (7, "7"))

    def test_an_absent_gpu(self):
        bmc, client = self.start_both()
        bmc.machine.absent.add("GPU_SXM_2")
        self.assertEqual(client.json(GPU)["Status"]["State"], "Enabled")
        for uri in (GPU.replace("_1", "_2"), ROOT + "/Chassis/HGX_GPU_SXM_2"):
            self.assertEqual(client.json(uri)["Status"], {"State": "Absent"})
        self.assertEqual(client.status(GPU.replace("_1", "_2") + "/ProcessorMetrics"), 404)
        self.assertEqual([name for name in client.values(ENVIRONMENT) if "GPU_SXM_2" in name], [])

    def test_the_log_of_xids(self):
        bmc, client = self.start_both()
        log = ROOT + "/Chassis/HGX_GPU_SXM_1/LogServices/XID"
        before = client.json(log)["Oem"]["Nvidia"]
        self.assertEqual(before, {"LatestEntryID": "0", "LatestEntryTimeStamp": "1970-01-01T00:00:00+00:00"})
        bmc.machine.log_xid("GPU_SXM_1", 79, "GPU has fallen off the bus.", bmc.clock)
        after = client.json(log)
        entry, = client.json(after["Entries"]["@odata.id"])["Members"]
        self.assertEqual((entry["Id"], entry["Created"]), tuple(after["Oem"]["Nvidia"].values()))
        self.assertRegex(entry["MessageArgs"][1], r" XID 79 GPU has fallen")
        self.assertEqual(client.json(entry["@odata.id"]), entry)
        self.assertEqual(client.json(log.replace("_1", "_2") + "/Entries")["Members"], [])
        self.assertEqual(len(client.json(ROOT + "/Systems/HGX_Baseboard_0/LogServices/EventLog/Entries")["Members"]), 1)

    def test_clocks(self):
        bmc, client = self.start_both()
        def newest():
            return max(datetime.datetime.fromisoformat(value["Timestamp"])
                       for value in client.json(ENVIRONMENT)["MetricValues"])
        self.assertLess(abs(datetime.datetime.now(mock_machine.UTC) - newest()), datetime.timedelta(seconds=5))
        bmc.clock.set(datetime.datetime(2000, 1, 1, 12, tzinfo=mock_machine.UTC))
        first = newest()
        self.assertEqual(first.year, 2000)
        self.until(lambda: newest() > first)
        self.assertRegex(client.ask(ROOT)[1]["Date"], r"\ASat, 01 Jan 2000 12:0\d:\d\d GMT\Z")
        bmc.clock.jump(-3600)
        self.assertLess(newest(), first)
        bmc.clock.freeze()
        self.assertEqual(newest(), newest())
        before = bmc.values()
        self.until(lambda: bmc.values() != before)
        self.assertTrue(client.json(ROOT + "/Managers/HGX_BMC_0")["DateTime"].startswith("2000-01-01T11:"))

    def test_slow_values_of_a_report_have_different_ages(self):
        bmc, client = self.start_both()
        bmc.clock.freeze()
        for report, oldest in ((ENVIRONMENT, 0), (MEMORY, 28), (REPORTS + "/HGX_ProcessorMetrics_0", 28)):
            ages = [(bmc.clock.now() - datetime.datetime.fromisoformat(value["Timestamp"])).total_seconds()
                    for value in client.json(report)["MetricValues"]]
            self.assertLess(min(ages), 2, report)
            self.assertTrue(oldest <= max(ages) < 30.01, report)

    def test_health(self):
        bmc, client = self.start_both()
        report = REPORTS + "/HGX_HealthMetrics_0"
        self.assertEqual(set(client.values(report).values()), {"OK"})
        bmc.machine.health["GPU_SXM_2"] = "Critical"
        values = client.values(report)
        ill = ROOT + "/Chassis/HGX_GPU_SXM_2#/Status/Health"
        board = ROOT + "/Systems/HGX_Baseboard_0#/Status/Health"
        self.assertCountEqual([name for name, word in values.items() if word == "Critical"],
                              [ill, ill + "Rollup", board, board + "Rollup"])
        self.assertEqual(client.json(GPU.replace("_1", "_2"))["Status"],
                         {"State": "Enabled", "Health": "Critical", "HealthRollup": "Critical"})
        self.assertEqual(client.json(GPU)["Status"], mock_machine.OK)
        for value in client.json(report)["MetricValues"]:
            age = bmc.clock.now() - datetime.datetime.fromisoformat(value["Timestamp"])
            self.assertGreater(age, datetime.timedelta(days=70), "it says when the health has changed")

    def test_what_the_machine_is(self):
        for machine in (mock_machine.HgxMachine(1), mock_machine.HgxMachine(1, prefix=False),
                        mock_machine.UbbMachine(1)):
            _, client = self.start_both(machine=machine)
            tray = client.json(client.json(ROOT + "/Systems")["Members"][0]["@odata.id"])
            self.assertRegex("%(Manufacturer)s %(Model)s" % tray, r"\A(NVIDIA Mock HGX|AMD Mock UBB)\Z")
            manager = client.json(tray["Links"]["ManagedBy"][0]["@odata.id"])
            self.assertEqual(manager["FirmwareVersion"], "mock-1.0")

    def test_amds_timestamps_are_when_a_value_changed(self):
        _, client = self.start_both(machine=mock_machine.UbbMachine(8))
        report = client.json(REPORTS + "/OAM_ProcessorMetrics_0")
        self.assertTrue(report["Timestamp"].startswith("2000-11-29T02:"))
        stamps = {value["MetricProperty"]: value["Timestamp"] for value in report["MetricValues"]}
        self.assertEqual(stamps[ROOT + "/Chassis/OAM_3/Sensors/OAM_3_IBC_STATUS/Reading"], "1970-01-01T00:03:18+00:00")
        self.assertLessEqual(stamps[ROOT + "/Chassis/OAM_3/Sensors/GPU_3_DIE_TEMP/Reading"], report["Timestamp"])


class QueryTest(BmcTestCase):
    processors = ROOT + "/Systems/HGX_Baseboard_0/Processors"

    def test_expand(self):
        bmc, client = self.start_both()
        query = self.processors + "?$expand=.($levels=1)"
        expanded = client.json(query)["Members"]
        self.assertEqual([member["Id"] for member in expanded], ["GPU_SXM_1", "GPU_SXM_2"])
        self.assertEqual(list(expanded[0]["Ports"]), ["@odata.id"])
        self.assertIn("RXBytes", client.json(GPU + "/Ports?$expand=.($levels=2)")["Members"][0]["Metrics"])
        self.assertEqual(client.json(GPU + "?$expand=~")["Links"]["Chassis"]["Id"], "HGX_GPU_SXM_1")
        self.assertEqual(list(client.json(GPU + "?$expand=.")["Links"]["Chassis"]), ["@odata.id"])
        bmc.expand = "broken"
        self.assertNotIn("Id", client.json(query)["Members"][0])
        bmc.expand = "ignored"
        self.assertEqual(list(client.json(query)["Members"][0]), ["@odata.id"])
        bmc.expand = "refused"
        self.assertEqual(client.status(query), 501)
        bmc.expand = "on"
        self.assertEqual(client.status(self.processors + "?$expand=.($levels=7)"), 400)
        self.assertEqual(client.status(self.processors + "?$select=Id"), 501)

    def test_pages(self):
        bmc, client = self.start_both(machine=mock_machine.HgxMachine(8), page_size=3)
        page = client.json(self.processors + "?$expand=.")
        members, pages = page["Members"], 1
        self.assertEqual(page["Members@odata.count"], 8)
        while "Members@odata.nextLink" in page:
            page = client.json(page["Members@odata.nextLink"])
            members, pages = members + page["Members"], pages + 1
        self.assertEqual(([member["Id"] for member in members], pages), (["GPU_SXM_%d" % n for n in range(1, 9)], 3))
        bmc.page_size = None
        self.assertEqual(len(client.json(self.processors + "?$skip=6")["Members"]), 2)
        self.assertEqual(len(client.json(self.processors + "?$top=2")["Members"]), 2)
        for query in ("$top=x", "$skip=-1"):
            self.assertEqual(client.status(self.processors + "?" + query), 400)

    def test_etags(self):
        _, client = self.start_both()
        etag = client.ask(self.processors)[1]["ETag"]
        self.assertEqual(client.ask(self.processors, If_None_Match=etag)[0::2], (304, b""))
        self.assertEqual(client.status(self.processors, If_None_Match='"other"'), 200)

    def test_paths(self):
        bmc = self.start(prefix="/hmc")
        client = self.client(bmc, log_in=False)
        self.assertEqual(client.log_in(path="/hmc" + SESSIONS), 201)
        self.assertEqual(client.status("/hmc" + self.processors + "/"), 200)
        self.assertEqual(client.status(self.processors), 404)
        self.assertTrue(bmc.url.endswith("/hmc"))
        self.assertEqual(client.ask("/hmc" + self.processors, "HEAD")[0::2], (200, b""))


class FaultTest(BmcTestCase):
    def test_statuses(self):
        bmc, client = self.start_both()
        for kind, status, after in (("busy", 503, None), ("busy", 503, 7), ("too_many", 429, 1), ("failed", 500, None),
                                    ("missing", 404, None), ("unauthorized", 401, None)):
            fault = bmc.inject(kind, path="*/HGX_MemoryMetrics_0", times=2, retry_after=after)
            answers = [client.ask(MEMORY) for _ in range(3)]
            self.assertEqual([answer[0] for answer in answers], [status, status, 200], kind)
            self.assertEqual(answers[0][1]["Retry-After"], after and str(after))
            self.assertEqual((client.status(ENVIRONMENT), fault.happened), (200, 2))
        bmc.inject("busy", method="POST", times=1)
        self.assertEqual(client.log_in(), 503)

    def test_options_are_known(self):
        with self.assertRaises(TypeError):
            self.start().inject("busy", retry=1)
        with self.assertRaises(TypeError):
            self.start(sesion_limit=1)

    def test_redirects(self):
        bmc, client = self.start_both()
        for to in (ROOT + "/Chassis", "https://127.0.0.2/redfish/v1"):
            bmc.inject("redirect", to=to, times=1)
            status, fields, _ = client.ask(MEMORY)
            self.assertEqual((status, fields["Location"]), (308, to))

    def test_bodies(self):
        bmc, client = self.start_both()
        def body(kind, **options):
            bmc.mend()
            bmc.inject(kind, **options)
            return client.ask(MEMORY)[2]
        self.assertTrue(body("html").startswith(b"<html>"))
        self.assertEqual(body("empty"), b"")
        for kind, wrong in (("not_json", ValueError), ("not_utf8", UnicodeDecodeError), ("control", ValueError),
                            ("deep", RecursionError)):
            with self.assertRaises(wrong, msg=kind):
                json.loads(body(kind))
        self.assertGreater(len(body("huge", size=1 << 20)), 1 << 20)
        self.assertIn("MetricValues", json.loads(body("huge", size=1 << 20)))
        self.assertIn(b'"MetricValue": "31463", "MetricValue": "', body("duplicate"))

    def test_members(self):
        bmc, client = self.start_both()
        def values(kind, **options):
            bmc.mend()
            bmc.inject(kind, **options)
            return client.json(MEMORY)["MetricValues"]
        self.assertEqual({value["MetricValue"] for value in values("null")}, {None})
        self.assertEqual({value["MetricValue"] for value in values("nan")}, {"nan"})
        self.assertEqual(values("wrong_type")[0]["MetricValue"], {"a": [1]})
        some = [value["MetricValue"] for value in values("set", value=65535, where="GPU_SXM_2_")]
        self.assertEqual(some.count(65535), len(some) / 2)
        self.assertNotIn("Timestamp", values("drop")[0])
        self.assertNotIn("#", "".join(value["MetricProperty"] for value in values("no_fragments")))
        self.assertGreater(len(values("many", count=5000)), 5000)
        bmc.inject("stale")
        for value in client.json(ENVIRONMENT)["MetricValues"]:
            self.assertIs(value["Oem"]["Nvidia"]["MetricValueStale"], True)
        bmc.inject("next_link", to="https://127.0.0.2/redfish/v1")
        self.assertEqual(client.json(ROOT + "/Chassis")["Members@odata.nextLink"], "https://127.0.0.2/redfish/v1")

    def test_forms(self):
        bmc, client = self.start_both()
        bmc.machine.time_s = 5
        bmc.clock.freeze()
        plain = client.ask(MEMORY)[2]
        bmc.inject("chunked", times=1)
        self.assertEqual(client.ask(MEMORY)[2], plain)
        bmc.inject("gzip", times=1)
        self.assertEqual(gzip.decompress(client.ask(MEMORY)[2]), plain)
        bmc.inject("drip", size=4000, seconds=0.01, times=1)
        self.assertEqual(client.ask(MEMORY)[2], plain)
        bmc.inject("close", times=1)
        self.assertEqual(client.ask(MEMORY)[1]["Connection"], "close")
        bmc.inject("slow", seconds=0.1, times=1)
        start = time.monotonic()
        client.ask(MEMORY)
        self.assertGreaterEqual(time.monotonic() - start, 0.1)
        until = threading.Event()
        threading.Timer(0.1, until.set).start()
        bmc.inject("held", until=until, times=1)
        client.ask(MEMORY)
        self.assertTrue(until.is_set())
        bmc.inject("huge_header", times=1)
        with self.assertRaises(http.client.LineTooLong):
            client.ask(MEMORY)

    def test_ends(self):
        bmc, client = self.start_both()
        for kind, wrong in (("truncated", (http.client.IncompleteRead, ssl.SSLError)), ("reset", ConnectionError),
                            ("silent", http.client.RemoteDisconnected)):
            bmc.inject(kind, times=1, **({"seconds": 0.1} if kind == "silent" else {}))
            with self.assertRaises(wrong, msg=kind):
                client.ask(MEMORY)
            client.close()
        bmc.keep_alive_s = 0.05
        self.assertEqual(client.status(MEMORY), 200)
        time.sleep(0.5)
        with self.assertRaises((OSError, http.client.HTTPException)):
            client.ask(MEMORY)
        client.close()
        bmc.keep_alive_s = None
        for kind in ("dropped", "half_closed"):
            bmc.inject(kind, times=1)
            self.assertEqual(client.status(MEMORY), 200, kind)
            with self.assertRaises((OSError, http.client.HTTPException), msg=kind):
                client.ask(MEMORY)
            client.close()
        self.assertEqual(client.status(MEMORY), 200)


class CertificateTest(BmcTestCase):
    def test_it_is_swapped(self):
        bmc, client = self.start_both()
        old = bmc.ca_file
        bmc.swap_certificate("other")
        client.close()
        with self.assertRaises(ssl.SSLCertVerificationError):
            client.status(ROOT)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.client(bmc, ca_file=old)
        self.client(bmc)
        self.assertEqual((len(bmc.logins), len(bmc.connections)), (2, 4))

    def test_a_pin_is_of_the_public_key(self):
        bmc = self.start()
        with open(bmc.ca_file, "rb") as file:
            key = cryptography.x509.load_pem_x509_certificate(file.read()).public_key()
        der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.assertEqual(mock_bmc.public_key_sha256(bmc.ca_file), hashlib.sha256(der).digest())

    def test_a_wrong_name(self):
        bmc = self.start()
        self.client(bmc, host="localhost")
        bmc.swap_certificate("wrong", hosts=("DNS:elsewhere.example",))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.client(bmc)

    def test_tls12(self):
        bmc = self.start()
        bmc.swap_certificate("old", tls12=True)
        context = ssl.create_default_context(cafile=bmc.ca_file)
        with socket.create_connection(("127.0.0.1", bmc.port)) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as connection:
                self.assertEqual(connection.version(), "TLSv1.2")


def serve_tree(test, name):
    return test.start(machine=mock_machine.CapturedTree(os.path.join(TREES, name)))


class TreeTest(BmcTestCase):
    def setUp(self):
        super().setUp()
        self.tree = os.path.join(self.folder, "tree")

    def write(self, uri, text, name="index.json"):
        os.makedirs(self.tree + uri, exist_ok=True)
        with open(os.path.join(self.tree + uri, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_bodies_are_as_saved(self):
        odd = '{"a": 1.50, "a": 2,\n "Members": [{"@odata.id": "/redfish/v1/Chassis/Gone"}]}'
        self.write(ROOT + "/Chassis", odd)
        self.write(ROOT + "/Chassis", '{"saved": true}', "index.$expand=.($levels=2).json")
        client = self.client(self.start(machine=mock_machine.CapturedTree(self.tree)))
        self.assertEqual(client.ask(ROOT + "/Chassis/")[2].decode(), odd)
        self.assertEqual(client.json(ROOT + "/Chassis?$expand=.($levels=2)"), {"saved": True})
        for path in ("/Chassis/Gone", "/../secret", "/%2e%2e/%2e%2e/bmc.key"):
            self.assertEqual(client.status(ROOT + path), 404, path)

    def test_timestamps_move_and_keep_their_distance(self):
        stamps = ("2026-06-29T08:05:27.513+00:00", "2026-06-29T08:05:26.013+00:00", "2026-06-29T02:05:27-0600",
                  "1970-01-01T00:03:18Z")
        self.write(REPORTS + "/R", json.dumps({"MetricValues": [{"Timestamp": stamp} for stamp in stamps]}))
        bmc, client = self.start_both(machine=mock_machine.CapturedTree(self.tree))
        self.assertEqual(client.json(REPORTS)["Members"], [{"@odata.id": REPORTS + "/R"}])
        bmc.clock.set(datetime.datetime(2000, 1, 1, tzinfo=mock_machine.UTC))
        bmc.clock.freeze()
        moved = [value["Timestamp"] for value in client.json(REPORTS + "/R")["MetricValues"]]
        newest, second, third, oldest = moved
        self.assertRegex(newest, r"\A2000-01-01T00:00:0\d\.\d{3}\+00:00\Z")
        self.assertRegex(third, r"\A1999-12-31T1[78]:\d\d:\d\d-0600\Z")
        self.assertRegex(oldest, r"\A1943-.*Z\Z")
        self.assertEqual(datetime.datetime.fromisoformat(newest) - datetime.datetime.fromisoformat(second),
                         datetime.timedelta(seconds=1.5))

    @unittest.skipUnless(os.path.isdir(TREES), "SIDEBAND_SHARED_DATA has no captured trees")
    def test_captured_trees(self):
        for name, report in (("nvidia-gb300-supermicro", "HGX_ProcessorPortMetrics_0"),
                             ("nvidia-gh200", "HGX_PlatformEnvironmentMetrics_0"), ("amd-mi325x", "All")):
            client = self.client(serve_tree(self, name))
            values = client.json("%s/%s" % (REPORTS, report))["MetricValues"]
            newest = max(datetime.datetime.fromisoformat(value["Timestamp"]) for value in values)
            self.assertLess(abs(datetime.datetime.now(mock_machine.UTC) - newest), datetime.timedelta(seconds=60), name)
        for name in os.listdir(TREES):
            if os.path.isdir(os.path.join(TREES, name, "redfish")):
                bmc = serve_tree(self, name)
                path = json.loads(self.client(bmc, log_in=False).ask(ROOT)[2])["Links"]["Sessions"]["@odata.id"]
                client = self.client(bmc, log_in=False)
                self.assertEqual(client.log_in(path=path), 201, name)
                self.assertEqual(client.status(client.session, "DELETE"), 204, name)


class ClientsTest(BmcTestCase):
    """Programs and libraries that know nothing of the mock."""

    def redfishtool(self, bmc, *arguments):
        result = subprocess.run(["/usr/bin/redfishtool", "-r", "127.0.0.1:%d" % bmc.port, "-S", "Always",
                                 "-A", "Session", "-u", bmc.user, "-p", bmc.password, *arguments],
                                capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(bmc.counts()["sessions"], 0, "it logged out")
        return json.loads(result.stdout)

    def sushy(self, bmc):
        connector = sushy.connector.Connector(bmc.url, verify=bmc.ca_file)
        self.addCleanup(connector.close)
        connector._session.trust_env = False  # the user's proxy does not reach a test
        return sushy.Sushy(bmc.url, connector=connector, auth=sushy.auth.SessionAuth(bmc.user, bmc.password))

    def check_processors(self, bmc, system, gpus):
        root = self.sushy(bmc)
        self.assertIn(system, [one.identity for one in root.get_system_collection().get_members()])
        processors = root.get_system("%s/Systems/%s" % (ROOT, system)).processors.get_members()
        found = [one for one in processors if one.processor_type == sushy.PROCESSOR_TYPE_GPU]
        self.assertEqual([one.identity for one in found], gpus)
        self.assertTrue(all(one.model and one.status.state == sushy.STATE_ENABLED for one in found))
        self.assertTrue(root.get_chassis_collection().members_identities)

    def test_redfishtool(self):
        bmc = self.start()
        self.assertEqual(len(self.redfishtool(bmc, "raw", "GET", ENVIRONMENT)["MetricValues"]), 13)
        self.assertEqual(self.redfishtool(bmc, "Chassis", "-I", "HGX_GPU_SXM_1")["ChassisType"], "Component")
        bmc = self.start(machine=mock_machine.UbbMachine(2))
        self.assertEqual(self.redfishtool(bmc, "Systems", "list")["Members"], [
            {"@odata.id": ROOT + "/Systems/UBB", "Id": "UBB"}])
        self.assertEqual(bmc.writes, [])

    def test_sushy(self):
        bmc = self.start()
        self.check_processors(bmc, "HGX_Baseboard_0", ["GPU_SXM_1", "GPU_SXM_2"])
        self.assertEqual((len(bmc.logins), bmc.writes), (1, []))
        self.check_processors(self.start(machine=mock_machine.UbbMachine(2)), "UBB", ["GPU0", "GPU1"])

    def test_sushy_logs_in_again(self):
        bmc = self.start()
        root = self.sushy(bmc)
        bmc.expire_sessions()
        self.assertEqual(root.get_manager("/redfish/v1/Managers/HGX_BMC_0").identity, "HGX_BMC_0")
        self.assertEqual(len(bmc.logins), 2)

    @unittest.skipUnless(os.path.isdir(TREES), "SIDEBAND_SHARED_DATA has no captured trees")
    def test_captured_trees(self):
        bmc = serve_tree(self, "nvidia-gb300-supermicro")
        report = self.redfishtool(bmc, "raw", "GET", REPORTS + "/HGX_MemoryMetrics_0")
        self.assertEqual(len(report["MetricValues"]), 52)
        root = self.sushy(bmc)
        uri = ROOT + "/Systems/HGX_Baseboard_0/Processors/GPU_0"
        processor = sushy.resources.system.processor.Processor(root._conn, uri)
        self.assertEqual((processor.identity, processor.processor_type), ("GPU_0", sushy.PROCESSOR_TYPE_GPU))


class ProgramTest(BmcTestCase):
    def test_it_runs_until_sigterm(self):
        # The kernel kills the program if the test dies.
        program = subprocess.Popen(["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", os.path.join(HERE, "mock_bmc.py"),
                                    "--machine", "hgx", "--gpus", "2", "--folder", self.folder, "--password", "secret",
                                    "--address-file", os.path.join(self.folder, "address"),
                                    "--ca-file", os.path.join(self.folder, "ca.pem"), "--clock", "2000-01-01",
                                    "--fault", "busy,path=*/Chassis,times=1,retry_after=2"],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        url = re.fullmatch(r"listening: (https://127\.0\.0\.1:(\d+))\n", program.stdout.readline())
        with open(os.path.join(self.folder, "address"), encoding="utf-8") as file:
            self.assertEqual(file.read(), url[1] + "\n")
        class Address:
            port, user, password, ca_file = int(url[2]), "sideband", "secret", os.path.join(self.folder, "ca.pem")
        client = self.client(Address)
        self.assertEqual([client.status(ROOT + "/Chassis") for _ in range(2)], [503, 200])
        self.assertTrue(client.json(ROOT + "/Managers/HGX_BMC_0")["DateTime"].startswith("2000-01-01T00:0"))
        program.terminate()
        self.assertEqual(json.loads(program.stdout.readline())["requests"], 4)
        self.assertEqual(program.wait(PATIENCE_S), 0)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
