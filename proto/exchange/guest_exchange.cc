// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/guest_exchange.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/keys.h"
#include "proto/exchange/messages.h"

namespace sideband::exchange {
namespace {

absl::Status Untrusted(absl::string_view why) {
  return absl::PermissionDeniedError(absl::StrCat("the sealer is not trusted: ", why));
}

}  // namespace

absl::StatusOr<GuestExchange> GuestExchange::Begin(const Subject& subject, const Challenge& challenge) {
  SIDEBAND_ASSIGN_OR_RETURN(envelope::KeyPair own, envelope::KeyPair::Generate());
  ExchangeRequest request{.kind = subject.kind,
                          .device = subject.device,
                          .vm = subject.vm,
                          .public_key = own.public_key(),
                          .nonce = {},
                          .challenge = challenge,
                          .evidence = {}};
  if (RAND_bytes(request.nonce.data(), static_cast<int>(request.nonce.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  return GuestExchange(std::move(own), std::move(request));
}

absl::StatusOr<Bytes> GuestExchange::Request(Bytes evidence) {
  if (evidence.size() > kEvidenceBytesMax) return absl::OutOfRangeError("the evidence is too long for a request");
  request_.evidence = std::move(evidence);
  sent_ = EncodeRequest(request_);
  return sent_;
}

absl::Status GuestExchange::CheckStatement(const Statement& statement, const Sha256Digest& request,
                                           const SealerTrust& trust) const {
  if (statement.request != request) return Untrusted("it answers another request");
  if (statement.device != request_.device || statement.vm != request_.vm) return Untrusted("it is of another VM");
  if (std::ranges::find(trust.sealers, statement.sealer) == trust.sealers.end()) {
    return Untrusted(absl::StrCat("records would be sealed by the ", SealerName(statement.sealer)));
  }
  const auto& known = trust.measurements;
  if (!known.empty() && std::ranges::find(known, statement.measurement) == known.end()) {
    return Untrusted("it is another program");
  }
  return absl::OkStatus();
}

absl::StatusOr<GuestKeys> GuestExchange::Finish(ByteSpan bytes, const SealerTrust& trust,
                                                std::optional<absl::Time> now) const {
  SIDEBAND_ASSIGN_OR_RETURN(const AnswerView answer, ParseAnswer(bytes));
  SIDEBAND_RETURN_IF_ERROR(VerifySigned(*trust.roots, answer.certificates, answer.statement, answer.signature, now));
  SIDEBAND_ASSIGN_OR_RETURN(Statement statement, ParseStatement(answer.statement));
  if (statement.sealer == SealerKind::kDevice && !IsOfDevice(answer.certificates.front(), statement.device)) {
    return Untrusted("its certificate is of another device");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const Sha256Digest digest, Sha256(sent_));
  SIDEBAND_RETURN_IF_ERROR(CheckStatement(statement, digest, trust));
  SIDEBAND_ASSIGN_OR_RETURN(const envelope::HpkeKeys keys,
                            envelope::SetUpReceiver(statement.enc, own_, HpkeInfo(digest)));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes context, ExportContext(answer.statement));
  SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret secret, keys.Export(context, envelope::kStaticKeyBytes));
  return GuestKeys{.secret = std::move(secret), .nonce = request_.nonce, .statement = std::move(statement)};
}

}  // namespace sideband::exchange
