# SPDX-License-Identifier: Apache-2.0
"""A site for programs that use the Python package: gpu0 with VMs that are all open, marks and a history, and gpu1, a
board of today whose driver has raised an Xid.

    site = python_site.PythonSite()
    add_cleanup(site.close)
    site.start()
    client = site.client("tenant-a")

Each of site_layout.USERS has a configuration, USER.yaml.
"""

import shutil

import programs
import site_layout
import tenant_client

_FAULTS = "seed: 1\nrules:\n  - {fault: xid, at: 1, xid: 63, text: Row remapping pending}\n"
_BOARD = '  - {name: gpu1, bus: "unix:gpu1.sock@0x4f", interval: 500ms, board: {mailbox: exclusive}}\n'


class PythonSite(site_layout.Site):
    def __init__(self, interval="200ms", board=False):
        super().__init__(interval)
        self._has_board = board
        self.board = None
        self.replace("chip.yaml", "confidential: true", "confidential: false")
        self.replace("policy.yaml", "      - {uuid: %s, rights: [seal]}\n" % site_layout.VM_UUIDS["vm3"], "")
        for vm in ("vm1", "vm2"):
            own = "{uuid: " + site_layout.VM_UUIDS[vm]
            self.replace("policy.yaml", own + "}", own + ", rights: [read, mark, peek]}")
        config = self.read("sidebandd.yaml").decode()
        self.write("sidebandd.yaml", config[:config.index("sealing:")])
        self.replace("sidebandd.yaml", "interval: %s}\n" % interval,
                     "interval: %s, clocks: {trigger_hz: 1000}}\n%s" % (interval, _BOARD if board else ""))

    def write(self, name, text):
        site_layout.write(self.folder, name, text)

    def replace(self, name, old, new):
        text = self.read(name).decode()
        if old not in text:
            raise AssertionError("%s is not in %s" % (old, name))
        self.write(name, text.replace(old, new))

    def start(self):
        if self._has_board:
            self._start_board()
        super().start()
        self._write_configurations()
        programs.wait_until(self._takes_marks, "a grid of triggers")

    def _start_board(self):
        shutil.copy(programs.runfile("deploy/examples/chip-board.yaml"), self.path("board.yaml"))
        self.write("faults.yaml", _FAULTS)
        self.board = programs.Program("sideband-mcu", "serve", "--chip", "board.yaml", "--bus", "unix:gpu1.sock",
                                      "--persona", "nvidia", "--faults", "faults.yaml", cwd=self.folder, log="board.log")
        programs.wait_until(lambda: "serving" in self.board.log() or self.board.ended(), "the board's bus")

    def _write_configurations(self):
        for user in site_layout.USERS:
            self.write(user + ".yaml", "address: localhost:%d\nca_file: ca.pem\ncert_file: %s.pem\nkey_file: %s.key\n" %
                       (self.grpc_port, user, user))

    def _takes_marks(self):
        """The grid is asked for once the first snapshot is published."""
        with self.client("tenant-a") as client:
            try:
                client.mark("vm1", device="gpu0")
                return True
            except tenant_client.sideband.FailedPrecondition:
                return False

    def client(self, user, **options):
        return tenant_client.sideband.Client(self.path(user + ".yaml"), **options)

    def keep_port(self):
        """The daemon listens on the same port after a restart."""
        listen = 'grpc:\n  listen: "127.0.0.1:%d"'
        self.replace("sidebandd.yaml", listen % 0, listen % self.grpc_port)

    def close(self):
        try:
            super().close()
        finally:
            if self.board is not None:
                self.board.kill()
