// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/attestation/certificate_table.h"
#include "proto/attestation/ecdsa_p384.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/guest_policy.h"
#include "proto/attestation/snp_report.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/attestation/throwaway_snp_ca.h"
#include "proto/attestation/vcek.h"
#include "proto/base/bytes.h"
#include "proto/base/certificates.h"
#include "proto/base/secret_memory.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/counts.h"
#include "proto/envelope/hkdf.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/envelope/ratchet.h"
#include "proto/envelope/record.h"
#include "proto/envelope/seal.h"
#include "proto/envelope/sealed_view.h"
#include "proto/envelope/secret.h"
#include "proto/envelope/secret_access.h"
#include "proto/envelope/secret_process.h"
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
#include "proto/hpke/hpke.h"
#include "proto/hpke/x25519.h"

namespace sideband::envelope {
namespace {

absl::Status UseHkdf(ByteSpan salt, const Secret& key_material, ByteSpan info) {
  //@ proto/envelope/hkdf.h
  return absl::OkStatus();
}

absl::Status UseKeys(const RecordHeader& header) {
  //@ proto/envelope/keys.h
  return absl::OkStatus();
}

absl::Status UseRecord(const Bytes& bytes, const Uuid& vm) {
  //@ proto/envelope/record.h
  return absl::OkStatus();
}

absl::Status UseSeal(const SessionKeys& keys, const RecordHeader& header, const Bytes& content) {
  //@ proto/envelope/seal.h
  return absl::OkStatus();
}

bool UseSecret(Bytes bytes, const Secret& expected) {
  //@ proto/envelope/secret.h
  return false;
}

absl::Status UseRatchet(Secret exchange_secret, const KeyScope& scope) {
  //@ proto/envelope/ratchet.h
  return absl::OkStatus();
}

void Use(const CountsRow& row, std::span<const uint64_t> counts);

absl::Status UseCounts(const Bytes& content) {
  //@ proto/envelope/counts.h
  return absl::OkStatus();
}

absl::Status UseOpen(const SessionKeys& keys, ByteSpan record) {
  //@ proto/envelope/open.h
  return absl::OkStatus();
}

absl::Status UseSealedView(ByteSpan record) {
  //@ proto/envelope/sealed_view.h
  return absl::OkStatus();
}

void UseSecretProcess() {
  //@ proto/envelope/secret_process.h
}

}  // namespace
}  // namespace sideband::envelope

namespace sideband::attestation {
namespace {

void Refuse(const absl::Status& status);

void UseEvidence(const Verifier& verifier, ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/evidence.h
}

absl::Status UseGuestPolicy(const GuestClaims& claims, const Measurement& known) {
  //@ proto/attestation/guest_policy.h
  return absl::OkStatus();
}

absl::Status UseCertificateTable(ByteSpan table) {
  //@ proto/attestation/certificate_table.h
  return absl::OkStatus();
}

absl::Status UseSnpReport(ByteSpan bytes) {
  //@ proto/attestation/snp_report.h
  return absl::OkStatus();
}

void UseEcdsa(EVP_PKEY* vcek_key, ByteSpan bytes, const SnpReport& report) {
  //@ proto/attestation/ecdsa_p384.h
}

absl::Status UseVcek(const CertificatePtr& certificate) {
  //@ proto/attestation/vcek.h
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

absl::Status UseThrowawaySnpCa(EVP_PKEY* key, const TcbVersion& tcb, const ChipId& chip_id) {
  //@ proto/attestation/throwaway_snp_ca.h
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

namespace sideband::hpke {
namespace {

absl::Status UseX25519(const PublicKey& public_key_of_peer) {
  //@ proto/hpke/x25519.h
  return absl::OkStatus();
}

void Send(const PublicKey& enc);

absl::Status UseHpke(const PublicKey& public_key_of_guest, const PublicKey& enc, const KeyPair& own,
                     const Bytes& info) {
  //@ proto/hpke/hpke.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::hpke
