// SPDX-License-Identifier: Apache-2.0
//
// Every capability bit that is set has a command that succeeds, and every command that succeeds has its bit. Generated
// from the table below and from all arguments of all opcodes.
#include "secure_mcu/firmware/capabilities.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_format.h"
#include "secure_mcu/firmware/base_commands.h"
#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr uint8_t kAsync = 0x10, kPoll = 0xFF;

// A capability of the facts sheet, 3.2, and its command.
struct Capability {
  uint8_t dword;
  uint8_t bit;
  uint8_t opcode;
  uint8_t arg1;
  uint8_t arg2;
};

std::vector<Capability> Capabilities() {
  std::vector<Capability> table = {
      {0, 0, 0x02, 0, 0},        {0, 1, 0x02, 1, 0},        {0, 4, 0x02, 4, 0},       {0, 5, 0x02, 5, 0},
      {0, 6, 0x02, 6, 0},        {0, 7, 0x02, 7, 0},        {0, 11, 0x03, 0, 0},      {0, 12, 0x22, 3, 0},
      {0, 13, kAsync, 0x12, 0},  {0, 14, kAsync, 0x13, 0},  {0, 15, kAsync, 0x14, 0}, {0, 16, 0x04, 0, 0},
      {0, 17, 0x08, 0, 0},       {0, 18, 0x09, 0, 0},       {0, 19, 0x15, 5, 0},      {0, 24, 0x15, 0, 0},
      {0, 30, 0x04, 2, 0},       {0, 31, 0x04, 3, 0},       {1, 16, 0x06, 0, 0},      {1, 17, 0x07, 0, 0},
      {1, 18, 0x0C, 0, 0},       {1, 19, 0x13, 0, 0},       {1, 20, 0x14, 0, 0},      {1, 21, 0x16, 0, 0},
      {1, 22, 0x17, 0, 0},       {1, 24, 0x18, 1, 0},       {1, 25, 0x19, 0, 0},      {1, 26, 0x1A, 1, 0},
      {1, 28, 0x1B, 0, 0},       {1, 28, 0x1B, 1, 0},       {1, 28, 0x1B, 2, 0},      {1, 29, 0x18, 0, 0},
      {1, 30, 0x1E, 0, 0},       {1, 31, 0x1B, 4, 0},       {2, 1, 0x0B, 0, 0},       {2, 2, 0x0D, 0, 0},
      {2, 2, 0x0E, 0, 0},        {2, 2, 0x0F, 0, 0},        {2, 5, kAsync, 0x03, 0},  {2, 11, kAsync, 0x00, 0},
      {2, 13, 0x20, 0, 0},       {2, 14, 0x21, 0, 0},       {2, 15, 0x18, 1, 0},      {2, 16, 0x1A, 9, 0},
      {2, 19, 0x22, 0, 0},       {2, 19, kAsync, 0x08, 0},  {2, 26, 0x1B, 3, 0},      {4, 0, kAsync, 0x09, 0},
      {4, 4, kAsync, 0x0A, 0},   {4, 5, 0x1D, 0, 0},        {4, 6, 0x1C, 0, 0},       {4, 7, kAsync, 0x0C, 0},
      {4, 11, kAsync, 0x0F, 0},  {4, 22, 0x26, 0, 0},       {4, 23, 0x27, 0, 0},      {4, 24, 0x28, 0x01, 0xFF},
      {4, 24, 0x28, 0x80, 0xFF}, {4, 24, 0x28, 0xC0, 0x01}, {4, 30, kAsync, 0x11, 0}, {5, 6, kAsync, 0x15, 0},
  };
  for (uint8_t item = 0; item <= 0x0E; ++item) table.push_back({1, item, 0x05, item, 0});
  for (const auto& [bit, item] : {std::pair(6, 0x0F), std::pair(7, 0x10), std::pair(8, 0x11), std::pair(9, 0x12),
                                  std::pair(10, 0x13), std::pair(31, 0x15)}) {
    table.push_back({2, static_cast<uint8_t>(bit), 0x05, static_cast<uint8_t>(item), 0});
  }
  return table;
}

