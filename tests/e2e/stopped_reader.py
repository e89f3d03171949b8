# SPDX-License-Identifier: Apache-2.0
"""A process that reads a stream of the Python package, so that it can be stopped by a signal.

    with stopped_reader.Reader(site.path("tenant-a.yaml"), vm="vm1", event="resident_cycles", output=path) as reader:
        reader.process.send_signal(signal.SIGSTOP)
        reader.lines()      # [(snapshot_id, count), …]; a gap is (None, its text)
"""

import json
import os
import subprocess
import sys


class Reader:
    def __init__(self, config, vm, event, output):
        self._output = output
        open(output, "w").close()
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        self.process = subprocess.Popen([sys.executable, "-B", __file__, config, vm, event, output], env=environment)

    def lines(self):
        """Whole lines only: the process may be writing."""
        with open(self._output, encoding="utf-8") as file:
            return [tuple(json.loads(line)) for line in file if line.endswith("\n")]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()


def main():
    import tenant_client
    sideband = tenant_client.sideband
    config, vm, event, output = sys.argv[1:]
    with sideband.Client(config) as client, client.watch(vm=vm, heartbeat=1) as stream, \
            open(output, "w", buffering=1, encoding="utf-8") as file:
        for item in stream:
            if isinstance(item, sideband.Gap):
                print(json.dumps((None, str(item))), file=file)
            elif isinstance(item, sideband.Update) and not item.heartbeat:
                print(json.dumps((item.snapshot.snapshot_id, item.snapshot.row(vm)[event])), file=file)


if __name__ == "__main__":
    main()
