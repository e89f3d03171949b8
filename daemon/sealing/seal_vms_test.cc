// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/seal_vms.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/sealing/sealer_set.h"

namespace sideband::daemon {
namespace {

constexpr Uuid kConfidentialVm{{2}};

// A confidential VM with an event behind a gate.
mailbox::Catalog GatedCatalog() {
  mailbox::Catalog catalog;
  // A name that changes the length of a record by more than what its padding hides.
  catalog.events = {{.name = std::string(5000, 'e'), .details = {.gate_group = 0}},
                    {.name = "resident_cycles"},
                    {.name = "group_g_running_cycles", .details = {.gate_group = 0}}};
  catalog.gate_groups = {{"g", 2}};
  catalog.vms = {{.id = 1, .uuid = kConfidentialVm, .name = "vm", .confidential = true}};
  return catalog;
}

size_t LengthOfRecord(const Topology& topology, const mailbox::CounterValues& counters,
                      const std::vector<mailbox::BlockRotation>& rotation = {}) {
  const std::string path = testing::TempDir() + "/vm.key";
  std::ofstream(path) << std::string(64, '1') << "\n";
  ::chmod(path.c_str(), 0600);
  FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource epochs(clock, [] { return uint16_t{7}; });
  const auto sealers = *SealerSet::Load({{kConfidentialVm, path}}, epochs);
  const mailbox::Snapshot raw{
      .counters_per_block = 3, .blocks = {{.vm = 1}}, .rotation = rotation, .counters = counters};
  const auto sealed = *SealVms({.name = "gpu0"}, topology, raw, clock.Now(), {*sealers});
  return sealed.at(0).record->size();
}

TEST(SealVmsTest, ALengthDoesNotTellWhetherAGateWasOpen) {
  const Topology topology(GatedCatalog(), 1);
  const size_t open = LengthOfRecord(topology, {70, 1000, 1000});
  EXPECT_EQ(LengthOfRecord(topology, {70, 1000, 900}), open);
  EXPECT_EQ(LengthOfRecord(topology, {0, 1000, 0}), open);
}

TEST(SealVmsTest, ALengthDoesNotTellWhoHadATurn) {
  mailbox::Catalog catalog = GatedCatalog();
  catalog.gate_groups.clear();
  for (mailbox::EventInfo& event : catalog.events) event.details.gate_group = mailbox::kNoGateGroup;
  catalog.events[0].details.counting = mailbox::Counting::kRotated;
  catalog.plans = {{.number = 0, .sets = {{0b001}, {0b000}}}};
  const Topology topology(catalog, 1);
  const auto length = [&](uint64_t running, mailbox::EventEstimate numbers) {
    return LengthOfRecord(
        topology, {70, 1000, 1000},
        {{.parts = {{.enabled = {1000}, .running = {running, 1000 - running}}}, .events = {numbers}}});
  };
  const size_t estimated = length(500, {.estimate = 140, .upper = 600, .deviation = 9});
  EXPECT_EQ(length(0, {}), estimated) << "no turn: no number";
  EXPECT_EQ(length(1000, {.estimate = 70, .upper = 70}), estimated) << "every turn: exact";
  EXPECT_EQ(length(500, {.estimate = uint64_t{1} << 60, .upper = mailbox::kUnknownNumber}), estimated);
}

}  // namespace
}  // namespace sideband::daemon
