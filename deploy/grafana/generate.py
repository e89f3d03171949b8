#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes Grafana's JSON of the boards that operator.yaml, hardware.yaml and tenant.yaml describe.

    deploy/grafana/generate.py            # after a change of a description
    deploy/grafana/generate.py --check    # exits with 1 if a JSON file is not current

README.md describes the keys. A board describes what its panels show; this file adds what Grafana 9 needs.
"""

import argparse
import json
import pathlib
import re
import sys

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
BOARDS = ("operator", "hardware", "tenant")
# Of Grafana 9.0. Later versions convert what they load.
SCHEMA_VERSION = 36
GRID_COLUMNS = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Grafana shows links relative to itself; the variable `docs` has the address of the pages.
DOCS_ADDRESS = "https://docs.example.org/sideband"

# {kind: (width, height)} in columns and lines of the grid.
SIZES = {"stat": (3, 4), "timeseries": (12, 8), "bargauge": (12, 8), "table": (12, 8), "state-timeline": (12, 8)}
REDUCE = {"calcs": ["lastNotNull"], "fields": "", "values": False}
LEGEND = {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True}
OPTIONS = {
    "stat": {"colorMode": "value", "graphMode": "area", "justifyMode": "auto", "orientation": "auto",
             "reduceOptions": REDUCE, "textMode": "value"},
    "timeseries": {"legend": LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    "bargauge": {"displayMode": "basic", "minVizHeight": 10, "minVizWidth": 0, "orientation": "horizontal",
                 "reduceOptions": REDUCE, "showUnfilled": True},
    "table": {"showHeader": True},
    "state-timeline": {"alignValue": "left", "mergeValues": True, "rowHeight": 0.8, "showValue": "auto",
                       "legend": {**LEGEND, "calcs": [], "displayMode": "list"},
                       "tooltip": {"mode": "single", "sort": "none"}},
}


def read(name):
    return yaml.safe_load((FOLDER / (name + ".yaml")).read_text(encoding="utf-8"))


def with_selectors(text, selectors):
    """The query, with the board's selectors in the place of <NAME>."""
    return re.sub(r"<(\w+)>", lambda match: selectors[match[1]], text).strip()


def variables(board):
    yield {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0,
           "includeAll": False, "multi": False, "options": [], "refresh": 1, "regex": ""}
    for variable in board["variables"]:
        yield query_variable(variable, with_selectors(variable["query"], board["selectors"]))
    constant = {"text": DOCS_ADDRESS, "value": DOCS_ADDRESS, "selected": True}
    yield {"name": "docs", "type": "constant", "query": DOCS_ADDRESS, "hide": 2, "skipUrlSync": True,
           "current": constant, "options": [constant]}


def query_variable(variable, query):
    """Of several values, unless it has a default, which is one value."""
    several = "default" not in variable
    current = {"text": ["All"], "value": ["$__all"]} if several else {"text": variable["default"],
                                                                      "value": variable["default"]}
    every = {"allValue": variable["all"]} if "all" in variable else {}
    return {"name": variable["name"], "label": variable["label"], "type": "query", "datasource": DATASOURCE,
            "definition": query, "query": {"query": query, "refId": "StandardVariableQuery"},
            "current": {"selected": True, **current}, **every, "includeAll": several, "multi": several, "hide": 0,
            "options": [], "refresh": 2, "regex": "", "sort": 1}


def target(number, query, kind, selectors):
    table = kind == "table"
    instant = table or query.get("instant", False)
    return {"datasource": DATASOURCE, "editorMode": "code", "expr": with_selectors(query["expr"], selectors),
            "format": "table" if table else "time_series", "instant": instant, "range": not instant,
            "legendFormat": query.get("legend", "__auto"), "refId": chr(ord("A") + number)}


def mappings(panel):
    """Names and colours of values."""
    options = {str(value): {"text": text, "color": color, "index": index}
               for index, (value, (text, color)) in enumerate(panel.get("mappings", {}).items())}
    return [{"type": "value", "options": options}] if options else []


