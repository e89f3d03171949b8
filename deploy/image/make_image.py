#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes an OCI archive from the Debian package: `./dev image`.

    make_image.py --package sideband.deb --config sidebandd.yaml --revision HASH --date SECONDS --output FOLDER

Prints the path of the archive. The same package, date and state of the mirror give the same bytes.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oci  # noqa: E402
import root_tree  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, help="the .deb of sideband")
    parser.add_argument("--config", required=True, help="the daemon's default configuration")
    parser.add_argument("--revision", required=True, help="the commit")
    parser.add_argument("--date", required=True, type=int, help="of the commit, in seconds since 1970")
    parser.add_argument("--output", required=True, help="folder of the archive")
    return parser.parse_args()


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True).stdout.strip()


def make():
    arguments = parse_arguments()
    version, architecture = (field(arguments.package, name) for name in ("Version", "Architecture"))
    archive = os.path.join(arguments.output, "sideband_%s_%s.oci.tar" % (version, architecture))
    with tempfile.TemporaryDirectory() as folder:
        layer = os.path.join(folder, "layer.tar")
        root_tree.make(arguments.package, arguments.config, layer, folder, arguments.date)
        oci.pack(layer, archive, folder, version, arguments.revision, architecture, arguments.date)
    print(archive)


def main():
    try:
        make()
    except subprocess.CalledProcessError as error:
        sys.exit("make_image.py: %s failed" % os.path.basename(error.cmd[0]))


if __name__ == "__main__":
    sys.exit(main())
