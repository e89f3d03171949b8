// SPDX-License-Identifier: Apache-2.0
//
// Malicious devices: for any answers, the controller ends within bounded transactions and memory, and does not crash.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <random>

#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/transfer.h"
#include "tests/conformance/in_process_bus.h"
#include "tests/simulation/hostile_device.h"
#include "tests/simulation/reader.h"

// --- The memory in use: this replaces the program's operator new ---

namespace {

// Other threads of a program may allocate, too.
std::atomic<size_t> held{0};
std::atomic<size_t> most{0};

void* Allocate(size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  const size_t now = held += malloc_usable_size(memory);
  if (now > most) most = now;
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }

namespace sideband::tests {
namespace {

// The memory used by a part of a test. At most one object at a time, used by one thread.
class MemoryMeter {
 public:
  MemoryMeter() : start_(held) { most = start_; }
  // The maximum number of bytes allocated at once since construction, beyond those allocated at construction.
  size_t peak() const { return most - start_; }

 private:
  const size_t start_;
};

constexpr size_t kMebibyte = size_t{1} << 20;
// Only a real stream with the largest counts that its length permits would need more.
constexpr size_t kMemoryMax = 128 * kMebibyte;
// A collection has 3 latches. With short streams each latch has a dozen commands: DISCOVER, LATCH, CATALOG, and those
// that resume after an interruption. A command has at most 4 times 9 writes, 40 polls and 2 reads, in 4 attempts each.
constexpr uint64_t kAttempts = daemon::RegisterPort::kAttemptsMax;
constexpr uint64_t kTransactionsMax =
    40 * (kAttempts * (2 * kAttempts + 1) + (daemon::MailboxSession::kPollsMax + 2) * kAttempts);

struct Met {
  int collected = 0;
  uint64_t transactions = 0;
};

Met Meet(smbus::Bus& bus, int collections) {
  InProcessTransport wire(bus);
  daemon::RegisterPort port(wire, HostileDevice::kAddress, [](absl::string_view) {});
  daemon::MailboxSession session(port, [](absl::Duration) {});
  const daemon::FakeClock clock(absl::UnixEpoch());
  Reader reader(session, clock, [](const mailbox::Snapshot&, const daemon::Topology&) {});
  Met met;
  for (int i = 0; i < collections; ++i) {
    const uint64_t before = wire.transfers;
    if (reader.CollectOnce().ok()) ++met.collected;
    met.transactions = std::max(met.transactions, wire.transfers - before);
  }
  return met;
}

Bytes RandomBytes(std::mt19937_64& random, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

class HostileDeviceTest : public testing::TestWithParam<mailbox::ExtensionVersion> {};

INSTANTIATE_TEST_SUITE_P(Versions, HostileDeviceTest,
                         testing::Values(mailbox::ExtensionVersion::kOne, mailbox::ExtensionVersion::kTwo),
                         [](const auto& info) { return info.index == 0 ? "One" : "Two"; });

TEST_P(HostileDeviceTest, AScriptThatIsHonestIsBelieved) {
  // Large bytes select the honest answers throughout.
  const Bytes script(10'000, 0xFF);
  HostileDevice device(script, GetParam());
  EXPECT_EQ(Meet(device, 3).collected, 3);
}

TEST_P(HostileDeviceTest, RandomScripts) {
  std::mt19937_64 random(1);
  int collected = 0;
  const MemoryMeter meter;
  for (int i = 0; i < 3000; ++i) {
    const Bytes script = RandomBytes(random, 200 + random() % 4000);
    HostileDevice device(script, GetParam());
    const Met met = Meet(device, 3);
    collected += met.collected;
    ASSERT_LE(met.transactions, kTransactionsMax) << i;
  }
  EXPECT_LE(meter.peak(), kMemoryMax);
  EXPECT_GT(collected, 50) << "some must get past every trap, or the later ones are not tried";
}

// Answers every transaction with random bytes of the expected length, half of them with a correct PEC.
class RandomBus final : public smbus::Bus {
 public:
  explicit RandomBus(uint64_t seed) : random_(seed) {}
  smbus::TransferResult Execute(const smbus::Transfer& transfer) override {
    smbus::TransferResult result;
    for (const smbus::Message& message : transfer.messages) {
      if (!message.read) continue;
      Bytes answer = RandomBytes(random_, message.block ? 2 + random_() % 256 : message.read_size);
      if (!answer.empty() && random_() % 2 == 0) answer[0] = static_cast<uint8_t>(answer.size() - 2);
      if (answer.size() > 1 && random_() % 2 == 0) {
        const uint8_t code = transfer.messages[0].write_bytes.empty() ? 0 : transfer.messages[0].write_bytes[0];
        const uint8_t before[] = {smbus::AddressByte(message.address, false), code,
                                  smbus::AddressByte(message.address, true)};
        answer.back() = smbus::Pec(ByteSpan(answer).first(answer.size() - 1), smbus::Pec(before));
      }
      result.read.push_back(std::move(answer));
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
};

TEST(HostileTest, RandomAnswers) {
  const MemoryMeter meter;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomBus bus(seed);
    const Met met = Meet(bus, 3);
    ASSERT_EQ(met.collected, 0);
    ASSERT_LE(met.transactions, kTransactionsMax);
  }
  EXPECT_LE(meter.peak(), kMebibyte);
}

// Reports a snapshot of the given length, and serves windows without end.
class EndlessFirmware final : public mcu::CommandHandler {
 public:
  explicit EndlessFirmware(uint32_t size) : size_(size) {}
  Reply Execute(const mailbox::CommandWord& command, uint32_t, uint32_t) override {
    if (command.opcode == mailbox::Opcode::kDiscover) {
      return {.data = static_cast<uint32_t>(mailbox::ExtensionVersion::kOne) | mailbox::kWindowBytes << 8 |
                      mailbox::kWindowCount << 16};
    }
    return {.data = command.opcode == mailbox::Opcode::kLatch ? 1 : size_, .extended_data = size_};
  }
  ByteSpan Window(uint8_t) const override { return window_; }

 private:
  const uint32_t size_;
  const Bytes window_ = Bytes(mailbox::kWindowBytes, 0xA5);
};

Met MeetEndless(uint32_t size) {
  EndlessFirmware firmware(size);
  mcu::MailboxTarget target(HostileDevice::kAddress, firmware);
  mcu::VirtualBus bus;
  bus.Connect(HostileDevice::kAddress, target);
  return Meet(bus, 1);
}

TEST(HostileTest, AStreamIsReadNoFurtherThanItsLength) {
  constexpr uint32_t kSize = 255 * 4000;
  const MemoryMeter meter;
  // Three latches, each with its windows and the commands that open them.
  EXPECT_LE(MeetEndless(kSize).transactions, 3u * (4000 + 250 * 6 + 6) + 6);
  EXPECT_LE(meter.peak(), 8 * kMebibyte);
}

// Unchanged counters take almost no bytes, so a stream of some hundred kilobytes can declare the maximum number of
// counters.
TEST(HostileTest, WhatASmallStreamAsksForIsBounded) {
  mailbox::Snapshot snapshot{.boot_id = 1, .snapshot_id = 1};
  snapshot.counters_per_block = static_cast<uint32_t>(mailbox::kCountersMax / mailbox::kBlocksMax);
  for (size_t i = 0; i < mailbox::kBlocksMax; ++i) {
    snapshot.blocks.push_back({.vm = static_cast<uint16_t>(i), .context = static_cast<uint16_t>(i >> 16)});
  }
  snapshot.counters.resize(snapshot.blocks.size() * snapshot.counters_per_block);
  const Bytes stream = mailbox::EncodeSnapshotStream(snapshot, nullptr, {});
  EXPECT_LE(stream.size(), 256u * 1024);
  snapshot = {};
  const MemoryMeter meter;
  EXPECT_TRUE(mailbox::DecodeSnapshotStream(stream, nullptr).ok());
  EXPECT_LE(meter.peak(), 160 * kMebibyte) << "the counters, and the sums of each block's children";
}

TEST(HostileTest, AStreamThatIsTooLongIsNotBegun) {
  const MemoryMeter meter;
  for (const uint32_t size : {uint32_t{0}, mailbox::kStreamBytesMax + 1, uint32_t{0xFFFFFFFF}}) {
    const Met met = MeetEndless(size);
    EXPECT_EQ(met.collected, 0);
    EXPECT_LE(met.transactions, 50u);
  }
  EXPECT_LE(meter.peak(), kMebibyte);
}

}  // namespace
}  // namespace sideband::tests
