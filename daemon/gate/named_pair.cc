// SPDX-License-Identifier: Apache-2.0
#include "daemon/gate/named_pair.h"

#include <openssl/rand.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

constexpr size_t kRandomBytes = 16;

// Binds to an abstract address: the path begins with a zero byte and extends to the end of the address.
bool BindTo(int fd, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

}  // namespace

PairNames::PairNames() {
  std::string random(kRandomBytes, '\0');
  // Without randomness names would be predictable, and TLS impossible.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(random.data()), kRandomBytes) != 1) std::abort();
  prefix_ = absl::StrCat("sideband-", absl::BytesToHexString(random), "-");
}

std::string PairNames::Next() { return absl::StrCat(prefix_, next_.fetch_add(1)); }

absl::StatusOr<NamedPair> MakeNamedPair(const std::string& name) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  // Only the gate's end is bound: gRPC's end reports the name of the other end as its peer.
  if (BindTo(ends[0], name)) return NamedPair{ends[0], ends[1]};
  const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("bind to ", name));
  close(ends[0]);
  close(ends[1]);
  return status;
}

std::string PeerOf(const std::string& name) { return absl::StrCat("unix-abstract:", name); }

}  // namespace sideband::daemon
