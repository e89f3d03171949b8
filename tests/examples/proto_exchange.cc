// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "proto/attestation/evidence.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/counts.h"
#include "proto/envelope/keys.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/identity.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/sealing_file.h"
#include "proto/exchange/vm_content.h"
#include "proto/exchange/vm_keys.h"

namespace testing {
std::string TempDir();
}

namespace sideband::exchange {
namespace {

using attestation::EvidenceKind;

Bytes Report(const ReportData& report_data);
Bytes Send(const Bytes& bytes);

absl::Status UseMessages(const Uuid& device, const Uuid& vm, const envelope::KeyPair& own,
                         const envelope::GuestNonce& nonce, const Challenge& challenge) {
  //@ proto/exchange/messages.h
  return absl::OkStatus();
}

absl::Status UseIdentity(const CertificateRoots& roots, const std::vector<ByteSpan>& certificates,
                         const Bytes& statement) {
  //@ proto/exchange/identity.h
  return absl::OkStatus();
}

absl::Status Refused();

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