def drawn(panel):
    """How a time series is drawn."""
    stacked = panel.get("stack", False)
    return {"drawStyle": "line", "fillOpacity": 30 if stacked else 10, "lineWidth": 1, "showPoints": "never",
            "spanNulls": False, "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
            "thresholdsStyle": {"mode": "line" if "thresholds" in panel else "off"}}


def defaults(panel):
    kind = panel["kind"]
    steps = [{"color": color, "value": value} for color, value in panel.get("thresholds", {"text": None}).items()]
    by_threshold = kind in ("stat", "state-timeline", "table") or "thresholds" in panel and kind == "bargauge"
    field = {"color": {"mode": "thresholds" if by_threshold else "palette-classic"},
             "custom": drawn(panel) if kind == "timeseries" else {}, "mappings": mappings(panel),
             "thresholds": {"mode": "absolute", "steps": steps}, "unit": panel.get("unit", "short")}
    if "max" in panel or kind == "timeseries":
        field["min"] = panel.get("min", 0)
    if "max" in panel:
        field["max"] = panel["max"]
    return field


def overrides(panel):
    """The series named `line` is a dashed line over the stack."""
    if "line" not in panel:
        return []
    properties = {"custom.stacking": {"group": "A", "mode": "none"}, "custom.fillOpacity": 0,
                  "custom.lineStyle": {"dash": [10, 10], "fill": "dash"},
                  "color": {"fixedColor": "text", "mode": "fixed"}}
    return [{"matcher": {"id": "byName", "options": panel["line"]},
             "properties": [{"id": name, "value": value} for name, value in properties.items()]}]


def transformations(panel):
    """Columns that a table leaves out."""
    hidden = {name: True for name in panel.get("hide", ())}
    return [{"id": "organize", "options": {"excludeByName": hidden, "indexByName": {}, "renameByName": {}}}] if hidden \
        else []


def panel_of(panel, selectors):
    kind = panel["kind"]
    page = panel["docs"]
    return {"title": panel["title"], "type": kind, "datasource": DATASOURCE,
            "description": "%s\n\n[docs/%s](${docs}/%s)" % (panel["description"], page.split("#")[0], page),
            "fieldConfig": {"defaults": defaults(panel), "overrides": overrides(panel)}, "options": OPTIONS[kind],
            "targets": [target(number, query, kind, selectors) for number, query in enumerate(panel["queries"])],
            "transformations": transformations(panel)}


class Grid:
    """Places panels side by side, and below those that fill the line."""

    def __init__(self):
        self._x = self._y = self._height = 0

    def place(self, width, height):
        if self._x + width > GRID_COLUMNS:
            self._x, self._y, self._height = 0, self._y + self._height, 0
        position = {"x": self._x, "y": self._y, "w": width, "h": height}
        self._x, self._height = self._x + width, max(self._height, height)
        return position


def panels(board):
    grid, shared = Grid(), read("shared")
    for row in board["rows"]:
        yield {"title": row["title"], "type": "row", "collapsed": False, "gridPos": grid.place(GRID_COLUMNS, 1),
               "panels": []}
        for own in row["panels"]:
            panel = {**shared.get(own.get("use"), {}), **own}
            width, height = SIZES[panel["kind"]]
            position = grid.place(panel.get("width", width), panel.get("height", height))
            yield {**panel_of(panel, board["selectors"]), "gridPos": position}


def dashboard(board):
    return {
        "title": board["title"], "uid": board["uid"], "description": board["description"], "tags": ["sideband"],
        "schemaVersion": SCHEMA_VERSION, "editable": True, "graphTooltip": 1, "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "", "annotations": {"list": []},
        "links": [{"type": "dashboards", "title": "Sideband", "tags": ["sideband"], "asDropdown": True,
                   "includeVars": False, "keepTime": True, "targetBlank": False, "icon": "external link", "tooltip": "",
                   "url": ""}],
        "templating": {"list": list(variables(board))},
        "panels": [{"id": number, **panel} for number, panel in enumerate(panels(board), 1)],
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is not current")
    check = arguments.parse_args().check
    stale = []
    for name in BOARDS:
        path = FOLDER / (name + ".json")
        text = json.dumps(dashboard(read(name)), indent=2) + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and stale:
        print("generate: not current: " + ", ".join(stale), file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
