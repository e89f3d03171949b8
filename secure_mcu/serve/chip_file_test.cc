// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/chip_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_replace.h"

namespace sideband::mcu {
namespace {

constexpr char kChip[] = R"(device:
  uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10
  clock_hz: 1000000
slices: 2
pipeline: {period: 100, counter_bits: 7, trigger_period: 5000}
units:
  - {name: sm, count: 2, events: [sm_active_cycles, tensor_active_cycles]}
device_units:
  - {name: pcie, events: [pcie_tx_cycles]}
device_workload: {seed: 9, phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: train, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: idle, time: 1ms}]}
      - {name: serve, slice: 1, phases: [{kind: attention, time: 1ms}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: true
    contexts: []
quantum: 500us
gap: 0s
power: {idle_w: 12.5, event_pj: {tensor_active_cycles: 40}}
)";

absl::StatusOr<ChipFile> Load(const std::string& text) {
  const std::string path = testing::TempDir() + "/chip.yaml";
  std::ofstream(path) << text;
  return LoadChipFile(path);
}

TEST(ChipFileTest, ReadsTheWholeFile) {
  const auto file = Load(kChip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->pipeline.slices, 2u);
  EXPECT_EQ(file->pipeline.clock_hz, 1'000'000u);
  EXPECT_EQ(file->ulc.period, 100u);
  EXPECT_EQ(file->units[0].count, 2u);
  EXPECT_EQ(file->device_workload->phases[0].kind, sim::PhaseKind::kCopy);
  ASSERT_EQ(file->vms.size(), 2u);
  EXPECT_EQ(file->vms[0].contexts[1].slice, 1);
  EXPECT_EQ(file->vms[0].contexts[0].workload->phases[1].time, absl::Milliseconds(1));
  EXPECT_TRUE(file->vms[1].confidential);
  EXPECT_EQ(file->quantum, absl::Microseconds(500));
  EXPECT_EQ(file->gap, absl::ZeroDuration());
  EXPECT_EQ(file->power.idle_mw, 12'500);
}

TEST(ChipFileTest, EveryMistakeHasItsLine) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } kCases[] = {
      {"slices: 2", "slices: 65", ":4: expected a whole number from 1 to 64"},
      {"slices: 2", "slice: 2", ":4: unknown key 'slice' (did you mean 'slices'?)"},
      {"slices: 2", "slices: 1", ":12: context 'serve' is on slice 1, but there are 1 (from 0)"},
      {"period: 100", "period: 512", ":5: expected a whole number from 1 to 511"},
      {"sm_active_cycles,", "SM_active,", ":7: event 'SM_active' has characters other than a-z, 0-9 and '_'"},
      {"kind: gemm", "kind: gem", ":15: unknown phase 'gem'"},
      {"name: vm1", "name: vm0", ":12: VM 'vm0' is the hypervisor: the name is reserved"},
      {"name: vm2", "name: vm1", ":17: VM 'vm1' is listed twice"},
      {"name: serve", "name: train", ":16: context 'train' is listed twice"},
      {"22222222-0000-4000-8000-000000000002", "11111111-0000-4000-8000-000000000001", ":17: UUID"},
      {"22222222-0000-4000-8000-000000000002", "2", ":18: '2' is not a UUID"},
      {"quantum: 500us", "quantum: 500", ":21: expected a duration from 100us to 24h, such as 250ms or 1s"},
      {"trigger_period: 5000", "trigger_period: 5",
       ":1: pipeline: trigger_period is 5 cycles, must be 0 or at least 10"},
      {"device_workload: {seed: 9, phases: [{kind: copy, time: 1ms}]}", "",
       ":1: keys 'device_units' and 'device_workload' go together"},
      {", phases: [{kind: attention, time: 1ms}]", "", ":16: key 'phases' is missing"},
      {"gap: 0s", "waveform: {trace: t, signals: s, schedule: c}", ":15: a context of a waveform has no phases"},
  };
  for (const auto& test : kCases) {
    const auto file = Load(absl::StrReplaceAll(kChip, {{test.from, test.to}}));
    ASSERT_FALSE(file.ok()) << test.message;
    const std::string message(file.status().message());
    const std::string expected = testing::TempDir() + "/chip.yaml" + test.message;
    EXPECT_EQ(message.substr(0, expected.size()), expected);
  }
}

}  // namespace
}  // namespace sideband::mcu
