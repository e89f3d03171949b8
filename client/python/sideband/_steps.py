# SPDX-License-Identifier: Apache-2.0
"""What a client does, as steps of generators, so that both clients have the same logic and differ in how they wait.

    def devices():
        return (yield Call("Telemetry", "ListDevices", request, convert))

    run(devices(), perform)                  # perform(step) does it, and returns its result
    await run_async(devices(), perform)      # await perform(step)

An Error of a step is raised in the generator, which may go on.
"""

import dataclasses
import typing

from sideband._errors import Error


@dataclasses.dataclass(frozen=True)
class Call:
    """A method of a service, its request, and what makes the result of its answer."""

    service: str
    method: str
    request: typing.Any
    convert: typing.Callable


@dataclasses.dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclasses.dataclass(frozen=True)
class Connect:
    """Opens a connection with one stream. The endpoint is a _connection.Endpoint."""

    service: str
    method: str
    request: typing.Any
    endpoint: typing.Any
    metadata: typing.Tuple


@dataclasses.dataclass(frozen=True)
class Read:
    """The stream's next response; None at its end. Unavailable after `silence_max_s`; None sets no limit."""

    silence_max_s: typing.Optional[float]


@dataclasses.dataclass(frozen=True)
class Disconnect:
    """Ends the stream and its connection."""


def run(operation, perform):
    """The result of a generator whose steps `perform` does."""
    try:
        step = next(operation)
        while True:
            try:
                result = perform(step)
            except Error as error:
                step = operation.throw(error)
            else:
                step = operation.send(result)
    except StopIteration as end:
        return end.value


async def run_async(operation, perform):
    """As run, with a `perform` that is awaited."""
    try:
        step = next(operation)
        while True:
            try:
                result = await perform(step)
            except Error as error:
                step = operation.throw(error)
            else:
                step = operation.send(result)
    except StopIteration as end:
        return end.value
