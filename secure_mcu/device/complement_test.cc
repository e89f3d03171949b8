// SPDX-License-Identifier: Apache-2.0
//
// Non-interference: two chips that differ only in what the confidential VM does answer every base command, and every
// stream that has no confidential blocks, byte for byte alike. (security.md, "Arithmetic on what is public";
// docs/complement.md)
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

// The secret VM has turns on both slices, beside the open one; one of its contexts ends and starts again.
constexpr char kComplementChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units:
  - {name: sm, count: 3, events: [sm_active_cycles, tensor_active_cycles]}
  - {name: dram, events: [dram_read_cycles, dram_write_cycles]}
  - {name: nvdec, events: [nvdec0_active_cycles, nvdec1_active_cycles]}
device_units:
  - {name: pcie, events: [pcie_tx_cycles]}
  - {name: nvlink, events: [nvlink0_tx_cycles, nvlink1_tx_cycles]}
device_workload: {phases: [{kind: copy, time: 1ms}, {kind: idle, time: 3ms}]}
vms:
  - name: open
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}], memory_mib: 100}
      - {name: b, slice: 1, seed: 2, phases: [{kind: attention, time: 1ms}], lifetime: 70ms}
  - name: secret
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: true
    contexts:
      - {name: a, slice: 0, seed: SEED, phases: [{kind: WORK, time: 1ms}], memory_mib: MIB}
      - {name: b, slice: 1, seed: SEED, phases: [{kind: WORK, time: 1ms}], lifetime: 130ms}
memory: {total_mib: 10000, reserved_mib: 64}
quantum: QUANTUM
gap: 100us
power: {idle_w: 1, event_pj: {sm_active_cycles: 9000000, dram_read_cycles: 900000, pcie_tx_cycles: 100000}}
KEYS
)";

struct SecretTenant {
  const char* seed;
  const char* work;
  const char* memory_mib;
};
constexpr SecretTenant kBusy = {"3", "gemm", "500"}, kIdle = {"77", "idle", "7"};

// One answer: a reply, and the windows that it opened.
struct Answer {
  mailbox::CommandWord command;
  uint32_t data = 0;
  CommandHandler::Reply reply;
  Bytes windows;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << absl::StrCat("opcode ", absl::Hex(static_cast<uint8_t>(answer.command.opcode))) << " "
             << int{answer.command.arg1} << " " << int{answer.command.arg2} << " data " << answer.data;
}

bool IsSame(const Answer& a, const Answer& b) {
  return a.reply.status == b.reply.status && a.reply.data == b.reply.data &&
         a.reply.extended_data == b.reply.extended_data && a.windows == b.windows;
}

class Served {
 public:
  Served(const SecretTenant& secret, const std::string& keys, const std::string& quantum) {
    const std::string path = absl::StrCat(testing::TempDir(), "complement.yaml");
    std::ofstream(path) << absl::StrReplaceAll(kComplementChip, {{"SEED", secret.seed},
                                                                 {"WORK", secret.work},
                                                                 {"MIB", secret.memory_mib},
                                                                 {"KEYS", keys},
                                                                 {"QUANTUM", quantum}});
    const ChipFile file = *LoadChipFile(path);
    device_ = *LiveDevice::Create(file, 42, [this] { return elapsed; });
    firmware_ = std::make_unique<FirmwarePair>(*device_, PowerModel(device_->power()), Persona::kSideband,
                                               file.extension, file.complement);
  }

