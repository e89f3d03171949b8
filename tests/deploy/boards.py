# SPDX-License-Identifier: Apache-2.0
"""The boards of deploy/grafana, with variables replaced as Grafana's Prometheus data source does.

    board = boards.Board(path)
    for query in board.queries():
        expression = boards.interpolate(query["expr"], {"job": ["a", "b"], "__rate_interval": "1m"})
"""

import json
import re

_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")
_SPECIAL = re.compile(r"[$^*{}\[\]'+?.()|]")
_LABEL_VALUES = re.compile(r"label_values\((.*), (\w+)\)")


def _regex_escaped(value):
    """Escaped twice: for the regular expression, and for the string of PromQL that contains it."""
    return _SPECIAL.sub(lambda match: "\\\\" + match[0], value.replace("\\", "\\\\\\\\"))


def _formatted(value):
    """A string stands for itself, as the value of a variable without alternatives does; a list is the selection of a
    variable of several values."""
    if isinstance(value, str):
        return value
    escaped = [_regex_escaped(one) for one in value]
    return escaped[0] if len(escaped) == 1 else "(%s)" % "|".join(escaped)


def interpolate(text, values):
    return _VARIABLE.sub(lambda match: _formatted(values[match[1] or match[2]]), text)


def names_of_variables(text):
    return {first or second for first, second in _VARIABLE.findall(text)}


class Board:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.json = json.load(file)

    def panels(self):
        return [panel for panel in self.json["panels"] if panel["type"] != "row"]

    def queries(self):
        """[(panel's title, target)]"""
        return [(panel["title"], target) for panel in self.panels() for target in panel["targets"]]

    def variables(self):
        """{name: variable} of those whose values are queried, in the order of the board."""
        return {one["name"]: one for one in self.json["templating"]["list"] if one["type"] == "query"}


def label_values(variable):
    """(selector, label) of a variable's query."""
    return _LABEL_VALUES.fullmatch(variable["query"]["query"]).groups()
