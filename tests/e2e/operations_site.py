# SPDX-License-Identifier: Apache-2.0
"""Follows the pages of operators from the first to the last in one machine: each command has the exit status, and
prints what its page shows, with other numbers.

    class PageTest(operations_site.PageTestCase):
        def test_the_page(self):
            self.follow(operations_page.Shell(machine), has=("a mirror",))
"""

import time

import operations_page
import programs

# In the order in which their commands are run; one is prepared by those before it.
PAGES = ("docs/install.md", "docs/service.md", "docs/runbook.md", "docs/runbook-boards.md", "docs/troubleshooting.md")
# Installation of packages takes longer than all others.
_COMMAND_S = 600
# The first page's example follows this command, which is the first to show numbers.
_FIRST_NUMBERS = "sideband --config operator.yaml get --vm vm1"
# Commands that only look; what they are to show may come later.
_QUERIES = ("curl", "journalctl", "promtool query", "sideband ", "systemctl status")

# What the pages describe and do not cause: what happens before the command, which is named by its beginning.
_BEFORE = {
    "journalctl -u sidebandd -t sidebandd -p err --no-pager":
        "sed -i 2s/interval/intervall/ /etc/sideband/sidebandd.yaml; ! systemctl reload sidebandd",
    "metrics() {":
        "systemctl start sidebandd-http.socket sidebandd-grpc.socket sidebandd.service",
    # The device of the pages becomes an SMBPBI-only board, which has sensors, until the end of the runbook of boards.
    "metrics 'sideband_temperature'": """cp /etc/sideband/chips/gpu0.yaml /etc/sideband/sidebandd.yaml /root
cp /usr/share/doc/sideband-emulator/examples/chip-board.yaml /etc/sideband/chips/gpu0.yaml
sed -i 's/interval: 1s}/interval: 1s, board: {mailbox: exclusive}}/' /etc/sideband/sidebandd.yaml
systemctl restart sideband-mcu@gpu0 sidebandd
for i in $(seq 300); do metrics sideband_row_remap_state > lines && break; sleep 0.1; done""",
    "sideband audit show --wide --denied":
        "issue other URI:spiffe://example.org/other; "
        "curl -sS --cacert ca.pem --cert other.pem --key other.key https://127.0.0.1:9877/metrics",
    "curl -sS --cacert ca.pem --cert operator.pem --key operator.key https://127.0.0.1:9877/-/ready":
        "systemctl stop sideband-mcu@gpu0",
    "ls -l /dev/i2c-3":
        "systemctl start sideband-mcu@gpu0; mknod -m 660 /dev/i2c-3 c 89 3; chgrp i2c /dev/i2c-3",
    "sideband --config bolt.yaml get": """issue bolt URI:spiffe://example.org/bolt
sed s/operator/bolt/ operator.yaml > bolt.yaml
cat >> /etc/sideband/policy.yaml <<'END'
tenants:
  - name: bolt
    identities: ["spiffe://example.org/bolt"]
    vms: [{uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e1ff}]
allow_absent_vms: true
END
systemctl reload sidebandd""",
}
# What is restored after the command.
_AFTER = {
    "journalctl -u sidebandd -t sidebandd -p err -n 1":
        "sed -i 2s/intervall/interval/ /etc/sideband/sidebandd.yaml; systemctl reload sidebandd",
    "metrics 'sideband_(bus_transfers_total|board_sample_age_seconds)'":
        "cp /root/gpu0.yaml /etc/sideband/chips; cp /root/sidebandd.yaml /etc/sideband; "
        "systemctl restart sideband-mcu@gpu0 sidebandd",
}
# `grep` and `journalctl -g` end with 1 if they find nothing, which is as it should be on a healthy host; others fail
# because a page shows how they fail.
_STATUS = {
    "systemctl reload sidebandd": 1,
    "sideband --config bolt.yaml get": 1,
    "metrics 'outcome=\"interference\"'": 1,
    "metrics 'flag=\"overflow\"'": 1,
    "metrics 'sideband_sealing_budget_used_ratio|sideband_sealed_records_total'": 1,
    # The pages' device has no gate groups.
    "metrics 'sideband_counting'": 1,
    "journalctl -u sidebandd -g 'counting'": 1,
    "journalctl -u sidebandd -g 'old certificates stay in force' -n 5 --no-pager": 1,
    "journalctl -u sidebandd -g 'audit:' -n 5 --no-pager": 1,
    "journalctl -u sidebandd -g 'xid' -n 10 --no-pager": 1,
    "journalctl -u sidebandd -g 'stays confidential' -n 5 --no-pager": 1,
    "grep '\"kind\":\"device\"' /var/log/sideband/audit.jsonl": 1,
    # The pages' site has no BMC.
    "journalctl -u sidebandd -g 'bmc ' -n 10 --no-pager": 1,
    "metrics 'sideband_bmc_(state|requests|logins)'": 1,
    "metrics 'sideband_board_health'": 1,
    "sidebandd --config /etc/sideband/sidebandd.yaml --check --probe": 2,
}


