# SPDX-License-Identifier: Apache-2.0
"""Redfish: the daemon as foreign clients see it, who sees what, and the same values as over gRPC.

The clients are Debian's, unmodified: redfishtool, python3-sushy, and HPE's ilorest with its library. They bring a bearer
token in X-Auth-Token; sushy and curl also a client certificate. The board is deploy/examples/chip-board.yaml: tenant A
has partition 2, tenant B one metric of partition 1.
"""

import json
import re
import shutil
import unittest
import xml.etree.ElementTree

import redfish
import sushy
import sushy.auth
import sushy.connector
import sushy.resources.system.processor

import programs
import site_layout
import tokens

POLICY = """version: 1
operators:
  - {{name: operator, identities: ["{trust}operator"]}}
auditors:
  - {{name: auditor, identities: ["{trust}auditor"]}}
tenants:
  - name: tenant-a
    identities: ["{trust}tenant-a"]
    partitions: [{{device: gpu0, gpu_instance: 2}}]
  - name: tenant-b
    identities: ["{trust}tenant-b"]
    partitions: [{{device: gpu0, gpu_instance: 1, events: [dram_usage]}}]
""".format(trust=site_layout.TRUST)
CHASSIS = "/redfish/v1/Chassis"
SENSORS = CHASSIS + "/gpu0/Sensors"
ENVIRONMENT = CHASSIS + "/gpu0/EnvironmentMetrics"
PROCESSORS = "/redfish/v1/Systems/Host/Processors"
TELEMETRY = "/redfish/v1/TelemetryService"
REPORTS = TELEMETRY + "/MetricReports"
TIME = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")


def with_redfish(config):
    return config.replace("http:\n", "http:\n  redfish: true\n").replace(
        "client_ca_file: ca.pem}", "client_ca_file: ca.pem, client_auth_type: VerifyClientCertIfGiven}")


class RedfishSite(site_layout.Site):
    """A site with Redfish, and tokens of its users; `chip` is an example of deploy/examples."""

    def __init__(self, chip, policy):
        super().__init__("500ms")
        shutil.copy(programs.runfile("deploy/examples/" + chip), self.path("chip.yaml"))
        self.authority.issue("auditor", uri=site_layout.TRUST + "auditor")
        issuer = tokens.Issuer("k1")
        site_layout.write(self.folder, "jwks.json", tokens.jwks(issuer))
        site_layout.write(self.folder, "policy.yaml", policy)
        config = with_redfish(self.read("sidebandd.yaml").decode())
        site_layout.write(self.folder, "sidebandd.yaml",
                          config.replace("interval: 500ms}", "interval: 500ms, board: {mailbox: exclusive}}") +
                          "tokens: {jwks_file: jwks.json, audience: %s}\naudit: {file: audit.jsonl}\n" % tokens.AUDIENCE)
        self.tokens = {user: issuer.token(site_layout.TRUST + user, lifetime_s=3600)
                       for user in ("operator", "tenant-a", "tenant-b", "auditor", "stranger")}

    def json(self, user, path):
        """The resource, which must exist."""
        status, fields, body = self.request(user, path)
        if status != 200:
            raise AssertionError("%s of %s: %d %s" % (path, user, status, body))
        if fields["OData-Version"] != "4.0" or not fields["Content-Type"].startswith("application/json"):
            raise AssertionError("%s: %s" % (path, fields))
        return json.loads(body)

    def members(self, user, path):
        return [member["@odata.id"] for member in self.json(user, path)["Members"]]

    def values(self, user, report):
        return self.json(user, REPORTS + "/" + report)["MetricValues"]

    def crawl(self, user):
        """{URI: resource} of all that can be reached from the root."""
        found, to_visit = {}, ["/redfish/v1/"]
        while to_visit:
            uri = to_visit.pop()
            if uri in found:
                continue
            found[uri] = self.json(user, uri)
            to_visit += links(found[uri])
        return found


def links(resource):
    if isinstance(resource, list):
        return [uri for item in resource for uri in links(item)]
    if not isinstance(resource, dict):
        return []
    own = [resource["@odata.id"]] if "@odata.id" in resource else []
    return own + [uri for value in resource.values() for uri in links(value)]


class BoardTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = RedfishSite("chip-board.yaml", POLICY)
        cls.addClassCleanup(cls.site.close)
        device = cls.site.start_device("--persona", "nvidia")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")
        cls.site.start_daemon()
        programs.wait_until(lambda: cls.site.values("tenant-b", "Partitions"), "the partitions' second capture")


class ResourcesTest(BoardTestCase):
    def test_every_resource_follows_the_rules(self):
        for user, least in (("operator", 60), ("tenant-a", 20), ("auditor", 11)):
            found = self.site.crawl(user)
            self.assertGreaterEqual(len(found), least, user)
            for uri, resource in found.items():
                self.assertEqual(resource["@odata.id"], uri)
                self.assertRegex(resource["@odata.type"], r"\A#\w+(\.v\d+_\d+_\d+)?\.\w+\Z")
                self.assertTrue(resource["Name"], uri)
                if "Members" in resource:
                    self.assertEqual(len(resource["Members"]), resource["Members@odata.count"], uri)
                elif uri != "/redfish/v1/":
                    self.assertEqual(resource["Id"], uri.rpartition("/")[2])

    def test_types_are_in_the_metadata(self):
        _, fields, text = self.site.request(None, "/redfish/v1/$metadata")
        self.assertEqual(fields["Content-Type"], "application/xml; charset=utf-8")
        names = {element.get("Namespace") for element in xml.etree.ElementTree.fromstring(text).iter()}
        for uri, resource in self.site.crawl("operator").items():
            self.assertIn(resource["@odata.type"].lstrip("#").rpartition(".")[0], names, uri)

    def test_the_schema_has_what_is_its_own(self):
        """Validators look for it in the file that the metadata names; others begin at JsonSchemas."""
        edmx, edm = ("{http://docs.oasis-open.org/odata/ns/%s}" % name for name in ("edmx", "edm"))
        metadata = xml.etree.ElementTree.fromstring(self.site.request(None, "/redfish/v1/$metadata")[2])
        own, = (reference for reference in metadata.iter(edmx + "Reference") if reference.get("Uri").startswith("/"))
        status, fields, text = self.site.request("tenant-a", own.get("Uri"))
        self.assertEqual((status, fields["Content-Type"]), (200, "application/xml; charset=utf-8"))
        namespaces = {schema.get("Namespace"): schema
                      for schema in xml.etree.ElementTree.fromstring(text).iter(edm + "Schema")}
        self.assertEqual({include.get("Namespace") for include in own.iter(edmx + "Include")}, set(namespaces))
        file = self.site.json("tenant-a", self.site.members("tenant-a", "/redfish/v1/JsonSchemas")[0])
        definitions = self.site.json("tenant-a", file["Location"][0]["Uri"])["definitions"]
        values = self.site.values("operator", "BoardSensors") + self.site.values("operator", "Partitions")
        self.assertTrue(values)
        for value in values:
            oem = value["Oem"]["Sideband"]
            namespace, _, name = oem["@odata.type"].lstrip("#").rpartition(".")
            kind, = (kind for kind in namespaces[namespace].iter(edm + "ComplexType") if kind.get("Name") == name)
            properties = {known.get("Name") for known in kind.iter(edm + "Property")}
            self.assertLessEqual(set(oem) - {"@odata.type"}, properties)
            self.assertEqual(set(definitions[name]["properties"]), properties)
        self.assertEqual(self.site.request(None, own.get("Uri"))[0], 401)

    def test_a_sensor(self):
        sensor = self.site.json("operator", SENSORS + "/temperature_gpu")
        self.assertEqual((sensor["ReadingType"], sensor["ReadingUnits"]), ("Temperature", "Cel"))
        self.assertGreater(sensor["Reading"], 0)
        self.assertRegex(sensor["ReadingTime"], TIME)
        _, fields, _ = self.site.request("operator", SENSORS + "/temperature_gpu", method="HEAD")
        self.assertEqual(fields["Allow"], "GET, HEAD")
        self.assertEqual(fields["Link"], "<http://redfish.dmtf.org/schemas/v1/Sensor.v1_7_0.json>; rel=describedby")

    def test_thresholds_are_the_limits_of_the_board(self):
        def thresholds(name):
            return {severity: threshold["Reading"] for severity, threshold in
                    self.site.json("operator", SENSORS + "/" + name).get("Thresholds", {}).items()}
        programs.wait_until(lambda: thresholds("temperature_gpu"), "the board's limits")
        self.assertEqual(thresholds("temperature_gpu"), {"UpperCaution": 82, "UpperCritical": 90, "UpperFatal": 97})
        self.assertEqual(thresholds("temperature_memory"), {"UpperCritical": 95})
        programs.wait_until(lambda: thresholds("power_total") == {"UpperCaution": 400}, "the limit of the power")
        for member in self.site.json("tenant-a", SENSORS + "?$expand=.")["Members"]:
            self.assertNotIn("Thresholds", member)

    def test_a_device_is_a_processor(self):
        names = {"Metrics", "EnvironmentMetrics", "MemorySummary", "Model", "OperatingSpeedMHz"}
        uri = PROCESSORS + "/gpu0"
        programs.wait_until(lambda: names <= set(self.site.json("operator", uri)), "the board's values")
        processor = self.site.json("operator", uri)
        self.assertEqual(processor["ProcessorType"], "GPU")
        self.assertEqual(processor["Links"]["Chassis"]["@odata.id"], CHASSIS + "/gpu0")
        self.assertEqual(processor["Model"], self.site.json("operator", CHASSIS + "/gpu0")["Model"])
        self.assertEqual(processor["MemorySummary"], {"ECCModeEnabled": True}, "the board does not tell the size")
        self.assertIn("OperatingSpeedMHz", self.site.json("operator", processor["Metrics"]["@odata.id"]))
        names = ("TemperatureCelsius", "PowerWatts", "EnergyJoules")
        programs.wait_until(lambda: set(names) <= set(self.site.json("operator", ENVIRONMENT)), "the energy")
        environment = self.site.json("operator", processor["EnvironmentMetrics"]["@odata.id"])
        for name in names:
            source = self.site.json("operator", environment[name]["DataSourceUri"])
            self.assertIsInstance(environment[name]["Reading"], (int, float))
            self.assertIn(source["ReadingType"], ("Temperature", "Power", "EnergyJoules"))
        joules = environment["EnergyJoules"]["Reading"]
        self.assertAlmostEqual(environment["EnergykWh"]["Reading"] * 3.6e6, joules, places=3)

    def test_reports_have_what_grpc_has(self):
        """Names and labels, for each user; and each value has a definition."""
        for user in ("operator", "tenant-a", "tenant-b"):
            definitions = {uri.rpartition("/")[2]: self.site.json(user, uri)
                           for uri in self.site.members(user, TELEMETRY + "/MetricDefinitions")}

            def reported():
                series = set()
                for value in self.site.values(user, "BoardSensors") + self.site.values(user, "Partitions"):
                    oem = value["Oem"]["Sideband"]
                    self.assertEqual(oem["Device"], "gpu0")
                    self.assertRegex(value["Timestamp"], TIME)
                    series.add((definitions[value["MetricId"]]["Oem"]["Sideband"]["Metric"],
                                tuple(sorted(oem.get("Labels", {}).items()))))
                return series

            def expected():
                sensors = json.loads(self.site.sideband(user, "sensors", "--format", "json").stdout)["devices"]
                return {(sensor["name"], tuple(sorted((label["name"], label["value"]) for label in sensor["labels"])))
                        for device in sensors for sensor in device["sensors"]}
            programs.wait_until(lambda: reported() == expected(), "the same series over gRPC")
            self.assertTrue(expected())

    def test_a_property_of_a_report_is_a_reading(self):
        values = [value for value in self.site.values("operator", "BoardSensors") if "MetricProperty" in value]
        self.assertTrue(values)
        for value in values:
            uri, name = value["MetricProperty"].split("#/")
            self.assertIsInstance(self.site.json("operator", uri)[name], (int, float))

    def test_pages(self):
        first = self.site.json("operator", SENSORS + "?$top=2")
        self.assertEqual(len(first["Members"]), 2)
        everything, page = list(first["Members"]), first
        while "Members@odata.nextLink" in page:
            page = self.site.json("operator", page["Members@odata.nextLink"])
            everything += page["Members"]
        self.assertEqual([member["@odata.id"] for member in everything], self.site.members("operator", SENSORS))
        for query, status, code, word in (
                ("?$filter=x", 501, "QueryNotSupported", "$filter"),
                ("?$select=Id", 501, "QueryNotSupported", "$select"),
                ("?$top=x", 400, "QueryParameterValueError", "$top"),
                ("?$skip=-1", 400, "QueryParameterValueError", "$skip"),
                ("?$expand=x", 400, "QueryParameterValueError", "$expand"),
                ("?$expand=.($levels=2)", 400, "QueryParameterOutOfRange", "$levels"),
                ("/gpu0?$expand=.", 501, "QueryNotSupported", "$expand")):
            got, _, body = self.site.request("operator", CHASSIS + query)
            self.assertEqual((got, self.check_error(body)), (status, "Base.1.16." + code), query)
            self.assertIn(word, body, query)
        self.site.json("operator", CHASSIS + "?only")

    def test_expanded_members(self):
        """Members are those that their links lead to; values change from one request to the next."""
        def shape(member):
            return {name: value for name, value in member.items() if name not in ("Reading", "ReadingTime")}
        def expanded(user, option):
            """The members; None where the board has told another sensor between two requests."""
            members = self.site.json(user, SENSORS + "?$expand=" + option)["Members"]
            return members if [member["@odata.id"] for member in members] == self.site.members(user, SENSORS) else None
        for user in ("operator", "tenant-a"):
            for option in (".", "*", ".($levels=1)"):
                first = programs.wait_until(lambda: expanded(user, option), "members of the links")[0]
                self.assertEqual(shape(first), shape(self.site.json(user, first["@odata.id"])))
            for member in programs.wait_until(lambda: expanded(user, "~"), "links"):
                self.assertEqual(set(member), {"@odata.id"})
        page = self.site.json("operator", SENSORS + "?$expand=.&$top=1")
        self.assertIn("Reading", self.site.json("operator", page["Members@odata.nextLink"])["Members"][0])
        self.assertEqual(self.site.request("auditor", SENSORS + "?$expand=.")[0], 404)

    def check_error(self, body):
        error = json.loads(body)["error"]
        self.assertEqual(set(error), {"code", "message", "@Message.ExtendedInfo"})
        info = error["@Message.ExtendedInfo"][0]
        self.assertEqual((info["MessageId"], info["Message"]), (error["code"], error["message"]))
        return error["code"]

    def test_it_is_read_only(self):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for path in ("/redfish/v1/SessionService/Sessions", CHASSIS + "/gpu0", CHASSIS + "/gpu9"):
                status, fields, body = self.site.request("operator", path, method=method)
                self.assertEqual((status, fields["Allow"]), (405, "GET, HEAD"), (method, path))
                self.assertEqual(self.check_error(body), "Base.1.16.OperationNotAllowed")


