# SPDX-License-Identifier: Apache-2.0
"""How a channel to the daemon is made: address, credentials, options. The channel itself is grpc's or grpc.aio's.

    endpoint = endpoint_of(config)
    channel = open_channel(grpc, endpoint)
"""

import dataclasses
import re
import typing

import grpc

from sideband._errors import ConfigError
from sideband._files import load_certificates, load_token
from sideband._proto.sideband.v1 import sensors_pb2_grpc, telemetry_pb2_grpc

# Sufficient for snapshots of large devices; the daemon sends no larger messages.
MESSAGE_BYTES_MAX = 16 << 20
_KEEPALIVE_MS = 30_000
_KEEPALIVE_TIMEOUT_MS = 20_000
_RECONNECT_MS_MAX = 10_000
_LOCAL = "unix:"
_ADDRESS = re.compile(r"(\[[0-9A-Za-z:.%]+\]|[^:/\[\] ]+):([0-9]{1,5})")


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A gRPC target, its credentials and options; and the contents of the certificates' files, for comparison."""

    target: str
    credentials: grpc.ChannelCredentials
    options: typing.Tuple[typing.Tuple[str, typing.Any], ...]
    certificates: typing.Tuple[typing.Optional[bytes], ...] = ()


def endpoint_of(config):
    """Reads and checks the files of a Config; ConfigError names the first that cannot be used."""
    if config.address.startswith(_LOCAL):
        if config.address == _LOCAL:
            raise ConfigError("address '%s': the socket's path is missing" % config.address)
        # The kernel tells the daemon the user, and only the daemon can have made the socket.
        return Endpoint(config.address, grpc.local_channel_credentials(grpc.LocalConnectionType.UDS), _options(""))
    _check(config)
    certificates = load_certificates(config.ca_file, config.cert_file, config.key_file)
    authorities, chain, key = certificates
    credentials = grpc.ssl_channel_credentials(authorities, key, chain)
    return Endpoint(_target(config.address), credentials, _options(_server_name(config)), certificates)


def open_channel(library, endpoint):
    """A channel of `library`: grpc or grpc.aio. The first call opens the connection."""
    return library.secure_channel(endpoint.target, endpoint.credentials, endpoint.options)


def metadata_of(config):
    """What each call carries: the token as it is in its file now; nothing through the Unix socket, which needs none."""
    if not config.token_file or config.address.startswith(_LOCAL):
        return ()
    return (("authorization", "Bearer " + load_token(config.token_file)),)


def has_other_credentials(config, endpoint, metadata):
    """Whether the files have other certificates or another token now than those with which a call was made."""
    try:
        return endpoint_of(config).certificates != endpoint.certificates or metadata_of(config) != metadata
    except ConfigError:
        # They were usable then: they are just being replaced, one after the other.
        return True


class Stubs:
    """The services of a channel by their names in the .proto files."""

    def __init__(self, channel):
        self._services = {"Telemetry": telemetry_pb2_grpc.TelemetryStub(channel),
                          "Sensors": sensors_pb2_grpc.SensorsStub(channel)}

    def method(self, service, name):
        return getattr(self._services[service], name)


def _check(config):
    found = _ADDRESS.fullmatch(config.address)
    if not found or not 0 < int(found[2]) < 65536:
        raise ConfigError("address '%s': expected HOST:PORT, [IPv6]:PORT or unix:PATH" % config.address)
    # A token may replace the certificate.
    needed = ("ca_file",) if config.token_file and not config.cert_file and not config.key_file else (
        "ca_file", "cert_file", "key_file")
    for name in needed:
        if not getattr(config, name):
            raise ConfigError("no %s is given: name it in the configuration file or as an argument" % name)


def _is_localhost(address):
    return address.lower().startswith("localhost:")


def _target(address):
    """gRPC's own resolver knows localhost from /etc/hosts only, where a container may not have it (RFC 6761, 6.3)."""
    if not _is_localhost(address):
        return address
    port = address.rpartition(":")[2]
    # All addresses of a target have to be of one family.
    return "ipv6:[::1]:%s,[::ffff:127.0.0.1]:%s" % (port, port)


def _server_name(config):
    # The target of localhost is an address; the certificate must still be for localhost.
    return config.server_name or ("localhost" if _is_localhost(config.address) else "")


def _options(server_name):
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
        # Connects to the configured address only, without a proxy from the environment.
        ("grpc.enable_http_proxy", 0),
        # A peer that has vanished without a word is noticed while a call is open.
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_MS),
        ("grpc.http2.max_pings_without_data", 0),
        # Streams have a pace of their own for connecting again; gRPC's would go up to two minutes.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS_MAX),
    ]
    return tuple(options + ([("grpc.ssl_target_name_override", server_name)] if server_name else []))
