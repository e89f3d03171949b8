#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a verb of ./dev in a minimal Debian tree, without /etc/hosts:
#   tests/debian/bare_tree.sh [12|13] [VERB [ARGUMENT]…]     default: 12 demo --once
# The tree gets a clean clone of this repository (committed files only), and ../shared/data if it exists. Packages come
# from the mirror that this machine's apt uses. Fails if the verb fails, if it is silent for more than 20 s, or if it
# leaves a service, a user or temporary files behind. Needs root and debootstrap; without them it prints a message and
# exits with 0. BARE_TREE_OBJECTS names a folder in which compiled objects are kept from one run to the next.
set -euo pipefail
repository=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
readonly repository
readonly silence_max_s=20

skip() {
  echo "bare_tree.sh: skipped: $1"
  exit 0
}

release=12
if [ $# -gt 0 ]; then
  release=$1
  shift
fi
[ $# -gt 0 ] || set -- demo --once
case $release in
  12) codename=bookworm ;;
  13) codename=trixie ;;
  *)
    echo "bare_tree.sh: Debian 12 or 13, not '$release'" >&2
    exit 2
    ;;
esac
[ "$(id -u)" -eq 0 ] || skip "it needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "this machine gives out no namespaces"
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME)' 'Identifier: Packages' |
  awk '$1 == "Debian" && $3 !~ /-/ && !seen++ { print $2 }')
[ -n "$mirror" ] || skip "apt knows no mirror of Debian"

# Not /tmp, which may be in memory: a tree takes gigabytes.
tree=$(TMPDIR=${TMPDIR:-/var/tmp} mktemp -d --suffix=-debian$release)
readonly tree
trap 'rm -rf --one-file-system "$tree" "$tree.log"' EXIT

megabytes() { du -smx --apparent-size "$@" 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'; }

make_tree() {
  echo "== Debian $release, minbase"
  debootstrap --variant=minbase "$codename" "$tree" "$mirror" >"$tree.log" 2>&1 || {
    tail -n 20 "$tree.log" >&2
    exit 1
  }
  rm -f "$tree.log" "$tree/etc/hosts" "$tree"/var/cache/apt/archives/*.deb
  # The tree is temporary and need not survive a crash.
  echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/unsafe-io"
  git clone --quiet --no-hardlinks "$repository" "$tree/sideband"
  if [ -d "$repository/../shared/data" ]; then
    mkdir "$tree/shared"
    cp -RL "$repository/../shared/data" "$tree/shared/data"
  fi
}

# Runs a command in the tree, with mounts and processes of its own, which end with it.
in_tree() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -euc '
    tree=$1
    shift
    [ -z "${BARE_TREE_OBJECTS:-}" ] || mount --bind "$BARE_TREE_OBJECTS" "$tree/root/.cache/sideband/objects"
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
      chroot "$tree" "$@"' - "$tree" "$@" </dev/null
}

# Copies the verb's output, and writes the longest period without output, in seconds.
measure_silence() {
  local line last=$SECONDS longest=0
  while IFS= read -r line; do
    [ $((SECONDS - last)) -le "$longest" ] || longest=$((SECONDS - last))
    last=$SECONDS
    printf '%s\n' "$line"
  done
  [ $((SECONDS - last)) -le "$longest" ] || longest=$((SECONDS - last))
  echo "$longest" >"$tree/silence"
}

# Prints one line for each leftover.
left_behind() {
  find "$tree/tmp" -mindepth 1 -maxdepth 1 ! -name 'hsperfdata_*' -printf 'left behind: /tmp/%f\n'
  grep '^prometheus:' "$tree/etc/passwd" | sed 's/:.*/: a user that was left behind/' || true
  find "$tree/etc" -path '*/systemd/system/*' -name '*prometheus*' -printf 'enabled: %f\n'
}

main() {
  local start status=0 silence left
  make_tree
  [ -z "${BARE_TREE_OBJECTS:-}" ] || mkdir -p "$tree/root/.cache/sideband/objects" "$BARE_TREE_OBJECTS"
  echo "== ./dev $*"
  start=$SECONDS
  in_tree sh -c 'cd /sideband && exec ./dev "$@" 2>&1' - "$@" | measure_silence || status=$?
  silence=$(cat "$tree/silence")
  left=$(left_behind)
  echo "== Debian $release, ./dev $*: exit status $status after $((SECONDS - start)) s"
  echo "   downloaded packages $(megabytes "$tree/var/cache/apt/archives") MB; the tree $(megabytes "$tree") MB," \
    "of which the build $(megabytes "$tree/root/.cache") MB; longest silence $silence s"
  [ -z "$left" ] || echo "$left"
  [ "$status" -eq 0 ] && [ -z "$left" ] && [ "$silence" -le "$silence_max_s" ]
}

main "$@"
