# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by Playwright.

    with browser.Browser() as chromium:
        chromium.open("https://127.0.0.1:9877", site.path("operator"))
        chromium.wait(".badge.fresh")
        print(chromium.text("h2"))
"""

import json
import os
import shutil
import subprocess

import programs

CHROMIUM = "/usr/bin/chromium"
_PLAYWRIGHT = "../npm_browser/node_modules/playwright-core"
_NODE = "../npm_browser/bin/node"


def why_absent():
    """What is missing for a browser; empty if nothing is."""
    if not os.path.exists(CHROMIUM):
        return CHROMIUM + " is not installed"
    return "" if os.path.exists(programs.runfile(_NODE)) else "node is not installed"


class Browser:
    """Commands wait for their result; one that fails is an AssertionError."""

    def __init__(self):
        self._home = programs.temporary_folder(lambda *_: None)
        driver = programs.runfile("tests/e2e/browser_driver.mjs")
        self._process = subprocess.Popen(
            ["/usr/bin/setpriv", "--pdeathsig", "TERM", "--", programs.runfile(_NODE), driver,
             os.path.realpath(programs.runfile(_PLAYWRIGHT))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": self._home})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=programs.PATIENCE_S)
        self._process.stdout.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _command(self, command, **parameters):
        self._process.stdin.write(json.dumps({"command": command, **parameters}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the browser ended")
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError("%s %s: %s" % (command, parameters, answer["error"]))
        return answer["result"]

    def open(self, origin, certificate, scheme="light", width=1280, height=800):
        """Opens the page at / with CERTIFICATE.pem and .key; returns the status."""
        return self._command("open", origin=origin, certificate=certificate, scheme=scheme, width=width, height=height,
                             locale="en-GB")

    def complaints(self):
        """Errors of the page since it was opened, breaches of its policy among them."""
        return self._command("complaints")

    def text(self, selector):
        """The visible texts of all elements that the selector matches."""
        return self._command("text", selector=selector)

    def wait(self, selector):
        """Waits until an element matches and is visible."""
        self._command("wait", selector=selector)

    def click(self, selector):
        self._command("click", selector=selector)

    def fill(self, selector, text):
        self._command("fill", selector=selector, text=text)

    def select(self, selector, value):
        self._command("select", selector=selector, value=value)

    def press(self, key):
        self._command("press", key=key)

    def evaluate(self, script):
        """The value of a JavaScript expression in the page."""
        return self._command("evaluate", script=script)

    def set_offline(self, offline):
        self._command("offline", offline=offline)

    def resize(self, width, height):
        self._command("resize", width=width, height=height)

    def screenshot(self, name):
        """Keeps a picture of the whole page among the test's outputs, if they are kept."""
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if folder:
            self._command("screenshot", path=os.path.join(folder, name + ".png"))
