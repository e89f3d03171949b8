// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/exchanger.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/keys.h"

namespace sideband::exchange {
namespace {

using attestation::GuestPolicy;
using attestation::SnpTrust;
using attestation::TcbVersion;
using attestation::Verifier;

constexpr size_t kGuestsMax = 4096;
constexpr size_t kMeasurementsMax = 64;

std::string Resolve(const std::string& path, const std::string& of) {
  return (std::filesystem::path(of).parent_path() / path).string();
}

template <typename Array>
absl::StatusOr<Array> HexOf(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string digits, node.String());
  const std::optional<Bytes> bytes = ParseHex(digits);
  Array array{};
  if (!bytes || bytes->size() != array.size()) {
    return node.Error(absl::StrCat("must be ", 2 * array.size(), " hexadecimal digits"));
  }
  std::ranges::copy(*bytes, array.begin());
  return array;
}

absl::StatusOr<SealerIdentity> ReadIdentity(const YamlMap& root, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, root.Get("identity"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"certificate", "key"}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string certificate, map.String("certificate"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string key, map.String("key"));
  auto identity = SealerIdentity::Load(Resolve(certificate, path), Resolve(key, path));
  if (!identity.ok()) return node.Locate(identity.status());
  return identity;
}

absl::StatusOr<std::unique_ptr<Verifier>> ReadSnp(const YamlNode& node, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"roots", "intermediates", "vmpl_max"}));
  SnpTrust trust;
  SIDEBAND_ASSIGN_OR_RETURN(const auto roots, map.StringListOrEmpty("roots"));
  if (roots.empty()) return node.Error("roots: at least one file with AMD's root key is needed");
  for (const std::string& root : roots) trust.roots.push_back(Resolve(root, path));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string intermediates, map.StringOr("intermediates", ""));
  if (!intermediates.empty()) trust.intermediates = Resolve(intermediates, path);
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t vmpl_max, map.UintOr("vmpl_max", 0, 0, 3));
  trust.vmpl_max = static_cast<uint32_t>(vmpl_max);
  auto verifier = attestation::NewSnpVerifier(trust);
  if (!verifier.ok()) return node.Locate(verifier.status());
  return verifier;
}

absl::StatusOr<std::vector<std::unique_ptr<Verifier>>> ReadEvidence(const YamlMap& root, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, root.Get("evidence"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"sev_snp", "test"}));
  std::vector<std::unique_ptr<Verifier>> verifiers;
  if (const auto snp = map.Find("sev_snp")) {
    SIDEBAND_ASSIGN_OR_RETURN(verifiers.emplace_back(), ReadSnp(*snp, path));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const bool is_test, map.BoolOr("test", false));
  if (is_test) {
    auto verifier = attestation::NewTestVerifier();
    if (!verifier.ok()) return map.Find("test")->Locate(verifier.status());
    verifiers.push_back(*std::move(verifier));
  }
  if (verifiers.empty()) return node.Error("evidence: no kind of evidence is accepted");
  return verifiers;
}

absl::StatusOr<TcbVersion> ReadTcb(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"boot_loader", "tee", "snp", "microcode"}));
  TcbVersion tcb;
  for (const auto& [key, to] : {std::pair("boot_loader", &tcb.boot_loader), std::pair("tee", &tcb.tee),
                                std::pair("snp", &tcb.snp), std::pair("microcode", &tcb.microcode)}) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t value, map.UintOr(key, 0, 0, std::numeric_limits<uint8_t>::max()));
    *to = static_cast<uint8_t>(value);
  }
  return tcb;
}

absl::StatusOr<GuestPolicy> ReadPolicy(const YamlMap& map) {
  GuestPolicy policy;
  SIDEBAND_ASSIGN_OR_RETURN(const auto measurements, map.ListOrEmpty("measurements"));
  if (measurements.empty() || measurements.size() > kMeasurementsMax) {
    return map.node().Error(absl::StrCat("measurements: 1 to ", kMeasurementsMax, " are needed"));
  }
  for (const YamlNode& measurement : measurements) {
    SIDEBAND_ASSIGN_OR_RETURN(policy.measurements.emplace_back(), HexOf<attestation::Measurement>(measurement));
  }
  if (const auto tcb = map.Find("minimum_tcb")) {
    SIDEBAND_ASSIGN_OR_RETURN(policy.minimum_tcb, ReadTcb(*tcb));
  }
  if (const auto data = map.Find("host_data")) {
    SIDEBAND_ASSIGN_OR_RETURN(policy.host_data, HexOf<attestation::HostData>(*data));
  }
  return policy;
}

absl::StatusOr<std::map<Uuid, GuestPolicy>> ReadGuests(const YamlMap& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto list, root.ListOrEmpty("guests"));
  if (list.size() > kGuestsMax) return root.node().Error("guests: too many");
  std::map<Uuid, GuestPolicy> guests;
  for (const YamlNode& node : list) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"vm", "measurements", "minimum_tcb", "host_data"}));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, map.String("vm"));
    const absl::StatusOr<Uuid> vm = Uuid::Parse(text);
    if (!vm.ok()) return node.Locate(vm.status());
    SIDEBAND_ASSIGN_OR_RETURN(GuestPolicy policy, ReadPolicy(map));
    if (!guests.emplace(*vm, std::move(policy)).second) return node.Error(absl::StrCat("VM ", text, " occurs twice"));
  }
  return guests;
}

absl::StatusOr<KeyRotation> ReadRotation(const YamlMap& root) {
  KeyRotation rotation;
  const auto node = root.Find("keys");
  if (!node) return rotation;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"rotate_every", "rotate_records", "grace"}));
  SIDEBAND_ASSIGN_OR_RETURN(rotation.every,
                            map.DurationOr("rotate_every", rotation.every, absl::Seconds(1), absl::Hours(24 * 366)));
  SIDEBAND_ASSIGN_OR_RETURN(rotation.records, map.UintOr("rotate_records", rotation.records, 1, kRecordsPerKeyMax));
  SIDEBAND_ASSIGN_OR_RETURN(rotation.grace,
                            map.DurationOr("grace", rotation.grace, absl::ZeroDuration(), absl::Hours(1)));
  return rotation;
}

}  // namespace

absl::StatusOr<SealingRules> SealingRules::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode document, YamlNode::Load(path));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap root, document.Map({"identity", "evidence", "guests", "keys"}));
  SIDEBAND_ASSIGN_OR_RETURN(SealerIdentity identity, ReadIdentity(root, path));
  SealingRules rules(std::move(identity));
  SIDEBAND_ASSIGN_OR_RETURN(rules.verifiers_, ReadEvidence(root, path));
  SIDEBAND_ASSIGN_OR_RETURN(rules.guests_, ReadGuests(root));
  SIDEBAND_ASSIGN_OR_RETURN(rules.rotation_, ReadRotation(root));
  return rules;
}

const attestation::GuestPolicy* SealingRules::FindGuest(const Uuid& vm) const {
  const auto found = guests_.find(vm);
  return found == guests_.end() ? nullptr : &found->second;
}

const attestation::Verifier* SealingRules::FindVerifier(attestation::EvidenceKind kind) const {
  for (const auto& verifier : verifiers_) {
    if (verifier->kind() == kind) return verifier.get();
  }
  return nullptr;
}

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