class AccessTest(BoardTestCase):
    def status(self, user, path, fields=None):
        return self.site.request(user, path, fields)[0]

    def test_without_credentials_there_is_nothing_but_the_root(self):
        for path in ("/redfish", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"):
            status, _, body = self.site.request(None, path)
            self.assertEqual(status, 200, path)
            self.assertEqual(body, self.site.request("operator", path)[2], "the same for everybody")
            self.assertNotIn("gpu0", body)
        for path in (CHASSIS, TELEMETRY, REPORTS + "/Counters", "/redfish/v1/nothing", "/redfish/v1/SessionService"):
            for user in (None, "nobody"):
                status, fields, _ = self.site.request(user, path)
                self.assertEqual((status, fields["WWW-Authenticate"]), (401, "Bearer"), (user, path))

    def test_tokens(self):
        mine, yours = self.site.tokens["operator"], self.site.tokens["tenant-a"]
        device = CHASSIS + "/gpu0"
        for fields, status in (({"X-Auth-Token": mine}, 200),
                               ({"Authorization": "Bearer " + mine}, 200),
                               ({"X-Auth-Token": mine, "Authorization": "Bearer " + mine}, 200),
                               ({"X-Auth-Token": mine, "Authorization": "Bearer " + yours}, 401),
                               ({"X-Auth-Token": mine + "A"}, 401),
                               ({"X-Auth-Token": ""}, 401),
                               ({"Authorization": "Basic b3BlcmF0b3I6eA=="}, 401),
                               ({"X-Auth-Token": self.site.tokens["stranger"]}, 403)):
            self.assertEqual(self.status(None, device, fields), status, fields)
        self.assertEqual(self.status("operator", device, {"X-Auth-Token": yours}), 403, "ambiguous")
        self.assertEqual(self.status("nobody", "/metrics", {"X-Auth-Token": mine}), 401, "for Redfish alone")

    def test_what_is_denied_is_as_what_is_absent(self):
        for user, denied, absent in (("tenant-a", SENSORS + "/power_total", SENSORS + "/power_nothing"),
                                     ("tenant-b", SENSORS + "/partition_dram_usage_2", SENSORS + "/partition_dram_usage_9"),
                                     ("auditor", CHASSIS + "/gpu0", CHASSIS + "/gpu9"),
                                     ("tenant-a", ENVIRONMENT, CHASSIS + "/gpu9/EnvironmentMetrics"),
                                     ("tenant-b", PROCESSORS + "/gpu0/ProcessorMetrics",
                                      PROCESSORS + "/gpu9/ProcessorMetrics"),
                                     ("auditor", PROCESSORS + "/gpu0", PROCESSORS + "/gpu9"),
                                     ("auditor", SENSORS, CHASSIS + "/gpu9/Sensors")):
            self.assertEqual(self.status("operator", denied), 200, denied)
            refused, missing = (self.site.request(user, path) for path in (denied, absent))
            self.assertEqual((refused[0], refused[2].replace(denied, absent)), (404, missing[2]), user)

    def test_a_tenant_sees_its_partition(self):
        def sensors(user):
            return {uri.rpartition("/")[2] for uri in self.site.members(user, SENSORS)}
        for name in sensors("tenant-b"):
            self.assertRegex(name, r"\Apartition_dram_usage_1(_\d+)?\Z")
        mine = sensors("tenant-a")
        self.assertGreater(len(mine), 3)
        for name in mine:
            self.assertRegex(name, r"\Apartition_\w+_2(_\d+)?\Z")
        for user in ("tenant-a", "tenant-b"):
            self.assertEqual(self.site.values(user, "BoardSensors"), [])
            for collection in (CHASSIS, PROCESSORS):
                device, = self.site.json(user, collection + "?$expand=.")["Members"]
                for name in ("Model", "EnvironmentMetrics", "Metrics", "MemorySummary", "Throttled"):
                    self.assertNotIn(name, device, user)
        self.assertEqual(self.site.json("auditor", PROCESSORS + "?$expand=.")["Members"], [])

    def test_requests_are_audited(self):
        self.status("tenant-a", CHASSIS + "/gpu9")
        def audited():
            entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
            return {(entry["endpoint"], entry["resource"], entry["decision"]) for entry in entries
                    if entry["kind"] == "access"}
        # A thread of its own writes the log.
        programs.wait_until(lambda: ("GET /redfish", CHASSIS + "/gpu9", "deny") in audited(), "the entry")


class ClientsTest(BoardTestCase):
    """Programs and libraries that know nothing of this service."""

    def run_redfishtool(self, user, *arguments):
        return programs.run("/usr/bin/redfishtool", "-r", "127.0.0.1:%d" % self.site.http_port, "-S", "Always",
                            "-A", "Session", "-t", self.site.tokens[user], *arguments, cwd=self.site.folder)

    def redfishtool(self, user, *arguments):
        """Its output: JSON."""
        result = self.run_redfishtool(user, *arguments)
        self.assertEqual(result.returncode, 0, result)
        return json.loads(result.stdout)

    def test_redfishtool(self):
        self.assertEqual(self.redfishtool("operator", "versions"), {"v1": "/redfish/v1/"})
        self.assertEqual(self.redfishtool("operator", "root")["Product"], "Sideband")
        self.assertEqual(self.redfishtool("operator", "odata")["@odata.context"], "/redfish/v1/$metadata")
        chassis = self.redfishtool("operator", "Chassis", "list")
        self.assertEqual([member["@odata.id"] for member in chassis["Members"]], [CHASSIS + "/gpu0"])
        self.assertEqual(self.redfishtool("operator", "Chassis", "-I", "gpu0")["ChassisType"], "Card")
        self.assertEqual(self.redfishtool("auditor", "Chassis", "list")["Members@odata.count"], 0)
        systems = self.redfishtool("operator", "Systems", "list")
        self.assertEqual([member["@odata.id"] for member in systems["Members"]], ["/redfish/v1/Systems/Host"])
        report = self.redfishtool("tenant-b", "raw", "GET", REPORTS + "/Partitions")
        self.assertEqual({value["MetricId"] for value in report["MetricValues"]}, {"partition_dram_usage"})

    def test_redfishtool_reports_errors(self):
        result = self.run_redfishtool("tenant-a", "raw", "GET", CHASSIS + "/gpu9")
        self.assertNotEqual(result.returncode, 0, result)
        self.assertIn("404", result.stderr)

    def ilorest(self, user, path):
        """What `ilorest rawget` prints after its banner; it logs in nowhere."""
        return programs.run("/usr/bin/ilorest", "rawget", path, "--url", "https://127.0.0.1:%d" % self.site.http_port,
                            "--sessionid", self.site.tokens[user], "--silent", cwd=self.site.folder,
                            environment={"HOME": self.site.folder})

    def test_ilorest(self):
        result = self.ilorest("operator", SENSORS + "/power_total")
        self.assertEqual(result.returncode, 0, result)
        sensor = json.loads(result.stdout[result.stdout.index("{"):])
        self.assertEqual((sensor["@odata.id"], sensor["ReadingUnits"]), (SENSORS + "/power_total", "W"))
        self.assertNotIn("{", self.ilorest("tenant-a", SENSORS + "/power_total").stdout)

    def test_ilorests_library(self):
        client = redfish.RedfishClient(base_url="https://127.0.0.1:%d" % self.site.http_port)
        client.session_key = self.site.tokens["tenant-a"]
        self.assertEqual(client.get(CHASSIS).dict["Members@odata.count"], 1)
        absent = client.get(CHASSIS + "/gpu9")
        self.assertEqual((absent.status, absent.dict["error"]["code"]), (404, "Base.1.16.ResourceMissingAtURI"))
        self.assertEqual(client.head(CHASSIS).status, 200)

    def sushy(self, user, token=False):
        connector = sushy.connector.Connector("https://127.0.0.1:%d" % self.site.http_port,
                                              verify=self.site.path("ca.pem"))
        self.addCleanup(connector.close)
        connector._session.trust_env = False  # the user's proxy does not reach a test
        if token:
            connector.set_http_session_auth(self.site.tokens[user])
        else:
            connector._session.cert = (self.site.path(user + ".pem"), self.site.path(user + ".key"))
        return sushy.Sushy("https://127.0.0.1:%d" % self.site.http_port, connector=connector, auth=NoLogin())

    def test_sushy(self):
        for token in (False, True):
            root = self.sushy("operator", token)
            self.assertEqual(root.redfish_version, "1.15.0")
            chassis, = root.get_chassis_collection().get_members()
            self.assertEqual((chassis.identity, chassis.name), ("gpu0", "gpu0"))
            self.assertEqual(chassis.chassis_type, sushy.CHASSIS_TYPE_CARD)
            self.assertEqual(chassis.status.state, sushy.STATE_ENABLED)
            self.assertTrue(chassis.model)
            processors = sushy.resources.system.processor.ProcessorCollection(root._conn, PROCESSORS)
            processor, = processors.get_members()
            self.assertEqual((processor.identity, processor.processor_type), ("gpu0", sushy.PROCESSOR_TYPE_GPU))
        self.assertEqual(self.sushy("auditor").get_chassis_collection().get_members(), [])
        with self.assertRaises(sushy.exceptions.ResourceNotFoundError):
            self.sushy("auditor").get_chassis(CHASSIS + "/gpu0")


class NoLogin(sushy.auth.AuthBase):
    """The connector has its credentials already."""

    def _do_authenticate(self):
        pass

    def can_refresh_session(self):
        return False


if __name__ == "__main__":
    unittest.main()
