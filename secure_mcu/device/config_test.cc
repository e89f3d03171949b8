// SPDX-License-Identifier: Apache-2.0
//
// The counts of a device while its configuration is changed through opcode CONFIG (virtual-counters.md, law V8). The
// truth is an event without a group on the same wires, and a device whose configuration does not change.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/extension_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ConfigStep;
using mailbox::CountingConfig;
using mailbox::MailboxStatus;
using mailbox::Opcode;

// A cycle a microsecond. Both VMs take turns on slice 0; vm3 has slice 1.
constexpr char kConfigChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units:
  - name: sm
    count: 3
    events: [sm_active_cycles, {name: any_sm_active_cycles, of: sm_active_cycles}]
gate_groups:
  - {name: sm, events: [sm_active_cycles]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: copy, time: 700us}]}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 0, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
  - name: vm3
    uuid: 33333333-0000-4000-8000-000000000003
    confidential: true
    contexts: [{name: a, slice: 1, seed: 5, phases: [{kind: gemm, time: 1ms}]}]
quantum: 3ms
gap: 0s
)";

// Counts by block and event.
using Counts = std::map<std::string, uint64_t>;

class ConfiguredDevice {
 public:
  ConfiguredDevice() {
    const std::string path = testing::TempDir() + "config.yaml";
    std::ofstream(path) << kConfigChip;
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
    commands_ = std::make_unique<SnapshotCommands>(*device_, mailbox::ExtensionVersion::kTwo);
  }

  void RunTo(uint64_t cycle) { elapsed_ = std::max(elapsed_, absl::Microseconds(static_cast<int64_t>(cycle))); }
  CountingConfig config() { return device_->GetConfig(); }
  // Commits the difference, and returns the counts of the closing snapshot.
  Counts Commit(const CountingConfig& desired) {
    const uint32_t revision = config().revision;
    const auto writes = mailbox::Difference(config(), desired);
    Step(ConfigStep::kBegin, revision);
    for (const mailbox::ConfigWrite& write : writes) {
      Step(ConfigStep::kAddress, PackAddress(write.address), PackScope(write.address));
      Step(ConfigStep::kWrite, static_cast<uint32_t>(write.word), static_cast<uint32_t>(write.word >> 32));
    }
    const Reply reply = Step(ConfigStep::kCommit, mailbox::ConfigCrc(writes), revision);
    EXPECT_EQ(reply.data, revision + 1);
    return Read(reply.extended_data, revision);
  }
  Counts Latch() {
    const Reply reply = commands_->Execute({.opcode = Opcode::kLatch}, 0, 0);
    return Read(reply.data, config().revision);
  }
  MailboxStatus TryCommit(const CountingConfig& desired) {
    const uint32_t revision = config().revision;
    const auto writes = mailbox::Difference(config(), desired);
    Step(ConfigStep::kBegin, revision);
    for (const mailbox::ConfigWrite& write : writes) {
      Step(ConfigStep::kAddress, PackAddress(write.address), PackScope(write.address));
      Step(ConfigStep::kWrite, static_cast<uint32_t>(write.word), static_cast<uint32_t>(write.word >> 32));
    }
    return Execute(ConfigStep::kCommit, mailbox::ConfigCrc(writes), revision).status;
  }
  LiveDevice& device() { return *device_; }

 private:
  Reply Execute(ConfigStep step, uint32_t data, uint32_t extended_data = 0) {
    return commands_->Execute({.opcode = Opcode::kConfig, .arg1 = static_cast<uint8_t>(step), .arg2 = 1}, data,
                              extended_data);
  }
  Reply Step(ConfigStep step, uint32_t data, uint32_t extended_data = 0) {
    const Reply reply = Execute(step, data, extended_data);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
    return reply;
  }
  // Reads the whole latched snapshot, and acknowledges it.
  Counts Read(uint32_t id, uint32_t revision) {
    Bytes stream;
    uint32_t size = 1;
    while (stream.size() < size) {
      size = commands_->Execute({.opcode = Opcode::kRead, .arg1 = 1}, static_cast<uint32_t>(stream.size()), id).data;
      for (uint8_t i = 0; i < mailbox::kWindowCount; ++i) {
        const ByteSpan window = commands_->Window(i);
        stream.insert(stream.end(), window.begin(), window.end());
      }
    }
    const mailbox::Snapshot snapshot = *mailbox::DecodeSnapshotStream(stream, nullptr);
    EXPECT_EQ(snapshot.config_revision, revision);
    const uint16_t mark = mailbox::SnapshotMark(42, id);
    commands_->Execute(
        {.opcode = Opcode::kAck, .arg1 = static_cast<uint8_t>(mark), .arg2 = static_cast<uint8_t>(mark >> 8)}, id, 0);
    return CountsOf(snapshot);
  }
  Counts CountsOf(const mailbox::Snapshot& snapshot) const {
    Counts counts;
    for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
      if (snapshot.blocks[block].context != mailbox::kNoContext) continue;
      for (size_t i = 0; i < snapshot.counters_per_block; ++i) {
        const std::string vm = std::to_string(snapshot.blocks[block].vm);
        counts[vm + device_->catalog().events[i].name] = snapshot.Counters(block)[i];
      }
    }
    return counts;
  }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<SnapshotCommands> commands_;
};

