// SPDX-License-Identifier: Apache-2.0
//
// A live device whose units are in clock domains (clocks.md).
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "secure_mcu/chip/domain_rules.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

constexpr char kChip[] =
    "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
    "gap: 0ms\n"
    "domains:\n"
    "  - {name: sm, hz: 700000000, ppm: 37, wander_ppb_per_s: 100, steps: [{at: 2ms, hz: 1400000000}]}\n"
    "  - {name: l2, hz: 900000000, gated: [{from: 1ms, to: 3ms}]}\n"
    "units:\n"
    "  - {name: sm, events: [busy], domain: sm}\n"
    "  - {name: l2, events: [hits], domain: l2}\n"
    "  - {name: noc, events: [flits]}\n"
    "vms:\n"
    "  - name: vm1\n"
    "    uuid: 11111111-0000-4000-8000-000000000001\n"
    "    contexts: [{name: ctx, slice: 0, seed: 5, phases: [{kind: gemm, time: 1ms}, {kind: copy, time: 300us}]}]\n";

class DomainsTest : public testing::Test {
 protected:
  DomainsTest() {
    const std::string path = testing::TempDir() + "device_domains.yaml";
    std::ofstream(path) << kChip;
    file_ = *LoadChipFile(path);
    device_ = *LiveDevice::Create(file_, /*boot_id=*/1, [this] { return elapsed_; });
  }

  absl::Duration elapsed_;
  ChipFile file_;
  std::unique_ptr<LiveDevice> device_;
};

TEST_F(DomainsTest, EachUnitCountsTheCyclesOfItsClock) {
  elapsed_ = absl::Microseconds(4567);
  device_->Latch();
  const sim::Workload work =
      *sim::Workload::Create({.phases = {{sim::PhaseKind::kGemm, 1'000'000}, {sim::PhaseKind::kCopy, 300'000}},
                              .seed = 5,
                              .wire_events = {"busy", "hits", "flits"}});
  const auto counters = device_->BlockCounters(1, 0)->counters;
  const uint64_t cycle = 4'567'000;
  for (uint32_t domain = 0; domain < 3; ++domain) {
    // The event of the unit in domain d is d - 1, and the last one is in the reference clock's.
    const size_t event = domain == 0 ? 2 : domain - 1;
    const uint64_t cycles =
        domain == 0
            ? cycle
            : MakeClock(file_.pipeline, {.channel = 0, .domain = domain})->EdgesBefore(sim::InstantAtCycle(cycle) + 1);
    EXPECT_EQ(counters[event], work.CumulativeCount(static_cast<sim::WireId>(event), cycles)) << domain;
  }
}

TEST_F(DomainsTest, ALatchForTheControllerHasReadingsAndThatForGuestsLeavesNoPackets) {
  elapsed_ = absl::Milliseconds(1);
  device_->Observe();
  EXPECT_TRUE(device_->chip().clocks().PacketsFrom(0, 1'000'000).empty());
  device_->Latch();
  EXPECT_EQ(device_->chip().clocks().PacketsFrom(0, 1'000'000).size(), 1u);
  EXPECT_EQ(device_->chip().clocks().readings().size(), 2u);
}

}  // namespace
}  // namespace sideband::mcu
