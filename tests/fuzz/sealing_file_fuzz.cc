// SPDX-License-Identifier: Apache-2.0
//
// The sealing file. An accepted file can verify some kind of evidence, trusts measurements alone, and keeps all bounds;
// a rejected one has an error with file and line, or the path of a file that it names.
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

using exchange::ExchangeFixture;
using exchange::SealingRules;

// The files that a sealing file can name.
class Site {
 public:
  Site() { const ExchangeFixture fixture(folder_.path()); }
  const std::string& folder() const { return folder_.path(); }

  std::string Write(ByteSpan text) const {
    std::string path = folder() + "/fuzzed.yaml";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(text.data()), static_cast<std::streamsize>(text.size()));
    return path;
  }

 private:
  const ScratchFolder folder_;
};

void CheckRules(const SealingRules& rules) {
  using attestation::EvidenceKind;
  FUZZ_CHECK(!rules.identity().certificates().empty());
  FUZZ_CHECK(rules.FindVerifier(EvidenceKind::kSevSnp) != nullptr ||
             rules.FindVerifier(EvidenceKind::kTest) != nullptr);
  const exchange::KeyRotation& rotation = rules.rotation();
  FUZZ_CHECK(rotation.every >= absl::Seconds(1) && rotation.every <= absl::Hours(24 * 366));
  FUZZ_CHECK(rotation.records >= 1 && rotation.records <= exchange::kRecordsPerKeyMax);
  FUZZ_CHECK(rotation.grace >= absl::ZeroDuration() && rotation.grace <= absl::Hours(1));
  const auto* const policy = rules.FindGuest(ExchangeFixture::vm());
  FUZZ_CHECK(policy == nullptr || !policy->measurements.empty());
}

std::vector<Bytes> Seeds() {
  const std::string digits(96, 'c'), vm = ExchangeFixture::vm().ToString();
  const std::string identity = "identity: {certificate: sealer.pem, key: sealer.key}\n";
  return {BytesOf(identity + "evidence: {sev_snp: {roots: [ark.pem]}}\n"),
          BytesOf(identity + "evidence: {sev_snp: {roots: [ark.pem], intermediates: ask.pem, vmpl_max: 3}}\nguests:\n" +
                  "  - vm: " + vm + "\n    measurements: [" + digits + "]\n    host_data: " + digits.substr(0, 64) +
                  "\n    minimum_tcb: {boot_loader: 3, tee: 0, snp: 8, microcode: 115}\n" +
                  "keys: {rotate_every: 1h, rotate_records: 1048576, grace: 1m}\n"),
          BytesOf(identity + "evidence: {test: true}\nguests: []\n"),
          BytesOf("identity: {certificate: ark.pem, key: vcek.key}\nevidence: {sev_snp: {roots: [sealer.key]}}\n")};
}

int RunInput(const uint8_t* data, size_t size) {
  static const fuzz::Site site;
  const std::string path = site.Write({data, size});
  const auto rules = exchange::SealingRules::Load(path);
  if (rules.ok()) {
    fuzz::CheckRules(*rules);
  } else {
    FUZZ_CHECK(absl::StartsWith(rules.status().message(), path + ":"));
  }
  return 0;
}

FUZZ_TARGET(sealing_file_fuzz);

}  // namespace
}  // namespace sideband::fuzz
