# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus beside a test.

    prometheus = prometheus.Prometheus(folder, "prometheus.yml")
    prometheus.query('up{job="operator"}')      # [(labels, value)]
    prometheus.kill()
"""

import http.client
import json
import os
import re
import urllib.parse

import programs

# `./dev test` unpacks Prometheus if it is not installed.
FOLDER = os.environ.get("SIDEBAND_PROMETHEUS") or "/usr/bin"
PROMETHEUS = os.path.join(FOLDER, "prometheus")
PROMTOOL = os.path.join(FOLDER, "promtool")


class Prometheus:
    def __init__(self, folder, config, *options, name="prometheus"):
        storage = "--storage.agent.path=" if "--enable-feature=agent" in options else "--storage.tsdb.path="
        self._program = programs.Program(PROMETHEUS, "--config.file=" + config, storage + name,
                                         "--web.listen-address=127.0.0.1:0", *options, cwd=folder, log=name + ".log")
        self.port = None
        try:
            self.port = int(programs.wait_until(self._listening, "Prometheus listens"))
        except BaseException:
            self.kill()
            raise

    def _listening(self):
        if self._program.ended():
            raise AssertionError("Prometheus ended: " + self._program.log())
        found = re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', self._program.log())
        return found and found[1]

    def kill(self):
        self._program.kill()

    def get(self, path, **parameters):
        """The data of an answer of the API; None while Prometheus listens but is not ready."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=programs.PATIENCE_S)
        try:
            connection.request("GET", path + "?" + urllib.parse.urlencode(parameters))
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status == 503:
            return None
        answer = json.loads(text)
        if answer["status"] != "success":
            raise AssertionError("%s %s: %s" % (path, parameters, answer))
        return answer["data"]

    def query(self, expression):
        """[(labels, value)] of a vector; of a range of time, [(labels, [values])]."""
        data = self.get("/api/v1/query", query=expression)
        if data is None:
            return []
        if data["resultType"] == "matrix":
            return [(one["metric"], [float(value) for _, value in one["values"]]) for one in data["result"]]
        return [(one["metric"], float(one["value"][1])) for one in data["result"]]
