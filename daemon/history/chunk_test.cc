// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/chunk.h"

#include <gtest/gtest.h>

#include "daemon/history/fake_life.h"

namespace sideband::daemon {
namespace {

// The device and one VM, with two events.
DeviceSnapshot Small(uint64_t publication, mailbox::CounterValues counters) {
  DeviceSnapshot snapshot;
  snapshot.topology = std::make_shared<Topology>(mailbox::Catalog{.events = {{.name = "a"}, {.name = "b"}}}, 1);
  snapshot.data = {.snapshot_id = static_cast<uint32_t>(publication),
                   .reference_time_ns = publication * 1000,
                   .counters_per_block = 2,
                   .blocks = {{}, {.vm = 1, .state = mailbox::BlockState::kActive}},
                   .counters = std::move(counters)};
  snapshot.host_time = absl::UnixEpoch() + absl::Nanoseconds(publication * 1000 + 7);
  snapshot.steady_time = absl::Nanoseconds(publication * 1000 - 500);
  snapshot.publication = publication;
  return snapshot;
}

std::vector<uint8_t> Encoded(const DeviceSnapshot* before, const DeviceSnapshot& now) {
  CountingSink size;
  EncodeFrame(before, now, size);
  std::vector<uint8_t> bytes(size.size());
  BoundedSink sink(bytes);
  EncodeFrame(before, now, sink);
  EXPECT_FALSE(sink.full());
  EXPECT_EQ(sink.size(), bytes.size());
  return bytes;
}

// The example in README.md.
TEST(FrameTest, WorkedExample) {
  const DeviceSnapshot first = Small(1, {300, 5, 100, 5});
  const DeviceSnapshot second = Small(2, {301, 5, 101, 5});
  EXPECT_EQ(Encoded(nullptr, first),
            (std::vector<uint8_t>{0x02, 0x02, 0xD0, 0x0F, 0xDE, 0x0F, 0x00, 0xE8, 0x07,  // header
                                  0x02, 0x00, 0x00,                                      // statuses
                                  0xD8, 0x04, 0xC8, 0x01,                                // event a
                                  0x0A, 0x0A}));                                         // event b
  EXPECT_EQ(Encoded(&first, second),
            (std::vector<uint8_t>{0x02, 0x02, 0xD0, 0x0F, 0xD0, 0x0F, 0x00, 0xD0, 0x0F,  // header
                                  0x00, 0x01,                                            // statuses
                                  0x02, 0x02,                                            // event a
                                  0x00, 0x01}));                                         // event b
}

TEST(FrameTest, NothingNewIsOneRun) {
  const DeviceSnapshot first = Small(1, {300, 5, 100, 5});
  DeviceSnapshot second = first;
  second.publication = 2;
  EXPECT_EQ(Encoded(&first, second), (std::vector<uint8_t>{0x02, 0, 0, 0, 0, 0, 0, 5}));
}

TEST(FrameTest, DecodesWhatWasEncoded) {
  FakeLife life(1, 5, 0);
  const auto first = life.Next();
  const auto second = life.Next();
  std::vector<uint8_t> bytes = Encoded(nullptr, *first);
  const auto more = Encoded(first.get(), *second);
  bytes.insert(bytes.end(), more.begin(), more.end());
  ByteSpan left = bytes;
  FrameHeader header;
  std::vector<uint64_t> values(Layout::Of(*first).values());
  ASSERT_TRUE(DecodeFrame(left, header, values));
  ASSERT_TRUE(DecodeFrame(left, header, values));
  EXPECT_EQ(header, FrameHeader::Of(*second));
  const size_t rows = second->data.blocks.size();
  for (size_t row = 0; row < rows; ++row) {
    EXPECT_EQ(values[row], StatusOf(second->data.blocks[row]));
    for (size_t event = 0; event < 5; ++event) {
      EXPECT_EQ(values[(1 + event) * rows + row], second->data.Counters(row)[event]);
    }
  }
  EXPECT_FALSE(DecodeFrame(left, header, values)) << "the end";
}

TEST(FrameTest, StatusIsStateAndFlags) {
  const uint64_t status = StatusOf({.state = mailbox::BlockState::kRetired, .flags = 0xFFFF});
  EXPECT_EQ(StateOfStatus(status), mailbox::BlockState::kRetired);
  EXPECT_EQ(FlagsOfStatus(status), 0xFFFF);
}

TEST(FrameTest, EveryShorterRoomIsFull) {
  const DeviceSnapshot snapshot = Small(1, {~uint64_t{0} / 3, 5, 100, 1u << 31});
  const auto bytes = Encoded(nullptr, snapshot);
  for (size_t room = 0; room < bytes.size(); ++room) {
    std::vector<uint8_t> memory(room + 16, 0xEE);
    BoundedSink sink({memory.data(), room});
    EncodeFrame(nullptr, snapshot, sink);
    EXPECT_TRUE(sink.full()) << room;
    for (size_t i = room; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0xEE) << "past the end";
  }
}

TEST(FrameTest, ABrokenFrameIsRefused) {
  const auto bytes = Encoded(nullptr, Small(1, {300, 5, 100, 5}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteSpan left(bytes.data(), size);
    FrameHeader header;
    std::vector<uint64_t> values(6);
    EXPECT_FALSE(DecodeFrame(left, header, values)) << size;
  }
  std::vector<uint8_t> run = {2, 0, 0, 0, 0, 0, 0, 6};  // a run of seven zeros, but there are six values
  ByteSpan left = run;
  FrameHeader header;
  std::vector<uint64_t> values(6);
  EXPECT_FALSE(DecodeFrame(left, header, values));
}

}  // namespace
}  // namespace sideband::daemon
