// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <gtest/gtest.h>

#include <utility>

#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

Snapshot Example() {
  return {.boot_id = 42,
          .snapshot_id = 7,
          .catalog_hash = 0xABCD,
          .trigger_id = 99,
          .reference_time_ns = 123456789,
          .counters_per_block = 2,
          .blocks = {{.vm = 0, .context = kNoContext, .generation = 1, .state = BlockState::kActive, .sequence = 3},
                     {.vm = 1, .context = 4, .generation = 2, .state = BlockState::kRetired, .flags = kFlagOverflow}},
          .counters = {1, 2, uint64_t{1} << 63, 0}};
}

// A stream whose frame is right and whose payload is `payload`.
Bytes Framed(ByteSpan payload) { return EncodeStream({.kind = StreamKind::kSnapshot}, payload); }

Bytes Payload(const Snapshot& snapshot) {
  const Bytes stream = EncodeSnapshotStream(snapshot);
  return Bytes(stream.begin() + kStreamHeaderBytes, stream.end() - kStreamCrcBytes);
}

TEST(SnapshotTest, RoundTrips) {
  EXPECT_EQ(*DecodeSnapshotStream(EncodeSnapshotStream(Example())), Example());
  EXPECT_EQ(Example().Counters(1)[0], uint64_t{1} << 63);
}

TEST(SnapshotTest, EveryShorterAndLongerPayloadIsRefused) {
  Bytes payload = Payload(Example());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeSnapshotStream(Framed(ByteSpan(payload).first(size))).ok()) << size;
  }
  payload.push_back(0);
  EXPECT_FALSE(DecodeSnapshotStream(Framed(payload)).ok());
}

TEST(SnapshotTest, HostileNumbersAreRefused) {
  const struct {
    const char* why;
    size_t offset;
    uint8_t value;
  } kCases[] = {
      {"many blocks", 19, 0xFF},          // block count's top byte
      {"many counters", 23, 0xFF},        // counters per block's top byte
      {"unknown state", 24 + 8, 3},       // first block
      {"unknown flag", 24 + 10, 0x10},    //
      {"a block twice", 24 + 28 + 16, 0}  // second block's VM, see below
  };
  for (const auto& test : kCases) {
    Snapshot snapshot = Example();
    snapshot.blocks[1].context = kNoContext;
    Bytes payload = Payload(snapshot);
    payload[test.offset] = test.value;
    EXPECT_EQ(DecodeSnapshotStream(Framed(payload)).status().code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

TEST(SnapshotTest, ACatalogueIsNoSnapshot) {
  EXPECT_EQ(DecodeSnapshotStream(EncodeStream({.kind = StreamKind::kCatalog}, Payload(Example()))).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SnapshotTest, FlagsHaveNames) {
  EXPECT_TRUE(FlagNames(0).empty());
  EXPECT_EQ(FlagNames(kFlagOverflow | kFlagMmuFault), (std::vector<std::string>{"overflow", "mmu_fault"}));
}

}  // namespace
}  // namespace sideband::mailbox
