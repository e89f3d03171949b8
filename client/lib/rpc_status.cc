// SPDX-License-Identifier: Apache-2.0
#include "client/lib/rpc_status.h"

#include <grpcpp/support/status.h>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

constexpr char kRemoteUrl[] = "sideband.client/remote";

// gRPC's words for a TLS server that does not agree on HTTP/2, as the daemon's HTTPS port is.
constexpr char kNoAlpn[] = "missing selected ALPN property";

std::string Message(const grpc::Status& status, absl::StatusCode code) {
  if (absl::StrContains(status.error_message(), kNoAlpn)) {
    return "what listens there speaks TLS, but not gRPC: is it the daemon's HTTPS port? gRPC has one of its own";
  }
  return status.error_message().empty() ? absl::StatusCodeToString(code) : status.error_message();
}

}  // namespace

absl::Status FromRpc(const grpc::Status& status, const std::string& peer) {
  if (status.ok()) return absl::OkStatus();
  // Both enumerations are the canonical codes.
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  return MarkRemote(absl::Status(code, absl::StrCat(peer, peer.empty() ? "" : ": ", Message(status, code))));
}

bool IsRemote(const absl::Status& status) { return status.GetPayload(kRemoteUrl).has_value(); }

absl::Status MarkRemote(absl::Status status) {
  status.SetPayload(kRemoteUrl, absl::Cord());
  return status;
}

}  // namespace sideband::client
