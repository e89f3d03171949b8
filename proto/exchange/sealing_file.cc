// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/sealing_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

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

}  // namespace sideband::exchange
