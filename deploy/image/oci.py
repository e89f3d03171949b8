# SPDX-License-Identifier: Apache-2.0
"""An OCI archive of one layer, made by umoci."""

import os
import subprocess
import time

from finish_tree import USER

_TITLE = "Sideband"
_DESCRIPTION = "Out-of-band performance telemetry of shared accelerators"
PORTS = ("9877/tcp", "9878/tcp")
VOLUMES = ("/run/sideband", "/var/lib/sideband", "/var/log/sideband")


def _labels(version, revision, created):
    values = {"created": created, "description": _DESCRIPTION, "licenses": "Apache-2.0", "revision": revision,
              "title": _TITLE, "version": version}
    return {"org.opencontainers.image." + name: value for name, value in values.items()}


def _options(name, values):
    return ["--%s=%s" % (name, value) for value in values]


def _configuration(architecture, labels, created):
    marks = ["%s=%s" % item for item in labels.items()]
    return ["--architecture=" + architecture, "--os=linux", "--created=" + created, "--no-history",
            "--config.user=%d:%d" % (USER, USER), "--config.entrypoint=/usr/bin/sidebandd",
            *_options("config.cmd", ("--config", "/etc/sideband/sidebandd.yaml")), "--config.workingdir=/",
            "--config.stopsignal=SIGTERM", *_options("config.exposedports", PORTS),
            *_options("config.volume", VOLUMES), *_options("config.label", marks),
            *_options("manifest.annotation", marks)]


def pack(layer, archive, folder, version, revision, architecture, date):
    """Writes the file `archive`. `layer` is the tar archive of the root file system; `folder` is for temporary files;
    `date` is in seconds since 1970."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    layout = os.path.join(folder, "layout")
    # Tags have no '+' and no '~'.
    image = "%s:sideband:%s" % (layout, version.replace("+", ".").replace("~", "."))

    def umoci(*arguments):
        subprocess.run(["umoci", *arguments], check=True)

    umoci("init", "--layout", layout)
    umoci("new", "--image", image)
    umoci("raw", "add-layer", "--image", image, "--history.created", created, "--history.created_by", "deploy/image", layer)
    umoci("config", "--image", image, *_configuration(architecture, _labels(version, revision, created), created))
    umoci("gc", "--layout", layout)
    subprocess.run(["tar", "--create", "--file", archive, "--directory", layout, "--sort=name", "--mtime=@%d" % date,
                    "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar",
                    "blobs", "index.json", "oci-layout"], check=True)
