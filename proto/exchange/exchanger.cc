// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/exchanger.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/keys.h"

namespace sideband::exchange {

void Challenges::Expire(OfVm& vm, absl::Duration now) const {
  const auto is_past = [&](absl::Duration drawn) { return now - drawn > limits_.lifetime; };
  while (!vm.open.empty() && is_past(vm.open.front().drawn)) vm.open.pop_front();
  while (!vm.drawn.empty() && is_past(vm.drawn.front())) vm.drawn.pop_front();
}

absl::StatusOr<Challenge> Challenges::Draw(const Uuid& vm, absl::Duration now) {
  OfVm& of = vms_[vm];
  Expire(of, now);
  if (of.drawn.size() >= limits_.drawn_per_lifetime_max) {
    return absl::ResourceExhaustedError("too many exchanges of this VM's keys in too short a time");
  }
  Challenge challenge;
  if (RAND_bytes(challenge.data(), challenge.size()) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  if (of.open.size() >= limits_.open_per_vm) of.open.pop_front();
  of.open.push_back({challenge, now});
  of.drawn.push_back(now);
  return challenge;
}

bool Challenges::Take(const Uuid& vm, const Challenge& challenge, absl::Duration now) {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return false;
  std::deque<Open>& open = found->second.open;
  Expire(found->second, now);
  const auto same = std::ranges::find_if(open, [&](const Open& one) {
    return CRYPTO_memcmp(one.challenge.data(), challenge.data(), challenge.size()) == 0;
  });
  if (same == open.end()) return false;
  open.erase(same);
  return true;
}

absl::StatusOr<Challenge> Exchanger::Draw(const Uuid& vm, absl::Duration now) {
  if (rules_.FindGuest(vm) == nullptr) return absl::NotFoundError("no guest is trusted with this VM's keys");
  return challenges_.Draw(vm, now);
}

absl::StatusOr<attestation::GuestClaims> Exchanger::Verify(const ExchangeRequest& request, const ExchangeTarget& target,
                                                           absl::Duration now, std::optional<absl::Time> utc) {
  if (request.device != target.device || request.vm != target.vm) {
    return absl::PermissionDeniedError("the request is of another VM or device");
  }
  const attestation::GuestPolicy* const policy = rules_.FindGuest(target.vm);
  const attestation::Verifier* const verifier = rules_.FindVerifier(request.kind);
  if (policy == nullptr) return absl::PermissionDeniedError("no guest is trusted with this VM's keys");
  if (verifier == nullptr) return absl::PermissionDeniedError("this kind of evidence is not accepted");
  // Taken before the work: a request that is repeated costs nothing.
  if (!challenges_.Take(target.vm, request.challenge, now)) {
    return absl::PermissionDeniedError("the request names no open challenge of the VM: it is late, or a replay");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const ReportData report_data, ReportDataOf(request));
  SIDEBAND_ASSIGN_OR_RETURN(attestation::GuestClaims claims, verifier->Verify(request.evidence, report_data, utc));
  SIDEBAND_RETURN_IF_ERROR(attestation::CheckGuest(claims, *policy));
  return claims;
}

absl::StatusOr<Exchanged> Exchanger::Answer(const ExchangeRequest& request, ByteSpan bytes,
                                            const ExchangeTarget& target) const {
  SIDEBAND_ASSIGN_OR_RETURN(const Sha256Digest digest, Sha256(bytes));
  const auto sent = envelope::SetUpSender(request.public_key, HpkeInfo(digest));
  if (!sent.ok()) return absl::PermissionDeniedError("the public key is none");
  const Bytes statement = EncodeStatement({.sealer = self_.sealer,
                                           .device = target.device,
                                           .boot_id = target.boot_id,
                                           .vm = target.vm,
                                           .generation = target.generation,
                                           .enc = sent->enc,
                                           .measurement = self_.measurement,
                                           .request = digest,
                                           .events = target.events});
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes context, ExportContext(statement));
  SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret secret, sent->keys.Export(context, envelope::kStaticKeyBytes));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes signature, rules_.identity().Sign(statement));
  return Exchanged{.answer = EncodeAnswer(statement, rules_.identity().certificates(), signature),
                   .secret = std::move(secret),
                   .nonce = request.nonce,
                   .claims = {}};
}

absl::StatusOr<Exchanged> Exchanger::Exchange(ByteSpan bytes, const ExchangeTarget& target, absl::Duration now,
                                              std::optional<absl::Time> utc) {
  SIDEBAND_ASSIGN_OR_RETURN(const ExchangeRequest request, ParseRequest(bytes));
  SIDEBAND_ASSIGN_OR_RETURN(attestation::GuestClaims claims, Verify(request, target, now, utc));
  SIDEBAND_ASSIGN_OR_RETURN(Exchanged done, Answer(request, bytes, target));
  done.claims = claims;
  return done;
}

}  // namespace sideband::exchange
