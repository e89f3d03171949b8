// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "proto/envelope/secret_access.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"

namespace sideband::envelope {
namespace {

absl::Status UseKeys(const RecordHeader& header, const Bytes& content) {
  //@ proto/envelope/keys.h
  return absl::OkStatus();
}

bool UseSecret(Bytes bytes, const Secret& expected) {
  //@ proto/envelope/secret.h
  return false;
}

void Use(const CountsRow& row, std::span<const uint64_t> counts);

absl::Status UseRecord(const Bytes& bytes, const Uuid& vm, const Bytes& content) {
  //@ proto/envelope/record.h
  return absl::OkStatus();
}

absl::Status UseOpen(const SessionKeys& keys, ByteSpan record) {
  //@ proto/envelope/open.h
  return absl::OkStatus();
}

void Send(const PublicKey& enc);

absl::Status UseHpke(ByteSpan salt, const Secret& key_material, const PublicKey& public_key_of_guest,
                     const PublicKey& enc, const KeyPair& own, const Bytes& info) {
  //@ proto/envelope/hpke.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::envelope

namespace sideband::attestation {
namespace {

void Refuse(const absl::Status& status);

void UseEvidence(const Verifier& verifier, ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/evidence.h
}

absl::Status UseSnpEvidence(ByteSpan bytes, ByteSpan table) {
  //@ proto/attestation/snp_evidence.h
  return absl::OkStatus();
}

absl::Status UseSnpVerifier(ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/snp_verifier.h
  return absl::OkStatus();
}

absl::Status UseTestVerifier() {
  //@ proto/attestation/test_verifier.h
  return absl::OkStatus();
}

absl::Status UseThrowawayPsp(const std::string& folder, const ReportData& data, const Measurement& measurement) {
  //@ proto/attestation/throwaway_psp.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::attestation

namespace testing {

std::string TempDir();

}  // namespace testing

namespace sideband::exchange {
namespace {

using attestation::EvidenceKind;

Bytes Report(const ReportData& report_data);
Bytes Send(const Bytes& bytes);

absl::Status UseMessages(const Uuid& device, const Uuid& vm, const envelope::KeyPair& own,
                         const envelope::GuestNonce& nonce, const Challenge& challenge, const CertificateRoots& roots,
                         const std::vector<ByteSpan>& certificates, const Bytes& statement) {
  //@ proto/exchange/messages.h
  return absl::OkStatus();
}

absl::Status Refused();

absl::Status UseVmRecords(const Uuid& device, uint64_t boot_id, const SealingRules& rules, const Uuid& vm,
                          uint32_t generation, Exchanged done, const Bytes& content,
                          const std::set<Uuid>& vms_of_the_catalogue, absl::Duration now,
                          const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t number,
                          ExchangeTarget target) {
  //@ proto/exchange/vm_records.h
  return absl::OkStatus();
}

absl::Status Check(const attestation::GuestClaims& claims, const attestation::GuestPolicy& policy);

struct FakeClock {
  absl::Duration Now() const;
};

absl::Status UseExchanger(const attestation::GuestClaims& claims, const Uuid& vm, const Bytes& request,
                          const ExchangeTarget& target, VmKeys& keys, const FakeClock& clock, absl::Time utc,
                          uint32_t generation) {
  //@ proto/exchange/exchanger.h
  return absl::OkStatus();
}

absl::Status UseGuestExchange(const Uuid& device, const Uuid& vm, const Challenge& challenge,
                              const SealerTrust& trust) {
  //@ proto/exchange/guest_exchange.h
  return absl::OkStatus();
}

void UseExchangeFixture(const ReportData& report_data) {
  //@ proto/exchange/exchange_fixture.h
}

}  // namespace
}  // namespace sideband::exchange
