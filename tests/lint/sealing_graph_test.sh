#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Of the build graph: what seals cannot open, and the daemon has no guest's half of an exchange. The client has both.
cd "$(dirname "$0")" || exit 1
status=0
for path in daemon_to_opening daemon_to_guest_keys device_to_opening; do
  if [ -s "$path" ]; then
    echo "there is a path:"
    cat "$path"
    status=1
  fi
done
if [ ! -s client_to_opening ]; then
  echo "the query finds nothing, not even the client's path"
  status=1
fi
exit $status
