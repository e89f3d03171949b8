# SPDX-License-Identifier: Apache-2.0
"""Every example of docs/python.md, in order and in one namespace, as a tenant; its outputs and its plot.

An output agrees with the page's if it does with any number in place of each number. The page's outputs and its plot are
outputs of this test, with the page's own names.
"""

import contextlib
import io
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

import operations_page
import programs
import python_site
import tenant_client

PAGE = "docs/python.md"
PLOT = "python-rates.svg"
_NUMBER = re.compile(r"\d[\d.,:]*")


def examples(page):
    """[(section, code, expected output or None)]."""
    found = []
    for section, language, lines in operations_page.blocks(page):
        text = "\n".join(lines) + "\n"
        if language == "python":
            found.append([section, text, None])
        elif language == "text":
            found[-1][2] = text
    return [tuple(example) for example in found]


def shape(output):
    """The output with one form for all numbers and for white space."""
    return [_NUMBER.sub("#", line).split() for line in output.splitlines()]


class PageTest(unittest.TestCase):
    def setUp(self):
        self.site = python_site.PythonSite(board=True)
        self.addCleanup(self.site.close)
        self.site.start()
        programs.wait_until(self.has_data, "twenty points of history, sensors, and the Xid")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.site.folder)
        os.environ["SIDEBAND_CONFIG"] = "tenant-a.yaml"
        self.addCleanup(os.environ.pop, "SIDEBAND_CONFIG")
        # Matplotlib writes what it finds of fonts to a folder of its own.
        os.environ["MPLCONFIGDIR"] = self.site.folder
        self.namespace = {}

    def has_data(self):
        with self.site.client("operator") as operator:
            series = operator.history(device="gpu0").series
            return series and len(series[0]) >= 20 and operator.sensors("gpu1") and list(operator.board_events("gpu1"))

    def test_examples(self):
        with open(programs.runfile(PAGE), encoding="utf-8") as file:
            page = file.read()
        outputs = []
        for section, code, expected in examples(page):
            with self.subTest(section=section, code=code):
                output = self.run_example(code)
                outputs.append("## %s\n%s" % (section, output))
                if expected is not None:
                    self.assertEqual(shape(output), shape(expected), output)
        self.assertGreater(len(outputs), 10)
        self.check_plot()
        self.keep("python.txt", "\n".join(outputs))

    def run_example(self, code):
        """What it prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                exec(compile(code, PAGE, "exec"), self.namespace)
            except tenant_client.sideband.Unimplemented as error:
                if "watch_state" not in code:
                    raise
                self.skipTest(str(error))
        return output.getvalue()

    def check_plot(self):
        plot = self.site.read(PLOT).decode()
        texts = {element.text for element in ElementTree.fromstring(plot).iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"train", "eval", "sm_active_cycles, 10⁹/s", "seconds of the device's clock"}, texts)
        self.keep(PLOT, plot)

    @staticmethod
    def keep(name, text):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if folder:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    unittest.main()
