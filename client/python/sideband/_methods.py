# SPDX-License-Identifier: Apache-2.0
"""The methods that both clients have. The synchronous client returns results, the asynchronous one awaitables of them;
streams are iterators of the one, and asynchronous iterators of the other.

A client names its library, grpc or grpc.aio, and its class of streams, and has `_run`, which performs an operation.
"""

import threading
import weakref

from sideband import _config, _connection, _errors, _operations
from sideband._reconnection import Backoff


class Methods:
    """A connection to sidebandd, by the configuration of the program `sideband`.

    config: a Config, or the path of a YAML file. Without it: $SIDEBAND_CONFIG, else ~/.config/sideband/client.yaml.
    address, ca_file, cert_file, key_file, token_file, server_name: override single members of the configuration.
    timeout: seconds for an answer, including the connection; of a stream, for its first response.
    backoff: the pace at which streams connect again.

    ConfigError if the configuration, or a file that it names, cannot be used. Every call raises an Error if it fails.
    `device`, `vm` (name or UUID), `context` and `events` choose what is returned; empty ones set no limit.
    """

    def __init__(self, config=None, *, timeout=10.0, backoff=Backoff(), **members):
        loaded = config if isinstance(config, _config.Config) else _config.find_and_load(config or "")
        self.config = loaded.override(**members)
        self.timeout, self.backoff = timeout, backoff
        self._streams = weakref.WeakSet()
        self._renewal = threading.Lock()
        self._open(_connection.endpoint_of(self.config))

    def _open(self, endpoint):
        self._endpoint = endpoint
        self._channel = _connection.open_channel(self._library, endpoint)
        self._stubs = _connection.Stubs(self._channel)

    def _renew(self, error, stubs):
        """Opens another channel if a call of `stubs` failed for want of a valid certificate, and the files have another
        one by now. Returns the former channel, to be closed; or raises the error."""
        if isinstance(error, (_errors.Unauthenticated, _errors.Unavailable)):
            endpoint = _connection.endpoint_of(self.config)
            with self._renewal:
                if endpoint.certificates != self._endpoint.certificates and stubs is self._stubs:
                    former = self._channel
                    self._open(endpoint)
                    return former
        raise error

    def _watch(self, stream):
        watch = self._stream_type(self.config, stream)
        self._streams.add(watch)
        return watch

    def devices(self):
        """The Devices of the host that are visible to the caller."""
        return self._run(_operations.devices())

    def events(self, device=""):
        """The Events that devices count."""
        return self._run(_operations.events(device))

    def scopes(self, device=""):
        """The Scopes whose counters the caller may read."""
        return self._run(_operations.scopes(device))

    def get(self, *, vm="", context="", device="", events=()):
        """The newest Snapshot of each device; none of a device that has not answered yet."""
        return self._run(_operations.get(vm=vm, context=context, device=device, events=events))

    def history(self, *, vm="", context="", device="", events=(), since=None, until=None, step=None):
        """The History from `since` to `until`, each a datetime with a time zone, or a timedelta before now.

        step: the least seconds between two points. FailedPrecondition if the daemon keeps no history.
        """
        return self._run(_operations.history(since, until, step, vm=vm, context=context, device=device, events=events))

    def peek(self, events, *, device="", vm="", context="", host_slice=None):
        """A Row of up to 64 events of one scope as they are now, read from the device for this call alone."""
        return self._run(_operations.peek(events, device, vm, context, host_slice))

    def sensors(self, device="", names=()):
        """The newest Sensors of boards; `names` are those of metrics."""
        return self._run(_operations.sensors(device, names))

    def sensor_descriptions(self, device="", names=()):
        """What the sensors mean."""
        return self._run(_operations.sensor_descriptions(device, names))

    def mark(self, vm, *, context="", device="", label="", patience=10.0):
        """Marks this instant of a VM's, or a context's, work; returns the Mark, pending.

        Without a device, the first one that has the VM. patience: seconds to wait where the scope's last mark has not
        been served, or others of its VM have used its share.
        """
        return self._run(_operations.mark(vm, context, device, label, patience))

    def marks(self, *, vm="", context="", device=""):
        """The Marks that the daemon keeps, oldest first."""
        return self._run(_operations.marks(device, vm, context))

    def span(self, begin, end, events=(), *, patience=10.0):
        """The Span: what was counted between two Marks of a scope, exactly.

        patience: seconds to wait for the snapshot that brings what was counted.
        """
        return self._run(_operations.span(begin, end, events, patience))

    def watch(self, *, interval=None, vm="", context="", device="", events=(), sensors=False, suppress_redundant=False,
              heartbeat=10.0, resume_token=b""):
        """A stream of Updates, one per device and `interval` seconds, or the device's own interval; it does not end.

        It connects again after a loss, and goes on where it was. What may have been missed is a Gap in the stream, and
        what cannot be true an Inconsistent. With `sensors`, there are SensorsUpdates, too.

        suppress_redundant: an update has only rows in which something has changed, but for heartbeats.
        heartbeat: seconds, from 1 to a day; a stream without a response for two is taken for dead. None: no heartbeats.
        resume_token: of an earlier stream with the same arguments.
        """
        return self._watch(_operations.watch(
            self.timeout, self.backoff, interval, heartbeat, sensors, suppress_redundant, resume_token,
            vm=vm, context=context, device=device, events=events))

    def watch_state(self, *, vm="", context="", device="", events=(), heartbeat=30.0, resume_token=b""):
        """A stream of Changes of devices, scopes, limits, marks and board events; Synced after the present state.

        Otherwise as `watch`. Unimplemented: the daemon is older than such streams.
        """
        return self._watch(_operations.watch_state(self.timeout, self.backoff, heartbeat, resume_token, vm=vm,
                                                   context=context, device=device, events=events))

    def board_events(self, device="", *, follow=False):
        """What happens to boards: DriverMessage, RaisedEvent and MessagesLost; first what the daemon holds.

        follow: then each as it comes; the stream connects again after a loss, with a Gap.
        """
        return self._watch(_operations.board_events(self.timeout, self.backoff, device, follow))
