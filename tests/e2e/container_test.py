# SPDX-License-Identifier: Apache-2.0
"""The image in a container, with the libraries of this machine in place of those of a mirror. Root only; //tests/e2e:
image_test makes the image as `./dev image` does."""

import os
import re
import subprocess
import sys
import unittest

import container_life
import programs

sys.path.insert(0, programs.runfile("deploy/image"))
import make_image  # noqa: E402
import oci  # noqa: E402

DATE = 1000000000


def libraries(program):
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)


def make_tree(package, tree):
    """Unpacks the package, and adds what its programs load."""
    subprocess.run(["dpkg-deb", "--extract", package, tree], check=True)
    for name in ("sideband", "sidebandd"):
        for path in libraries(os.path.join(tree, "usr/bin", name)):
            os.makedirs(os.path.dirname(tree + path), exist_ok=True)
            subprocess.run(["cp", "--dereference", path, tree + path], check=True)


class ContainerTest(container_life.ContainerLife):
    @classmethod
    def make_archive(cls, folder):
        package = programs.runfile("deploy/debian/sideband.deb")
        tree, layer, archive = (os.path.join(folder, name) for name in ("tree", "layer.tar", "image.oci.tar"))
        os.mkdir(tree)
        make_tree(package, tree)
        subprocess.run(["/usr/bin/python3", "-B", programs.runfile("deploy/image/finish_tree.py"), "--config",
                        programs.runfile("deploy/kubernetes/base/sidebandd.yaml"), tree, package], check=True)
        subprocess.run(["tar", "--create", "--file", layer, "--directory", tree, "--numeric-owner", "."], check=True)
        oci.pack(layer, archive, folder, "1.0+test", "0" * 40, make_image.field(package, "Architecture"), DATE)
        return archive


if __name__ == "__main__":
    unittest.main()
