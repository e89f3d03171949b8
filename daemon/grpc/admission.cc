// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/admission.h"

#include <openssl/rand.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"
#include "daemon/grpc/subscription.h"
#include "daemon/identity/token_verifier.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

// The standing of a call whose connection the gate does not know, or no longer knows.
class UnknownConnection final : public ConnectionStanding {
 public:
  absl::Status Check() const override { return absl::UnauthenticatedError("the connection is not known"); }
  absl::Status CheckAge() const override { return absl::OkStatus(); }
};

// nullopt without the metadata "authorization". Two values are ambiguous: they count as an empty token, which is
// rejected.
std::optional<std::string> TokenOf(const grpc::CallbackServerContext& call) {
  const auto [first, last] = call.client_metadata().equal_range("authorization");
  if (first == last) return std::nullopt;
  return std::next(first) == last ? BearerToken(std::string(first->second.data(), first->second.size())) : "";
}

Credentials PeerOf(const ServiceContext& context, const grpc::CallbackServerContext& call) {
  // Never without a standing: nullptr would mean that there is nothing to check.
  Credentials peer = context.gate.CredentialsOf(call.peer())
                         .value_or(Credentials{.connection = std::make_shared<const UnknownConnection>()});
  peer.bearer_token = TokenOf(call);
  return peer;
}

// The text form of a request is many times its serialized size, and the audit log keeps 256 bytes of it.
constexpr size_t kToldRequestBytesMax = 1 << 10;
// The audit entry has only the size of longer resume tokens.
constexpr size_t kToldTokenBytesMax = 24;

// The request as the audit log records it: its text, or its size where it is too large.
std::string TextOf(const google::protobuf::Message& request) {
  using sideband::v1::SubscribeRequest;
  const auto* const subscribe = dynamic_cast<const SubscribeRequest*>(&request);
  if (subscribe != nullptr && subscribe->resume_token().size() > kToldTokenBytesMax) {
    // The token is sealed: readers of the log cannot use it.
    SubscribeRequest without_token = *subscribe;
    without_token.set_resume_token(absl::StrCat(subscribe->resume_token().size(), " bytes"));
    return TextOf(without_token);
  }
  const size_t size = request.ByteSizeLong();
  return size <= kToldRequestBytesMax ? request.ShortDebugString() : absl::StrCat(size, " bytes");
}

// Rounded up: a retry that comes early would be rejected again.
std::string Milliseconds(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1))));
}

void AddPushback(absl::Duration retry_after, grpc::CallbackServerContext& call) {
  call.AddTrailingMetadata(kRetryPushback, Milliseconds(retry_after));
}

// Empty where the system returns no random bytes.
std::string DrawRequestId() {
  std::array<uint8_t, 8> id;
  if (RAND_bytes(id.data(), static_cast<int>(id.size())) != 1) return "";
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(id.data()), id.size()));
}

void RefuseByQuota(const ServiceContext& context, const RequestQuota::Verdict& verdict,
                   grpc::CallbackServerContext& call, Admission& admission) {
  AddPushback(verdict.retry_after, call);
  const auto limit = context.quota.limits().per_second;
  admission.status =
      absl::ResourceExhaustedError(absl::StrCat("at most ", limit, limit == 1 ? " call" : " calls", " a second"));
  // Audits only the first of a series of rejections, so that a flood does not push older entries out of the log.
  admission.is_audited = !verdict.is_repeated;
}

// Applies the limits of an authenticated caller. The quota is checked before `under_way`, so that it also bounds the
// cost of rejections by the latter.
void Limit(const ServiceContext& context, grpc::CallbackServerContext& call, Admission& admission) {
  const std::string& identity = admission.asked.caller->principal.identity;
  // Without a certificate the gate has counted the connection for its address; from here on it counts for the identity
  // of the token.
  if (admission.asked.peer.bearer_token && !context.gate.CountAs(call.peer(), identity)) {
    admission.status = WithRetryAfter(absl::ResourceExhaustedError("too many connections of this identity are busy"),
                                      absl::Seconds(1));
    return;
  }
  const RequestQuota::Verdict verdict = context.quota.Take(identity);
  if (!verdict.is_admitted) return RefuseByQuota(context, verdict, call, admission);
  auto share = context.under_way.Begin(identity);
  admission.status = share.status();
  if (share.ok()) admission.share = *std::move(share);
}

}  // namespace

Admission Admit(const ServiceContext& context, grpc::CallbackServerContext& call, const char* endpoint,
                const google::protobuf::Message& request) {
  const Credentials peer = PeerOf(context, call);
  Admission admission{.asked = {peer, context.reader.Authenticate(peer), {.endpoint = endpoint}}};
  if (admission.asked.caller.ok()) {
    Limit(context, call, admission);
  } else {
    // One status for every reason: a caller must not learn which of its proofs was wrong. The audit log has the reason.
    admission.status = UnknownCallerError();
  }
  // Formats the request only where it is audited.
  if (admission.is_audited) admission.asked.access.resource = TextOf(request);
  return admission;
}

// Entries of unauthenticated callers are counted together, and have none.
void Identify(grpc::CallbackServerContext& call, Asked& asked) {
  if (!asked.caller.ok() || !asked.access.id.empty()) return;
  asked.access.id = DrawRequestId();
  if (!asked.access.id.empty()) call.AddTrailingMetadata(kRequestId, asked.access.id);
}

void Conclude(const Reader& reader, grpc::CallbackServerContext& call, Admission& admission,
              const absl::Status& outcome) {
  if (const auto after = RetryAfter(outcome)) AddPushback(*after, call);
  if (!admission.is_audited) return;
  Asked& asked = admission.asked;
  if (!outcome.ok()) Identify(call, asked);
  reader.audit().Record(AccessEntry(reader, asked.caller, asked.peer, asked.access, outcome));
}

void AuditStreamEnd(const Reader& reader, Asked asked, const absl::Status& status) {
  if (!absl::IsUnauthenticated(status) && !absl::IsNotFound(status)) return;
  asked.access.note = "stream ended";
  // The caller receives one message for every reason. The audit log records the actual reason.
  const absl::Status now = reader.Authenticate(asked.peer).status();
  AuditEntry entry = AccessEntry(reader, asked.caller, asked.peer, asked.access, now.ok() ? status : now);
  // The caller's own version is that of its request; the stream ended under the one in force now.
  entry.policy_version = reader.CurrentPolicy().version;
  reader.audit().Record(std::move(entry));
}

}  // namespace sideband::daemon