class CapabilitiesTest : public testing::TestWithParam<bool> {
 protected:
  // With all features, or without the optional ones.
  CapabilitiesTest() {
    if (!GetParam()) {
      for (auto& event : gpu_.catalog().events) event.name = "x" + event.name;
      gpu_.memory.reset();
    }
    commands_.emplace(gpu_, PowerModel({}), Persona::kSideband);
    gpu_.time_ns = 1'000'000'000;
  }
  Reply Run(uint8_t opcode, uint8_t arg1, uint8_t arg2) {
    return commands_->Execute({.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}, 0);
  }
  bool Answers(uint8_t opcode, uint8_t arg1, uint8_t arg2) {
    const Reply reply = Run(opcode, arg1, arg2);
    if (opcode != kAsync || arg1 == kPoll) return reply.status == MailboxStatus::kSuccess;
    const Reply poll = Run(kAsync, kPoll, static_cast<uint8_t>(reply.data));
    return poll.status == MailboxStatus::kSuccess && poll.data == 0;
  }
  uint32_t Dword(uint8_t dword) { return Run(0x01, dword, 0).data; }

  FakeGpu gpu_;
  std::optional<BaseCommands> commands_;
};

// Bits of the table stand for commands. In dword 2, bit 12 is the size of scratch pages; bits 2 to 4 are their number.
TEST_P(CapabilitiesTest, ABitIsSetIfItsCommandAnswers) {
  std::set<std::pair<int, int>> known;
  for (const Capability& capability : Capabilities()) {
    known.emplace(capability.dword, capability.bit);
    const bool is_set = (Dword(capability.dword) >> capability.bit & 1) != 0;
    EXPECT_EQ(Answers(capability.opcode, capability.arg1, capability.arg2), is_set) << absl::StrFormat(
        "capability %d bit %d, opcode %02x %02x", capability.dword, capability.bit, capability.opcode, capability.arg1);
  }
  for (uint8_t dword = 0; dword < mailbox::kCapabilityDwords; ++dword) {
    for (int bit = 0; bit < 32; ++bit) {
      if ((Dword(dword) >> bit & 1) == 0) continue;
      EXPECT_TRUE(known.count({dword, bit})) << "capability " << int{dword} << " bit " << bit << " stands for nothing";
    }
  }
}

// Whether the table has a capability for the command, or every SMBPBI device serves the command.
bool IsAnnounced(uint8_t opcode, uint8_t arg1) {
  static const std::set<uint8_t>& always = *new std::set<uint8_t>{
      0x00,        // NULL
      0x01,        // the capabilities themselves
      0x0D, 0x0E,  // scratch memory: one capability for all dwords,
      0x0F,        //
      0x11,        // register access: no capability
  };
  if (always.count(opcode)) return true;
  if (opcode == kAsync && arg1 == kPoll) return true;
  for (const Capability& capability : Capabilities()) {
    const bool is_metric = opcode == 0x28 && capability.opcode == 0x28;  // one capability for all metrics
    const bool is_temperature = opcode == 0x03 && capability.opcode == 0x02 && capability.arg1 == arg1;
    if (is_metric || is_temperature || (capability.opcode == opcode && capability.arg1 == arg1)) return true;
  }
  return false;
}

TEST_P(CapabilitiesTest, EveryCommandThatAnswersIsAnnounced) {
  for (int opcode = 0; opcode < 0x60; ++opcode) {
    for (int arg1 = 0; arg1 < 256; ++arg1) {
      const auto op = static_cast<uint8_t>(opcode), argument = static_cast<uint8_t>(arg1);
      const uint8_t arg2 = op == 0x28 ? 0xFF : 0;
      if (!Answers(op, argument, arg2)) continue;
      EXPECT_TRUE(IsAnnounced(op, argument)) << absl::StrFormat("opcode %02x %02x", opcode, arg1);
    }
  }
}

TEST_P(CapabilitiesTest, TheDriverIsAvailable) { EXPECT_EQ(Dword(2) & 1, 0u) << "which is what a 0 says"; }

INSTANTIATE_TEST_SUITE_P(Devices, CapabilitiesTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithEverything" : "WithLittle"; });

}  // namespace
}  // namespace sideband::mcu