  // Every base command, at both sets of registers.
  std::vector<Answer> BaseCommands() {
    std::vector<Answer> answers;
    for (CommandHandler* const handler : {&firmware_->shared(), firmware_->own()}) {
      if (handler == nullptr) continue;
      for (uint8_t opcode = 0; opcode < 0x60; ++opcode) {
        for (int arg1 = 0; arg1 < 256; ++arg1) {
          if (static_cast<Opcode>(opcode) == Opcode::kAsyncRequest && arg1 == 0xFF) continue;  // below
          for (const uint8_t arg2 : {0, 1, 2, 0x81, 0x82, 0xFF}) {
            answers.push_back(Run(*handler, opcode, static_cast<uint8_t>(arg1), arg2, 0x0101));
          }
        }
      }
      // How the last requests ended, and what each kind of them leaves in the scratch memory.
      for (int id = 0; id < 256; ++id) answers.push_back(Run(*handler, 0x10, 0xFF, static_cast<uint8_t>(id), 0));
      answers.push_back(Run(*handler, 0x11, 0, 0, /*page 0, to read and to write*/ 0));
      for (const uint8_t kind : {0x08, 0x0A, 0x15}) {
        answers.push_back(Run(*handler, 0x10, kind, 0, 0));
        for (const uint8_t dword : {0, 1}) answers.push_back(Run(*handler, 0x0D, dword, 0, 0));
      }
    }
    return answers;
  }

  // Every stream of the extension but that of snapshots, which has confidential blocks.
  std::vector<Answer> Streams() {
    std::vector<Answer> answers;
    CommandHandler* const own = firmware_->own();
    if (own == nullptr) return answers;
    const auto run = [&](Opcode opcode, uint8_t arg1, uint32_t data, uint32_t extended_data = 0) {
      answers.push_back(Run(*own, static_cast<uint8_t>(opcode), arg1, 0, data, extended_data));
    };
    for (uint8_t item = 0; item < 5; ++item) run(Opcode::kDiscover, item, 0);
    run(Opcode::kCatalog, 0, 0);
    run(Opcode::kTrigger, 0, 0);
    for (const uint8_t stream : {5, 6}) run(Opcode::kTrigger, stream, 0);
    constexpr uint32_t kWhole = uint32_t{mailbox::kNoContext} << 16;
    // The device, both VMs, and contexts of both.
    for (const uint32_t scope : {kWhole, kWhole | 1, kWhole | 2, 1u, 2u}) {
      run(Opcode::kPeek, 0, 0, scope);
      run(Opcode::kPeek, 1, 0xF, 0);
    }
    run(Opcode::kConfig, 6, 0);
    run(Opcode::kRotate, 0, kWhole | 1);
    return answers;
  }

  // The part of a latch that is of the device and of open VMs.
  mailbox::Snapshot Open() {
    mailbox::Snapshot open = device_->Latch();
    device_->Acknowledge();
    mailbox::CounterValues counters;
    std::vector<mailbox::BlockHeader> blocks;
    for (size_t block = 0; block < open.blocks.size(); ++block) {
      if (open.blocks[block].vm == kSecretVm) continue;
      const auto of_block = open.Counters(block);
      counters.insert(counters.end(), of_block.begin(), of_block.end());
      blocks.push_back(open.blocks[block]);
    }
    open.blocks = std::move(blocks);
    open.counters = std::move(counters);
    return open;
  }

  const Device& device() const { return *device_; }
  uint64_t SecretCycles() { return (*device_->BlockCounters(kSecretVm, mailbox::kNoContext)).counters[0]; }

  absl::Duration elapsed;

 private:
  static constexpr uint16_t kSecretVm = 2;

  static Answer Run(CommandHandler& handler, uint8_t opcode, uint8_t arg1, uint8_t arg2, uint32_t data,
                    uint32_t extended_data = 0) {
    Answer answer{.command = {.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}, .data = data};
    answer.reply = handler.Execute(answer.command, data, extended_data);
    if (!mailbox::IsExtension(answer.command.opcode)) return answer;
    for (uint8_t i = 0; i < mailbox::kWindowCount; ++i) {
      const ByteSpan window = handler.Window(i);
      answer.windows.insert(answer.windows.end(), window.begin(), window.end());
    }
    return answer;
  }

  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<FirmwarePair> firmware_;
};

// Between turns and within, before and after windows of metrics, starts and ends of contexts.
constexpr int kInstantsUs[] = {1, 999, 4'500, 69'999, 105'000, 131'000, 233'333, 370'000};

