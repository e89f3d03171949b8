// SPDX-License-Identifier: Apache-2.0
#include "client/lib/rpc_status.h"

#include <grpcpp/support/status.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

constexpr char kRemoteUrl[] = "sideband.client/remote";

// gRPC's message for a TLS server that does not negotiate HTTP/2, such as the daemon's HTTPS port.
constexpr char kNoAlpn[] = "missing selected ALPN property";

// The system's messages, forwarded by gRPC, for a connection that the peer closed before its first use.
constexpr const char* kClosed[] = {"Broken pipe", "Connection reset by peer", "Socket closed"};

bool IsClosedSocket(const grpc::Status& status, const std::string& peer) {
  const auto is_in = [&](const char* words) { return absl::StrContains(status.error_message(), words); };
  // The daemon closes local connections of users that are not local operators.
  return absl::StartsWith(peer, "unix:") && status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         std::any_of(std::begin(kClosed), std::end(kClosed), is_in);
}

std::string Message(const grpc::Status& status, absl::StatusCode code, const std::string& peer) {
  if (IsClosedSocket(status, peer)) {
    return "the daemon closed the connection: is it running, and is this user one of its local_operators?";
  }
  if (absl::StrContains(status.error_message(), kNoAlpn)) {
    return "the server at this address speaks TLS, but not gRPC: is it the daemon's HTTPS port? gRPC has its own port";
  }
  return status.error_message().empty() ? absl::StatusCodeToString(code) : status.error_message();
}

}  // namespace

absl::Status FromRpc(const grpc::Status& status, const std::string& peer) {
  if (status.ok()) return absl::OkStatus();
  // Both enumerations use the canonical codes.
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  return MarkRemote(absl::Status(code, absl::StrCat(peer, peer.empty() ? "" : ": ", Message(status, code, peer))));
}

bool IsRemote(const absl::Status& status) { return status.GetPayload(kRemoteUrl).has_value(); }

absl::Status MarkRemote(absl::Status status) {
  status.SetPayload(kRemoteUrl, absl::Cord());
  return status;
}

}  // namespace sideband::client
