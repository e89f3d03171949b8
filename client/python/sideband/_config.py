# SPDX-License-Identifier: Apache-2.0
"""The daemon's address and the client's credentials, from the YAML file that the program `sideband` reads, too.

    config = find_and_load().override(address="unix:/run/sideband/grpc.sock")

The keys are those of Config; paths are relative to the file's own folder.
"""

import dataclasses
import os

import yaml

from sideband._errors import ConfigError
from sideband._files import read_file

DEFAULT_ADDRESS = "127.0.0.1:9878"
_PATHS = ("ca_file", "cert_file", "key_file", "token_file")
_FILE_BYTES_MAX = 1 << 20


@dataclasses.dataclass(frozen=True)
class Config:
    """Members that are not given are empty.

    address: HOST:PORT, [IPv6]:PORT, or unix:PATH, which needs no other member.
    token_file: a bearer token, beside the certificate or in its place; read again for each call.
    server_name: the name in the server's certificate, where it is not the address's host.
    """

    address: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    token_file: str = ""
    server_name: str = ""

    def override(self, **given):
        """A copy with the members in `given` that are neither empty nor None, and the default address if it has none."""
        changed = dataclasses.replace(self, **{name: value for name, value in given.items() if value})
        return changed if changed.address else dataclasses.replace(changed, address=DEFAULT_ADDRESS)


def find(given="", environment=None):
    """The file to load: `given`, else $SIDEBAND_CONFIG, else ~/.config/sideband/client.yaml if it is there, else None."""
    environment = os.environ if environment is None else environment
    named = given or environment.get("SIDEBAND_CONFIG", "")
    if named:
        return named
    home = environment.get("HOME", "")
    usual = home + "/.config/sideband/client.yaml"
    # A file that is there and cannot be read is an error, not a missing configuration.
    return usual if home and os.path.exists(usual) else None


def load(path):
    """The Config in a file. Strict: ConfigError "FILE:LINE: reason" for unknown keys and wrong types."""
    try:
        text = read_file(path, _FILE_BYTES_MAX).decode()
        root = yaml.compose(text, yaml.SafeLoader)
    except UnicodeDecodeError:
        raise ConfigError("%s: not UTF-8" % path) from None
    except yaml.YAMLError as error:
        raise ConfigError(_describe(path, error)) from None
    return Config(**_members(path, root))


def find_and_load(given="", environment=None):
    """An empty Config if there is no file."""
    path = find(given, environment)
    return Config() if path is None else load(path)


def _describe(path, error):
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    # compose() names the first document in the context, and the second one's mark.
    reason = "a second document: a file has one" if reason == "but found another document" else reason
    return "%s:%d: %s" % (path, mark.line + 1, reason) if mark else "%s: %s" % (path, reason)


def _error(path, node, what):
    line = node.start_mark.line + 1 if node is not None else 1
    return ConfigError("%s:%d: %s" % (path, line, what))


def _members(path, root):
    if not isinstance(root, yaml.MappingNode):
        raise _error(path, root, "expected a mapping (key: value)")
    known = {field.name for field in dataclasses.fields(Config)}
    members = {}
    for key, value in root.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name not in known:
            raise _error(path, key, "unknown key '%s'" % name)
        if name in members:
            raise _error(path, key, "key '%s' is given twice" % name)
        if not isinstance(value, yaml.ScalarNode) or not value.value or value.tag.endswith(":null"):
            raise _error(path, value, "expected a text")
        members[name] = _beside(path, value.value) if name in _PATHS else value.value
    return members


def _beside(config_path, path):
    return os.path.join(os.path.dirname(config_path), path)
