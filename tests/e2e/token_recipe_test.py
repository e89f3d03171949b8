# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/security.md that make a key and tokens, run as they stand there."""

import re
import unittest

import programs
import site_layout

ACME = "spiffe://example.org/acme"


def recipe():
    with open(programs.runfile("docs/security.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```\w*\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if "openssl genrsa" in block]
    return found


class RecipeTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site()
        self.addCleanup(self.site.close)
        result = programs.run("/usr/bin/bash", "-euo", "pipefail", "-c", recipe(), cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        config = self.site.read("sidebandd.yaml").decode() + "tokens: {jwks_file: jwks.json, audience: sideband}\n"
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        site_layout.write(self.site.folder, "policy.yaml",
                          site_layout.POLICY.replace(site_layout.TRUST + "tenant-a", ACME))
        self.site.start()

    def ask(self, name):
        token = self.site.read(name).decode().strip()
        status, _, body = self.site.request("nobody", "/metrics", {"Authorization": "Bearer " + token})
        return status, body

    def test_the_tokens_are_what_the_page_says(self):
        status, body = self.ask("acme.token")
        self.assertEqual(status, 200)
        self.assertIn('vm="vm1"', body)
        self.assertNotIn('vm="vm2"', body)
        self.assertEqual(self.ask("old.token")[0], 401)
