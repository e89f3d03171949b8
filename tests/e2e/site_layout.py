# SPDX-License-Identifier: Apache-2.0
"""A whole site in one temporary folder: an emulated device, the daemon, an operator and two tenants.

    site = site_layout.Site(interval="100ms")
    site.start_device(); site.start_daemon(); site.wait_ready()
    site.get("tenant-a", "/metrics")     # (status, body)
    site.close()

The device is that of deploy/examples/chip.yaml: vm1 is tenant A's; vm2 and the confidential vm3 are tenant B's.
"""

import gzip
import http.client
import os
import secrets
import shutil
import signal
import ssl
import tempfile

import certificates
import exposition
import programs

TRUST = "spiffe://e2e.sideband/"
VM_UUIDS = {
    "vm1": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e101",
    "vm2": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e102",
    "vm3": "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e103",
}
# "nobody" has a certificate of the right authority, but no entry in the policy.
USERS = ("operator", "tenant-a", "tenant-b", "nobody")

POLICY = """version: 1
operators:
  - {{name: operator, identities: ["{trust}operator"]}}
tenants:
  - name: tenant-a
    identities: ["{trust}tenant-a"]
    vms:
      - {{uuid: {vm1}}}
  - name: tenant-b
    identities: ["{trust}tenant-b"]
    vms:
      - {{uuid: {vm2}}}
      - {{uuid: {vm3}, rights: [seal]}}
""".format(trust=TRUST, **VM_UUIDS)

CONFIG = """devices:
  - {{name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: {interval}}}
grpc:
  listen: "127.0.0.1:0"
  tls_server_config: {{cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}}
http:
  listen: "127.0.0.1:0"
  tls_server_config: {{cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}}
policy_file: policy.yaml
ports_file: ports
sealing:
  vm_keys:
    - {{vm: {vm3}, key_file: vm3.key}}
"""


def lay_out(folder, interval="100ms"):
    """Writes all files of a site; returns the authority that signed its certificates."""
    authority = certificates.Authority(folder)
    authority.issue("server")
    for user in USERS:
        authority.issue(user, uri=TRUST + user)
    write(folder, "vm3.key", secrets.token_hex(32) + "\n")
    write(folder, "policy.yaml", POLICY)
    write(folder, "sidebandd.yaml", CONFIG.format(interval=interval, **VM_UUIDS))
    shutil.copyfile(programs.runfile("deploy/examples/chip.yaml"), os.path.join(folder, "chip.yaml"))
    return authority


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o600)


class Site:
    """close() must always be called: pass it to addCleanup immediately."""

    def __init__(self, interval="100ms", guest_views=False):
        """`guest_views` publishes the guests' counters in the folder "views"."""
        self.guest_views = guest_views
        self.folder = tempfile.mkdtemp(prefix="sb-")
        self.device = self.daemon = None
        self.daemon_command = ("sidebandd", "--config", "sidebandd.yaml")
        self.grpc_port = self.http_port = None
        self.authority = lay_out(self.folder, interval)
        if guest_views:
            os.mkdir(self.path("views"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def start_device(self, *options):
        views = ("--guest-views", "views") if self.guest_views else ()
        self.device = programs.Program("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock", *views,
                                       *options, cwd=self.folder)
        return self.device

    def start_daemon(self, **options):
        """Starts the daemon and waits until it listens; the options are those of programs.Program."""
        if os.path.exists(self.path("ports")):
            os.remove(self.path("ports"))
        self.daemon = programs.Program(*self.daemon_command, cwd=self.folder, **options)
        programs.wait_until(lambda: os.path.exists(self.path("ports")) or self.daemon.ended(), "the ports file")
        if self.daemon.ended():
            raise AssertionError("sidebandd ended: " + self.daemon.log())
        ports = dict(line.split(": ") for line in self.read("ports").decode().splitlines())
        self.grpc_port, self.http_port = int(ports["grpc"]), int(ports["http"])
        return self.daemon

    def start(self):
        """Starts all programs and waits for data. The device starts first, so that the first reading succeeds."""
        self.start_device()
        programs.wait_until(lambda: "serving" in self.device.log() or self.device.ended(), "the device's bus")
        if self.device.ended():
            raise AssertionError("the device ended: " + self.device.log())
        self.start_daemon()
        self.wait_ready()

    def wait_ready(self):
        programs.wait_until(lambda: self.get("operator", "/-/ready")[0] == 200,
                            lambda: "/-/ready is 200\n" + self.daemon.log())

    def tls(self, user):
        """The user's TLS context; `user` None is a client without a certificate."""
        context = ssl.create_default_context(cafile=self.path("ca.pem"))
        if user is not None:
            context.load_cert_chain(self.path(user + ".pem"), self.path(user + ".key"))
        return context

    def sideband(self, user, *arguments):
        """Runs the command line over the network as one of USERS, again while the bus has no time for what it asks."""
        def result():
            done = programs.run("sideband", "--address", "127.0.0.1:%d" % self.grpc_port, "--ca-file", "ca.pem",
                                "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments, cwd=self.folder)
            return None if "is used up; retry in" in done.stderr else done
        return programs.wait_until(result, "bus time for %s" % (arguments,))

    def get(self, user, path):
        """(status, body) of an HTTPS request."""
        status, _, body = self.request(user, path)
        return status, body

    def request(self, user, path, fields=None, method="GET"):
        """(status, header fields, text) of an HTTPS request with more fields."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.http_port, context=self.tls(user),
                                                 timeout=programs.PATIENCE_S)
        try:
            connection.request(method, path, headers=fields or {})
            response = connection.getresponse()
            body = response.read()
            if response.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            return response.status, response.headers, body.decode()
        finally:
            connection.close()

    def metrics(self, user):
        """The user's scrape as an exposition.Series."""
        status, body = self.get(user, "/metrics")
        if status != 200:
            raise AssertionError("/metrics of %s: %d %s" % (user, status, body))
        return exposition.parse(body)

    def snapshots(self):
        """How many snapshots of gpu0 the daemon has published; 0 as long as it does not say."""
        return exposition.value(self.metrics("operator"), "sideband_snapshots_total", device="gpu0") or 0

    def wait_for_snapshots(self, more=3):
        start = self.snapshots()
        programs.wait_until(lambda: self.snapshots() >= start + more, "%d more snapshots" % more)

    def close(self):
        """Ends all programs and removes the folder. Programs that still run must exit successfully."""
        statuses = []
        try:
            for program in (self.daemon, self.device):
                if program is not None and not program.ended():
                    program.signal(signal.SIGCONT)
                    statuses.append((program.name, program.stop()))
        finally:
            for program in (self.daemon, self.device):
                if program is not None:
                    program.kill()
            shutil.rmtree(self.folder)
        if any(status != 0 for _, status in statuses):
            raise AssertionError("SIGTERM did not end the programs with 0: %s" % statuses)
