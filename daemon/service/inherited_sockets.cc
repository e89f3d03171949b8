// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/inherited_sockets.h"

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// The names of the sockets, which are the descriptors from SD_LISTEN_FDS_START on.
absl::StatusOr<std::vector<std::string>> SocketNames() {
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
  if (count < 0) return absl::InvalidArgumentError(absl::StrCat("inherited sockets: ", std::strerror(-count)));
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) {
    found.emplace_back(names[i]);
    std::free(names[i]);  // NOLINT: libsystemd's contract
  }
  std::free(names);  // NOLINT: libsystemd's contract
  return found;
}

bool IsListeningTcp(int fd) { return sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, /*listening=*/1, /*port=*/0) > 0; }

absl::Status Take(const std::string& name, int fd, InheritedSockets& sockets) {
  const auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("the inherited socket '", name, "' ", why));
  };
  if (name != "http" && name != "grpc") return error("has another name than http and grpc (FileDescriptorName=)");
  if (!IsListeningTcp(fd)) return error("is not a listening TCP socket");
  int& place = name == "http" ? sockets.http : sockets.grpc;
  if (place >= 0) return error("was passed twice: one address (ListenStream=) for each name");
  place = fd;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InheritedSockets> TakeInheritedSockets() {
  const auto names = SocketNames();
  if (!names.ok()) return names.status();
  InheritedSockets sockets;
  int fd = SD_LISTEN_FDS_START;
  for (const std::string& name : *names) {
    if (const absl::Status status = Take(name, fd++, sockets); !status.ok()) return status;
  }
  return sockets;
}

}  // namespace sideband::daemon
