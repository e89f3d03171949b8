# SPDX-License-Identifier: Apache-2.0
"""A life of the image in a container, with the manifest's configuration and probes. `make_archive` makes the image."""

import json
import os
import re
import shutil
import ssl
import unittest
import urllib.error
import urllib.request

import yaml

import certificates
import container
import exposition
import programs

USER = 19877
# Of the nodes' i2c buses; any number, as no user of the image has it.
BUS_GROUP = 998
MANIFESTS = "deploy/kubernetes/base/"


def manifest(name):
    with open(programs.runfile(MANIFESTS + name), encoding="utf-8") as file:
        return file.read()


def probe(name):
    """The command of the DaemonSet's probe."""
    spec = yaml.safe_load(manifest("daemonset.yaml"))["spec"]["template"]["spec"]
    return spec["containers"][0][name]["exec"]["command"]


def project(folder, files):
    """Lays out a volume as Kubernetes does: links to a folder that is replaced as a whole."""
    for path, content in files.items():
        place = os.path.join(folder, "..data_1", path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)
        os.chown(place, 0, USER)
        os.chmod(place, 0o440)
    os.symlink("..data_1", os.path.join(folder, "..data"))
    for name in {path.split("/")[0] for path in files}:
        os.symlink(os.path.join("..data", name), os.path.join(folder, name))
    os.chmod(folder, 0o755)


