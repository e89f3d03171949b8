# SPDX-License-Identifier: Apache-2.0
"""Names that a caller gives: events by their full or their short names, and what a NotFound is about.

    ByEvent({"sm_active_cycles": 7})["sm_active"]       # 7
    answer = yield from explained(call, vm="vm9")       # NotFound: "…: VM 'vm9' (did you mean 'vm1'?)"
"""

import difflib
import uuid

from sideband._errors import Error, NotFound
from sideband._proto.sideband.v1 import telemetry_pb2 as pb
from sideband._steps import Call


# Of a name that is suggested: twice the characters that both have, in their order, of those of both.
_LIKENESS_MIN = 0.6
# Daemons are not believed: more or longer names than a device has would take minutes to compare.
_CANDIDATES_MAX, _SIZE_MAX = 1024, 128


class UnknownEvent(KeyError):
    """There is no event of this name here; the text suggests another one."""

    def __str__(self):
        return self.args[0]


class ByEvent(dict):
    """A dict by the full names of events, which also takes the short ones that screens show, without "_cycles"."""

    def __missing__(self, event):
        return self[full_name(event, self)]

    def __contains__(self, event):
        return super().__contains__(event) or super().__contains__("%s_cycles" % event)

    def get(self, event, default=None):
        return self[event] if event in self else default


def full_name(event, events):
    """The name among `events` that `event` means: itself, else with "_cycles". UnknownEvent if neither is there."""
    known = set(events)
    for name in (event, "%s_cycles" % event):
        if name in known:
            return name
    raise UnknownEvent("no event '%s'%s" % (event, did_you_mean(str(event), known)))


def did_you_mean(word, names):
    """" (did you mean 'x'?)": the shortest name that begins with the word, else the nearest one; "" without any."""
    longer = [name for name in names if word and name.lower().startswith(word.lower())]
    if longer:
        return _suggestion(min(longer, key=lambda name: (len(name), name)))
    candidates = [name for name in sorted(names) if len(name) <= _SIZE_MAX][:_CANDIDATES_MAX]
    likeness = {name: difflib.SequenceMatcher(None, word, name).ratio() for name in candidates}
    nearest = max(likeness, key=likeness.get, default="")
    return _suggestion(nearest) if likeness.get(nearest, 0) >= _LIKENESS_MIN else ""


def _suggestion(name):
    """On one line, whatever characters the daemon's name has."""
    return " (did you mean '%s'?)" % "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in name)


def needs(right):
    return "it is there, but this call needs the right `%s`" % right


def any_of(kind, names):
    """What was asked for, for an error that does not tell which of it is absent."""
    return " or ".join("%s '%s'" % (kind, name) for name in names if name)


def asked(names):
    """The same of all that a pb.Filter names."""
    kinds = (any_of("device", [names.device]), any_of("VM", [names.vm]), any_of("context", [names.context]),
             any_of("event", names.events))
    return " or ".join(filter(None, kinds))


def explained(call, *, device="", vm="", context="", events=(), hint=""):
    """The steps of a call with these names, whose NotFound tells which of them the caller cannot see; `hint` if it sees
    all of them."""
    try:
        return (yield from call if hasattr(call, "send") else _single(call))
    except NotFound as error:
        missing = ", ".join((yield from _missing(device, _canonical(vm), context, events))) or hint
        raise error.naming(missing) if missing else error from None


def _single(call):
    return (yield call)


def _missing(device, vm, context, events):
    found = []
    if device:
        devices = yield from _listed("ListDevices", pb.ListDevicesRequest(), lambda answer: answer.devices)
        found += _absent("device", device, devices and {one.name for one in devices})
    if vm or context:
        scopes = yield from _listed("ListScopes", pb.ListScopesRequest(), lambda answer: answer.scopes)
        found += _absent_scopes(vm, context, scopes)
    if events:
        listed = yield from _listed("ListEvents", pb.ListEventsRequest(), lambda answer: answer.devices)
        known = listed and ByEvent((event.name, event) for one in listed for event in one.events)
        for event in events:
            found += _absent("event", event, known)
    return found


def _listed(method, request, convert):
    """What the daemon lists; None where it cannot tell."""
    try:
        return list((yield Call("Telemetry", method, request, convert)))
    except Error:
        return None


def _absent(kind, name, known):
    if not known or name in known:
        return []
    return ["%s '%s'%s" % (kind, name, did_you_mean(name, known))]


def _absent_scopes(vm, context, scopes):
    if not scopes:
        return []
    of_vm = [scope for scope in scopes if vm in ("", scope.vm, scope.vm_uuid)]
    if vm and not of_vm:
        return _absent("VM", vm, {name for scope in scopes for name in (scope.vm, scope.vm_uuid) if name})
    if vm and all(scope.confidential for scope in of_vm):
        return ["VM '%s' (confidential: its counters are in sealed records only)" % vm]
    if not context:
        return []
    contexts = {scope.context for scope in of_vm if scope.context}
    if not contexts and any(not scope.vm for scope in scopes):
        return ["context '%s' (operators see VMs, not their contexts)" % context]
    return [] if context in contexts else ["context '%s'%s" % (context, did_you_mean(context, contexts))]


def _canonical(vm):
    """A UUID in the daemon's notation; a name as it is."""
    try:
        return str(uuid.UUID(vm)) if len(vm) >= 32 else vm
    except ValueError:
        return vm