const std::vector<std::string> kVms = {"1", "2", "3"};

// Whether the group of vm `vm` (1 to 3) is open.
bool IsOpen(const CountingConfig& config, uint16_t vm) {
  return config.groups[vm == 3 ? 1 : 0][0].valid && (config.vms.at(vm).allowed & 1) != 0;
}

// V8: what is counted between two commits is what the revision in force lets through, and nothing else changes.
RC_GTEST_PROP(ConfigProperty, NoCommitLosesDoublesOrMovesACount, (std::vector<uint16_t> draws)) {
  ConfiguredDevice device, untouched;
  Counts before, sums;
  uint64_t cycle = 0;
  for (const uint16_t draw : draws) {
    cycle += draw / 8;
    device.RunTo(cycle);
    untouched.RunTo(cycle);
    const CountingConfig old = device.config();
    CountingConfig desired = old;
    desired.groups[0][0].valid = (draw & 1) != 0;
    for (const uint16_t vm : {1, 2, 3}) desired.vms[vm].allowed = draw >> (vm - 1) & 1;
    const Counts counts = device.Commit(desired), all = untouched.Latch();
    for (uint16_t vm = 1; vm <= 3; ++vm) {
      const std::string id = std::to_string(vm), any = id + "any_sm_active_cycles", gated = id + "sm_active_cycles";
      if (counts.at(any) != all.at(any)) RC_FAIL("an event without a group is counted otherwise");
      if (IsOpen(old, vm)) {
        sums[gated] += counts.at(any) - before[any];
        sums[id + "running"] += counts.at(id + "resident_cycles") - before[id + "resident_cycles"];
      }
      RC_ASSERT(counts.at(gated) == sums[gated]);
      RC_ASSERT(counts.at(id + "group_sm_running_cycles") == sums[id + "running"]);
    }
    before = counts;
  }
}

TEST(ConfigTest, ACommitHoldsFromTheInstantOfItsClosingSnapshot) {
  ConfiguredDevice device;
  device.RunTo(1'234);
  CountingConfig desired = device.config();
  desired.vms[1].allowed = 0;
  EXPECT_EQ(device.Commit(desired).at("1group_sm_running_cycles"), 1'234u);
  device.RunTo(2'900);
  EXPECT_EQ(device.Latch().at("1group_sm_running_cycles"), 1'234u);
  EXPECT_EQ(device.config().revision, 2u);
}

// vm1 has the slice for its first 3000 cycles.
TEST(ConfigTest, AResidentsValueIsLoadedAtOnce) {
  ConfiguredDevice device;
  device.RunTo(1'000);
  CountingConfig desired = device.config();
  desired.vms[1].guest_value = {.vector_enable = true, .vector = 0};
  desired.vms[1].guest_load = true;
  EXPECT_EQ(device.Commit(desired).at("1group_sm_running_cycles"), 1'000u);
  device.RunTo(1'500);
  EXPECT_EQ(device.Latch().at("1group_sm_running_cycles"), 1'000u);
  desired = device.config();
  desired.vms[1].guest_value.vector = 1;
  desired.contexts[{1, 0}] = {.value = {.master = false}, .load = true};
  device.Commit(desired);
  device.RunTo(1'700);
  EXPECT_EQ(device.Latch().at("1group_sm_running_cycles"), 1'000u) << "its context's value is closed";
  desired = device.config();
  desired.contexts[{1, 0}].value.master = true;
  device.Commit(desired);
  device.RunTo(2'000);
  EXPECT_EQ(device.Latch().at("1group_sm_running_cycles"), 1'300u);
}

// vm_commit.pml, STORE: the exit that the commit makes stores, and the entry loads what it stored.
TEST(ConfigTest, ACommitLosesNoValueThatAGuestHasWritten) {
  ConfiguredDevice device;
  device.RunTo(500);
  CountingConfig desired = device.config();
  desired.vms[1].guest_store = true;
  device.Commit(desired);
  const GateValue own = {.vector_enable = true, .vector = 0};
  device.device().chip().guests().gate(0).WriteValue(own);
  device.device().chip().guests().ShowGate(0);
  device.RunTo(1'000);
  desired = device.config();
  desired.vms[1].guest_load = true;
  EXPECT_EQ(device.Commit(desired).at("1group_sm_running_cycles"), 500u);
  EXPECT_EQ(device.config().vms[1].guest_value, own);
  device.RunTo(1'500);
  EXPECT_EQ(device.Latch().at("1group_sm_running_cycles"), 500u);
}

TEST(ConfigTest, OfAConfidentialVmOnlyWhatItMayOpenIsThereAndIsChanged) {
  ConfiguredDevice device;
  CountingConfig desired = device.config();
  EXPECT_FALSE(desired.contexts.contains({3, 0}));
  EXPECT_TRUE(desired.contexts.contains({1, 0}));
  desired.vms[3].pinned = 1;
  EXPECT_EQ(device.TryCommit(desired), MailboxStatus::kErrData);
  desired.vms[3] = {.allowed = 0};
  desired.vms[3].is_private = device.config().vms[3].is_private;
  EXPECT_EQ(device.TryCommit(desired), MailboxStatus::kSuccess);
  EXPECT_EQ(device.config().vms[3].allowed, 0u);
}

}  // namespace
}  // namespace sideband::mcu
