// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "proto/attestation/guest_policy.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/counts.h"
#include "proto/envelope/ratchet.h"
#include "proto/exchange/digest.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/identity.h"
#include "proto/exchange/read_into.h"
#include "proto/exchange/record_sealer.h"
#include "proto/exchange/request.h"
#include "proto/exchange/sealing_file.h"
#include "proto/exchange/statement.h"
#include "proto/exchange/vm_content.h"
#include "proto/exchange/vm_keys.h"

namespace testing {
std::string TempDir();
}

namespace sideband::exchange {
namespace {

using attestation::EvidenceKind;

absl::Status UseDigest(const Bytes& request) {
  //@ proto/exchange/digest.h
  return absl::OkStatus();
}

Bytes Report(const ReportData& report_data);
Bytes Send(const Bytes& bytes);

absl::Status UseRequest(const Uuid& device, const Uuid& vm, const hpke::KeyPair& own, const envelope::GuestNonce& nonce,
                        const Challenge& challenge) {
  //@ proto/exchange/request.h
  return absl::OkStatus();
}

void UseReadInto(ByteReader& in, ExchangeRequest& request) {
  //@ proto/exchange/read_into.h
}

absl::Status UseStatement(const hpke::PublicKey& enc, const Bytes& bytes) {
  //@ proto/exchange/statement.h
  return absl::OkStatus();
}

absl::Status UseIdentity(const CertificateRoots& roots, const std::vector<ByteSpan>& certificates,
                         const Bytes& statement) {
  //@ proto/exchange/identity.h
  return absl::OkStatus();
}

absl::Status Refused();

absl::Status UseRecordSealer(const Uuid& device, uint64_t boot_id, const Uuid& vm, uint32_t generation,
                             const envelope::GuestNonce& nonce, envelope::Secret secret, const KeyRotation& rotation,
                             uint64_t reference_time_ns, const Bytes& content, absl::Duration now) {
  //@ proto/exchange/record_sealer.h
  return absl::OkStatus();
}

absl::Status UseVmKeys(const Uuid& device, uint64_t boot_id, const SealingRules& rules, const Uuid& vm,
                       uint32_t generation, Exchanged done, const Bytes& content,
                       const std::set<Uuid>& vms_of_the_catalogue, absl::Duration now) {
  //@ proto/exchange/vm_keys.h
  return absl::OkStatus();
}

absl::Status Check(const attestation::GuestClaims& claims, const attestation::GuestPolicy& policy);

absl::Status UseSealingFile(const Uuid& vm, const attestation::GuestClaims& claims) {
  //@ proto/exchange/sealing_file.h
  return absl::OkStatus();
}

struct FakeClock {
  absl::Duration Now() const;
};

absl::Status UseExchanger(const SealingRules& rules, const Uuid& vm, const Bytes& request, const ExchangeTarget& target,
                          VmKeys& keys, const FakeClock& clock, absl::Time utc, uint32_t generation) {
  //@ proto/exchange/exchanger.h
  return absl::OkStatus();
}

absl::Status UseGuestExchange(const Uuid& device, const Uuid& vm, const Challenge& challenge,
                              const SealerTrust& trust) {
  //@ proto/exchange/guest_exchange.h
  return absl::OkStatus();
}

void UseVmContent(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t vm,
                  ExchangeTarget target) {
  //@ proto/exchange/vm_content.h
}

void UseExchangeFixture(const ReportData& report_data) {
  //@ proto/exchange/exchange_fixture.h
}

}  // namespace
}  // namespace sideband::exchange
