# SPDX-License-Identifier: Apache-2.0
"""Reads Prometheus' text format: the series of a scrape, as {(name, labels): value}.

    series = exposition.parse(body)
    exposition.value(series, "sideband_device_up", device="gpu0")
"""

import re

_SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')

# Counters of events at one level.
_EVENT = re.compile(r"^sideband_(?:device|vm|context)_(?!reference_seconds_total)(\w+)_total$")


def _number(text):
    # Counts have more digits than a float can represent.
    return int(text) if text.isdigit() else float(text)


def parse(body):
    series = {}
    for line in body.splitlines():
        if not line or line.startswith("#"):
            continue
        name, labels, number = _SAMPLE.match(line).groups()
        key = (name, frozenset(_LABEL.findall(labels or "")))
        if key in series:
            raise AssertionError("a series is there twice: " + line)
        series[key] = _number(number)
    return series


def value(series, name, **labels):
    """The value of exactly that series; None if it does not exist."""
    return series.get((name, frozenset(labels.items())))


def counters(series):
    """The events' counters: {(event, vm, context): count}; the device's own row has no VM."""
    found = {}
    for (name, labels), count in series.items():
        event = _EVENT.match(name)
        if event:
            of = dict(labels)
            found[event[1], of.get("vm"), of.get("context")] = count
    return found


def vms(series):
    """The VMs that any series names."""
    return {dict(labels)["vm"] for _, labels in series if "vm" in dict(labels)}
