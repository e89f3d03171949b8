# SPDX-License-Identifier: Apache-2.0
"""Sideband: counters, sensors and marks of shared accelerators, from the daemon sidebandd.

    with sideband.Client() as client:
        for update in client.watch(vm="vm1", interval=1):
            if isinstance(update, sideband.Update):
                print(update.snapshot.row("vm1")["sm_active_cycles"])

`sideband.aio` has the same for asyncio. docs/python.md goes through all of it.
"""

import pkgutil

# Modules that a program has generated of the same .proto files, sideband/v1/…, stay importable beside this package.
__path__ = pkgutil.extend_path(__path__, __name__)

from sideband import aio  # noqa: E402
from sideband._boards import (DriverMessage, MessagesLost, RaisedEvent, Sensor, SensorDescription,  # noqa: E402
                              SensorKind)
from sideband._config import Config  # noqa: E402
from sideband._counters import (Counter, Counting, Device, DeviceKind, DeviceState, Estimate, Event,  # noqa: E402
                                EventScope, Method, Ratio, Row, RowState, Scope, Snapshot)
from sideband._errors import (Aborted, Cancelled, ConfigError, DeadlineExceeded, Error,  # noqa: E402
                              FailedPrecondition, Internal, InvalidArgument, NotFound, PermissionDenied, ProtocolError, ResourceExhausted,
                              Unauthenticated, Unavailable, Unimplemented)
from sideband._history import Column, DeviceHistory, History, Series, Status  # noqa: E402
from sideband._marks import Mark, MarkState, Span  # noqa: E402
from sideband._names import UnknownEvent  # noqa: E402
from sideband._rates import InconsistentWarning, RowRates, rates  # noqa: E402
from sideband._reconnection import Backoff  # noqa: E402
from sideband._updates import (Change, Gap, GapReason, Inconsistent, InconsistentKind, Limit, ScopeState,  # noqa: E402
                               SensorsUpdate, Synced, Update)
from sideband._version import VERSION as __version__  # noqa: E402
from sideband.client import Client  # noqa: E402

__all__ = [name for name in dir() if name[0].isupper()] + ["aio", "rates", "__version__"]
