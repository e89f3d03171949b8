// SPDX-License-Identifier: Apache-2.0
#include "client/lib/rpc_status.h"

#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

constexpr char kRemoteUrl[] = "sideband.client/remote";
constexpr char kRetryAfterUrl[] = "sideband.client/retry-after-ms";
// gRPC's trailing metadata of a refused call: the milliseconds until a retry can succeed (gRFC A6).
constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";

// gRPC's message for a TLS server that does not negotiate HTTP/2, such as the daemon's HTTPS port.
constexpr char kNoAlpn[] = "missing selected ALPN property";

// The system's messages, forwarded by gRPC, for a connection that the peer closed before its first use.
constexpr const char* kClosed[] = {"Broken pipe", "Connection reset by peer", "Socket closed"};

// How gRPC's messages begin if no connection comes about. A daemon's own may have the same errors, of its bus.
constexpr const char* kConnecting[] = {"failed to connect to all addresses", "DNS resolution failed"};
// gRPC's words for the cause, and ours. The first that are in a message hold.
constexpr std::pair<const char*, const char*> kNoConnection[] = {
    {"Could not contact DNS servers",
     "the host's name cannot be looked up: no DNS server answers; a numeric address needs none"},
    {"DNS resolution failed", "the host's name is not known: is it misspelt, or does DNS have no entry for it?"},
    {"Connection refused", "no program listens there: is the daemon running, and is this its gRPC port or socket?"},
    {"No such file or directory", "the socket is not there: is the daemon running, with this unix_socket?"},
    {"Trying to connect an http1.x server",
     "the server there speaks HTTP, but not gRPC: is it the daemon's HTTP socket? gRPC has its own: grpc.unix_socket"},
    {"Network is unreachable", "there is no route to the host: is the address right?"},
    {"No route to host", "there is no route to the host: is the address right?"},
    {"Connection timed out", "the host does not answer: is the address right, and does a firewall let it through?"},
};

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
  const auto begins = [&](const char* words) { return absl::StartsWith(status.error_message(), words); };
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && std::ranges::any_of(kConnecting, begins)) {
    for (const auto& [theirs, ours] : kNoConnection) {
      if (absl::StrContains(status.error_message(), theirs)) return ours;
    }
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

absl::Status FromRpc(const grpc::Status& status, const std::string& peer, const RpcMetadata& trailers) {
  absl::Status from = FromRpc(status, peer);
  const auto pushback = trailers.find(kRetryPushback);
  if (from.ok() || pushback == trailers.end()) return from;
  from.SetPayload(kRetryAfterUrl, absl::Cord(absl::string_view(pushback->second.data(), pushback->second.size())));
  return from;
}

bool IsRemote(const absl::Status& status) { return status.GetPayload(kRemoteUrl).has_value(); }

absl::Status MarkRemote(absl::Status status) {
  status.SetPayload(kRemoteUrl, absl::Cord());
  return status;
}

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const auto text = status.GetPayload(kRetryAfterUrl);
  int64_t milliseconds = 0;
  // A negative number means: never.
  if (!text || !absl::SimpleAtoi(std::string(*text), &milliseconds) || milliseconds < 0) return std::nullopt;
  return std::min(absl::Milliseconds(milliseconds), kRetryAfterMax);
}

bool IsTooLarge(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && absl::StrContains(status.message(), "larger than max (");
}

bool IsStarting(const absl::Status& ended) { return !IsRemote(ended) || absl::IsNotFound(ended); }

bool MayOpenAgain(const absl::Status& ended, const StreamPast& past) {
  if (!past.was_open && !(past.waits_for_first && IsRemote(ended))) return false;
  if (IsStarting(ended)) return past.starting_for && *past.starting_for < kStartingPatience;
  switch (ended.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    case absl::StatusCode::kResourceExhausted:
      return !IsTooLarge(ended);
    case absl::StatusCode::kUnauthenticated:
      return past.has_new_credentials;
    default:
      return false;
  }
}

}  // namespace sideband::client
