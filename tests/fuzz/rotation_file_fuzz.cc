// SPDX-License-Identifier: Apache-2.0
//
// A rotation.yaml: of an operator, of `sideband rotation set`, of a chip, and of a replay. A rejected one has file and
// line; what an accepted one asks for is the same by the way of the command line and gRPC as by the operator's.
#include <set>
#include <string>
#include <vector>

#include "client/cli/rotation_command.h"
#include "daemon/view/rotation_queries.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

constexpr char kPath[] = "r.yaml";
constexpr uint64_t kClockHz = 1'410'000'000;

void CheckError(const absl::Status& status) {
  FUZZ_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  FUZZ_CHECK(status.message().substr(0, 7) == "r.yaml:");
}

void CheckTerms(const RotationTerms& terms) {
  for (const absl::Duration time : {terms.stable_slot, terms.fluctuating_slot, terms.interval}) {
    FUZZ_CHECK(time >= kTurnTimeMin && time <= kTurnTimeMax);
  }
  FUZZ_CHECK(terms.threshold_per_mille <= 1000 && terms.step >= 1 && terms.step <= kStepMax);
  FUZZ_CHECK(terms.sets_per_pass <= kSetsPerPassMax);
  FUZZ_CHECK(terms.profile == mailbox::RotationProfile::kFast || !terms.adapt);
}

// The device has the weighted events.
void CheckBothWays(const RotationFile& file) {
  mailbox::Catalog catalog;
  catalog.reference_clock_hz = kClockHz;
  std::vector<std::string> names;
  for (const EventWeight& weight : file.weights) {
    catalog.events.push_back({.name = weight.event.name});
    names.push_back(weight.event.name);
  }
  const auto own = SettingsOf(file, EventNumbers(names, kPath), kClockHz);
  FUZZ_CHECK(own.ok());
  const v1::SetRotationRequest request = client::RequestOf(file);
  const auto asked =
      daemon::RotationSettingsOf(request.settings(), catalog, daemon::EventSet(catalog.events.size(), true));
  FUZZ_CHECK(std::set(names.begin(), names.end()).size() != names.size() || (asked.ok() && *asked == *own));
  FUZZ_CHECK(request.events_size() == static_cast<int>(file.events.size()));
  FUZZ_CHECK(request.always_size() == static_cast<int>(file.always.size()));
}

void Check(const YamlNode& root, RotationUse use) {
  const auto file = ReadRotation(root, kPath, use);
  if (!file.ok()) return CheckError(file.status());
  CheckTerms(file->terms);
  FUZZ_CHECK(use == RotationUse::kRequest || (file->events.empty() && file->always.empty()));
  FUZZ_CHECK(use != RotationUse::kRequest || (!file->seed && !file->instructions));
  if (use == RotationUse::kRequest) CheckBothWays(*file);
  const EventNumbers numbers({"a", "b"}, kPath);
  for (const NamedRelation& relation : file->relations) {
    const auto found = RelationOf(relation, numbers);
    if (!found.ok()) CheckError(found.status());
  }
}

std::vector<Bytes> Seeds() {
  return {BytesOf("{}\n"), BytesOf("profile: two-set\n"), BytesOf(R"(profile: fast
slots: {stable: 200us, fluctuating: 100us}
interval: 0.5s
threshold: 0.05
step: 4
sets_per_pass: all
adapt: true
weights: {a: 2, b: 0.5}
events: [a, b]
always: [a]
)"),
          BytesOf(R"(profile: two-set
slots: {stable: 8s, fluctuating: 4s}
sets_per_pass: 2
instructions: a
dead_cycles: 3
seed: 0xdeadbeef
counters: 6
fixed: [a]
relations:
  - {sum: [a, b], of: resident_cycles, times: 1}
  - {event: a, is_sum_of: [b]}
  - {event: a, at_most: b}
)")};
}

int RunInput(const uint8_t* data, size_t size) {
  const auto root = YamlNode::Parse(std::string(reinterpret_cast<const char*>(data), size), fuzz::kPath);
  if (!root.ok()) {
    fuzz::CheckError(root.status());
    return 0;
  }
  for (const RotationUse use : {RotationUse::kRequest, RotationUse::kChip, RotationUse::kReplay}) {
    fuzz::Check(*root, use);
  }
  return 0;
}

FUZZ_TARGET(rotation_file_fuzz);

}  // namespace
}  // namespace sideband::fuzz
