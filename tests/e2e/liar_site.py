# SPDX-License-Identifier: Apache-2.0
"""A site whose device changes its report on one VM (liar_device.cc); all counts are known and constant.

    site = liar_site.LiarSite("confidential", keys=True)
    site.start()
    site.next_state()     # the device reports the VM "secret" as open
"""

import signal

import programs
import site_layout

OPEN = "7d3c0f61-58a2-4f0b-9c1e-0a6b44d2e001"
SECRET = "7d3c0f61-58a2-4f0b-9c1e-0a6b44d2e002"
OPEN_COUNTS = (0x1B1D57A90C63E4F1, 0x1D9A4C2277EF8135)
SECRET_COUNTS = (0x31C79E05B86A2D43, 0x2F6B83D14EC5971B)
# The counts of the device's own row, from which the VM's counts could be derived.
DEVICE_COUNTS = tuple(a + b for a, b in zip(OPEN_COUNTS, SECRET_COUNTS))

_POLICY = """version: 1
operators:
  - {{name: operator, identities: ["{trust}operator"]}}
tenants:
  - name: tenant-a
    identities: ["{trust}tenant-a"]
    vms:
      - {{uuid: {open}}}
  - name: tenant-b
    identities: ["{trust}tenant-b"]
    vms:
      - {{uuid: {secret}, rights: [{right}]}}
"""


class LiarSite(site_layout.Site):
    def __init__(self, state, interval="100ms", keys=False, right="read"):
        """`state` is the device's first: confidential, open or gone; `keys`: the VM "secret" has a sealing key."""
        super().__init__(interval)
        self._state = state
        config = self.read("sidebandd.yaml").decode().split("sealing:")[0] + "audit: {file: audit.jsonl}\n"
        if keys:
            config += "sealing: {vm_keys: [{vm: %s, key_file: vm3.key}]}\n" % SECRET
        site_layout.write(self.folder, "sidebandd.yaml", config)
        self.grant(right)

    def grant(self, right):
        """Writes a policy that gives tenant-b this right on the VM "secret". The daemon must read it afterwards."""
        site_layout.write(self.folder, "policy.yaml",
                          _POLICY.format(trust=site_layout.TRUST, open=OPEN, secret=SECRET, right=right))

    def start_device(self, *_):
        self.device = programs.Program(programs.runfile("tests/e2e/liar_device"), "gpu0.sock", self._state,
                                       cwd=self.folder)
        return self.device

    def next_state(self):
        self.device.signal(signal.SIGUSR1)