// The answers that differ, by their commands; each command once.
std::vector<std::string> Differences(const std::string& keys, const std::string& quantum = "1ms") {
  Served busy(kBusy, keys, quantum), idle(kIdle, keys, quantum);
  std::vector<std::string> found;
  const auto compare = [&](const std::vector<Answer>& a, const std::vector<Answer>& b) {
    EXPECT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (!IsSame(a[i], b[i])) found.push_back((std::ostringstream() << a[i]).str());
    }
  };
  for (const int us : kInstantsUs) {
    busy.elapsed = idle.elapsed = absl::Microseconds(us);
    compare(busy.Streams(), idle.Streams());
    compare(busy.BaseCommands(), idle.BaseCommands());
    const mailbox::Snapshot a = busy.Open(), b = idle.Open();
    if (a.blocks != b.blocks || a.counters != b.counters || a.trigger_id != b.trigger_id) found.push_back("snapshot");
    if (a.statistics != b.statistics) found.push_back("statistics");
  }
  EXPECT_GT(busy.SecretCycles(), 2 * idle.SecretCycles() + 1000) << "the secret VM did something else";
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Has(const std::vector<std::string>& differences, const std::string& start) {
  return std::ranges::any_of(differences, [&](const std::string& one) { return one.starts_with(start); });
}

class NonInterferenceTest : public testing::TestWithParam<const char*> {};

TEST_P(NonInterferenceTest, NoAnswerDependsOnAConfidentialVm) {
  EXPECT_EQ(Differences(GetParam()), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Chips, NonInterferenceTest,
    testing::Values("", "pipeline: {trigger_period: 1000, commit_period: 4000, out_of_band_commit_period: 3000}",
                    "host: {exit_every: 2ms, exit_time: 100us, phases: [{kind: copy, time: 1ms}]}",
                    "complement: {counters: withhold, utilisation: withhold, power: withhold, energy: withhold, "
                    "temperature: withhold, clocks: withhold}"));

// Its counts are in the device's block, of which the daemon makes nothing (docs/decisions/0003).
TEST(ComplementTest, NorDoesABaseCommandBesideOneThatIsNotPrivate) {
  for (const char* const keys : {"private_vms: false", "extension: 1"}) {
    EXPECT_EQ(Differences(keys), std::vector<std::string>{"snapshot"}) << keys;
  }
}

// Physical: a counter that reaches its threshold is read out at once, and records of all VMs share the buffer.
TEST(ComplementTest, ReadoutsAtThresholdsShowInThePipelinesStatistics) {
  const auto differences = Differences(
      "pipeline: {threshold: 3100, trigger_period: 0, buffer_depth: 1, record_cycles: 3000, "
      "route_cycles: 3000}",
      "20ms");
  EXPECT_TRUE(Has(differences, "statistics")) << absl::StrJoin(differences, ", ");
}

TEST(ComplementTest, WhatIsAllowedDiffers) {
  const auto allow = [](const std::string& classes) { return Differences("complement: {" + classes + "}"); };
  for (const std::string name : {"power", "energy", "temperature"}) {
    const std::vector<std::string> differences = allow(name + ": allow");
    EXPECT_EQ(Has(differences, "opcode 4 "), name == "power");
    EXPECT_EQ(Has(differences, "opcode 22 "), name == "energy");
    EXPECT_EQ(Has(differences, "opcode 3 "), name == "temperature");
    EXPECT_EQ(Has(differences, "opcode d "), name == "energy") << "the result of an asynchronous request";
    EXPECT_FALSE(Has(differences, "opcode 28 "));
  }
  EXPECT_TRUE(Has(allow("counters: allow"), "opcode 28 "));
  EXPECT_TRUE(Has(allow("utilisation: allow"), "opcode d "));
  EXPECT_EQ(allow("clocks: allow"), std::vector<std::string>()) << "the reference clock is never throttled";
}

}  // namespace
}  // namespace sideband::mcu