class ContainerLife(programs.ProgramTestCase):
    """A base of test cases, each with the bundle of the class."""

    @classmethod
    def make_archive(cls, folder):
        """Makes the image's archive in the folder; returns its path."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        reason = container.why_not()
        if reason:
            raise unittest.SkipTest(reason)
        cls.image_folder = programs.temporary_folder(cls.addClassCleanup)
        cls.archive = cls.make_archive(cls.image_folder)
        cls.bundle = container.unpack(cls.archive, cls.image_folder)

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)  # the container's user reads the mounts
        for name in ("config", "state", "bus"):
            os.mkdir(self.path(name))
            os.chown(self.path(name), USER, USER)
        self.authority = certificates.Authority(self.folder)
        self.authority.issue("server")
        self.authority.issue("operator", uri="spiffe://example.org/operator")
        self.authority.issue("stranger", uri="spiffe://example.org/stranger")

    def lay_out(self, without=None):
        """The volume /etc/sideband. Of the manifest's configuration, the addresses change: no port is fixed, and the bus
        is an emulated one."""
        config = manifest("sidebandd.yaml")
        config, count = re.subn(r"0\.0\.0\.0:\d+", "127.0.0.1:0", config)
        self.assertEqual(count, 2)
        config = config.replace("i2c:/dev/i2c-0@0x4f", "unix:/bus/gpu0.sock@0x4f").replace("interval: 1s", "interval: 100ms")
        files = {"sidebandd.yaml": config.encode() + b"ports_file: /var/lib/sideband/ports\n",
                 "policy.yaml": manifest("policy.yaml").encode()}
        for path, source in (("tls/tls.crt", "server.pem"), ("tls/tls.key", "server.key"), ("tls/ca.crt", "ca.pem")):
            if path != without:
                with open(self.path(source), "rb") as file:
                    files[path] = file.read()
        project(self.path("config"), files)

    def start_device(self):
        shutil.copyfile(programs.runfile("deploy/examples/chip.yaml"), self.path("chip.yaml"))
        device = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:bus/gpu0.sock")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")
        # As udev does with a bus.
        os.chown(self.path("bus/gpu0.sock"), 0, BUS_GROUP)
        os.chmod(self.path("bus/gpu0.sock"), 0o660)
        return device

    def start_container(self):
        started = container.Container(
            self.bundle, self.folder, groups=[USER, BUS_GROUP],
            mounts=[container.mount(self.path("config"), "/etc/sideband", "ro"),
                    container.mount(self.path("bus"), "/bus"), container.mount(self.path("state"), "/var/lib/sideband"),
                    container.temporary("/run/sideband", USER), container.temporary("/var/log/sideband", USER)])
        self.addCleanup(started.kill)
        return started

    def start_and_wait(self):
        self.lay_out()
        self.device = self.start_device()
        self.one = self.start_container()
        programs.wait_until(lambda: self.one.ended() or os.path.exists(self.path("state/ports")), "the ports file")
        self.assertFalse(self.one.ended(), self.one.log())
        programs.wait_until(lambda: self.probed("readinessProbe").returncode == 0,
                            "the readiness probe succeeds\n" + self.one.log())

    def probed(self, name):
        return self.one.exec(*probe(name))

    def get(self, user, path):
        """(status, body) over mutual TLS; the error of the handshake in place of the status."""
        with open(self.path("state/ports"), encoding="utf-8") as file:
            ports = yaml.safe_load(file)
        context = ssl.create_default_context(cafile=self.path("ca.pem"))
        if user:
            context.load_cert_chain(self.path(user + ".pem"), self.path(user + ".key"))
        try:
            with urllib.request.urlopen("https://127.0.0.1:%d%s" % (ports["http"], path), context=context,
                                        timeout=programs.PATIENCE_S) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except (urllib.error.URLError, ssl.SSLError, ConnectionError) as error:
            return str(error), ""

    def check_metrics(self):
        series = exposition.parse(self.get("operator", "/metrics")[1])
        self.assertEqual(exposition.value(series, "sideband_device_up", device="gpu0"), 1)
        self.assertEqual(self.get("stranger", "/metrics")[0], 403)
        self.assertRegex(self.get(None, "/metrics")[0], "(?i)certificate required|reset|handshake")

    def check_constraints(self):
        """What the kernel says of the process, and what it cannot do."""
        facts = dict(line.split(":\t", 1) for line in self.one.read("status").splitlines() if ":\t" in line)
        self.assertEqual(set(facts["Uid"].split()), {str(USER)})
        self.assertEqual(set(facts["Gid"].split()), {str(USER)})
        self.assertEqual(set(facts["Groups"].split()), {str(USER), str(BUS_GROUP)})
        for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
            self.assertEqual(int(facts["Cap" + kind], 16), 0, kind)
        self.assertEqual(facts["NoNewPrivs"].strip(), "1")
        root = next(line.split() for line in self.one.read("mountinfo").splitlines() if line.split()[4] == "/")
        self.assertIn("ro", root[5].split(","))

    def test_a_life(self):
        self.start_and_wait()
        self.check_metrics()
        self.check_constraints()
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            self.assertEqual((self.probed(name).returncode, self.probed(name).stdout), (0, "serving\n"))
        self.assertEqual(self.get("operator", "/-/healthy")[0], 200)
        self.assertEqual(self.get("stranger", "/-/ready")[0], 200)

        # Without its device the daemon is alive, and not ready.
        self.device.kill()
        programs.wait_until(lambda: self.probed("readinessProbe").returncode == 1, "the readiness probe fails")
        self.assertEqual(self.probed("readinessProbe").stderr, "sideband: no device is fresh: see `sideband devices`\n")
        self.assertEqual(self.probed("livenessProbe").stdout, "alive, no device is fresh\n")

        self.assertEqual(self.one.stop(), 0, self.one.log())

    def test_a_missing_certificate_is_one_line(self):
        self.lay_out(without="tls/tls.key")
        one = self.start_container()
        self.assertEqual(one.wait(), 2)
        self.assertEqual(one.log(), "sidebandd: /etc/sideband/sidebandd.yaml:8: /etc/sideband/tls/tls.key: "
                                    "No such file or directory\n")

    def test_without_any_volume_the_certificates_are_named(self):
        one = container.Container(self.bundle, self.folder)
        self.addCleanup(one.kill)
        self.assertEqual(one.wait(), 2)
        self.assertEqual(re.findall(r"/etc/sideband/tls/(\S+): No such file or directory\n", one.log()),
                         ["tls.crt", "tls.key", "ca.crt"], one.log())

    def test_the_image_says_how_it_runs(self):
        with open(os.path.join(self.bundle, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(config["process"]["args"], ["/usr/bin/sidebandd", "--config", "/etc/sideband/sidebandd.yaml"])
        self.assertEqual((config["process"]["user"]["uid"], config["process"]["user"]["gid"]), (USER, USER))
        notes = config["annotations"]
        self.assertEqual(notes["org.opencontainers.image.stopSignal"], "SIGTERM")
        self.assertEqual(notes["org.opencontainers.image.exposedPorts"], "9877/tcp,9878/tcp")
        self.assertEqual(notes["org.opencontainers.image.licenses"], "Apache-2.0")
        for name in ("created", "revision", "title", "version"):
            self.assertTrue(notes["org.opencontainers.image." + name], name)