def read_pages():
    """The pages as one text."""
    texts = []
    for page in PAGES:
        with open(programs.runfile(page), encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(texts)


def first_page_example():
    """`watch` of the README, for as many lines as it shows there."""
    with open(programs.runfile("README.md"), encoding="utf-8") as page:
        section, _, (command, *output) = operations_page.blocks(page.read())[0]
    return operations_page.Step(section, "%s | head -n %d" % (command.removeprefix("$ "), len(output)), output)


def without_command():
    """What is arranged for a command, or said of it, that the pages no longer have."""
    texts = [step.text for step in operations_page.steps(read_pages())]
    return ([beginning for beginning in (_FIRST_NUMBERS, *_BEFORE, *_AFTER) if not any(text.startswith(beginning) for text in texts)] +
            [command for command in _STATUS if command not in texts])


def packages():
    """The machine's files with the packages where the first page wants them."""
    return {"/root/site/%s_0_amd64.deb" % name: programs.runfile("deploy/debian/%s.deb" % name).encode()
            for name in ("sideband", "sideband-emulator")}


class PageTestCase(programs.ProgramTestCase):
    def follow(self, shell, has=(), after=None, patience_s=programs.PATIENCE_S):
        """`has`: what marked commands need and is there; `after`: more scripts, as in _AFTER. Returns the duration of
        each command."""
        self.times = {}
        for step in operations_page.steps(read_pages()):
            if step.needs is None or step.needs in has:
                self._arrange(shell, _BEFORE, step)
                self._take(shell, step, patience_s)
                if step.text.startswith(_FIRST_NUMBERS):
                    self._take(shell, first_page_example(), patience_s)
                self._arrange(shell, {**_AFTER, **(after or {})}, step)
        return self.times

    def _arrange(self, shell, scripts, step):
        for beginning, script in scripts.items():
            if step.text.startswith(beginning):
                status, lines = shell.run(script, _COMMAND_S)
                self.assertEqual(status, 0, lines)

    def _take(self, shell, step, patience_s):
        start = time.monotonic()
        status, lines = shell.run(step.text, _COMMAND_S)
        end = start + (patience_s if step.text.startswith(_QUERIES) else 0)
        while not self._is_shown(step, lines) and time.monotonic() < end:
            time.sleep(0.2)
            status, lines = shell.run(step.text, _COMMAND_S)
        self.times[step.text] = time.monotonic() - start
        print("%6.1f s, status %d: %s" % (self.times[step.text], status, "\n  ".join([step.text, *lines])), flush=True)
        self.assertEqual(status, _STATUS.get(step.text, 0), "%s: %s: %s" % (step.section, step.text, lines))
        self.assertTrue(self._is_shown(step, lines), "\n".join(
            ["%s: the page shows:" % step.section, *(step.output or []), "printed is:", *lines]))

    @staticmethod
    def _is_shown(step, lines):
        return step.output is None or operations_page.matches(step.output, lines)
