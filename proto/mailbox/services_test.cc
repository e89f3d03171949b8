// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/services.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

const DriverEvent kEvent = {.xid = 0x14F, .sequence = 7, .time_s = 1'700'000'000, .text = "GPU has fallen off"};

TEST(DriverEventTest, Bytes) {
  const DriverEvent event = {.xid = 0x130, .later_lost = true, .sequence = 1, .time_s = 2, .text = "abc"};
  EXPECT_EQ(event.Encode(), (Bytes{4, 0x30, 1, 1, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 'c', 0}));
}

TEST(DriverEventTest, DecodesWhatItEncodes) {
  EXPECT_EQ(*DriverEvent::Decode(kEvent.Encode()), kEvent);
  const DriverEvent empty = {.sequence = 1};
  EXPECT_EQ(*DriverEvent::Decode(empty.Encode()), empty);
}

TEST(DriverEventTest, ALongTextIsTruncatedAndSaysSo) {
  for (const size_t size : {79u, 80u, 500u}) {
    DriverEvent event = kEvent;
    event.text = std::string(size, 'x');
    const Bytes bytes = event.Encode();
    EXPECT_LE(bytes.size(), DriverEvent::kBytesMax);
    const DriverEvent decoded = *DriverEvent::Decode(bytes);
    EXPECT_EQ(decoded.text, event.text.substr(0, 79)) << size;
    EXPECT_EQ(decoded.text_truncated, size > 79) << size;
  }
}

TEST(DriverEventTest, EveryPrefixIsRefused) {
  const Bytes bytes = kEvent.Encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DriverEvent::Decode(ByteSpan(bytes).first(size)).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(DriverEventTest, ImpossibleSizesAreRefused) {
  Bytes bytes(1024, 'x');
  for (int dwords = 0; dwords < 256; ++dwords) {
    bytes[0] = static_cast<uint8_t>(dwords);
    EXPECT_EQ(DriverEvent::Decode(bytes).ok(), dwords >= 3 && dwords <= 23) << dwords;
  }
}

TEST(DriverEventTest, UnprintableCharactersAreReplaced) {
  Bytes bytes = kEvent.Encode();
  bytes[12] = '\n';
  bytes[13] = 0x1B;
  bytes[14] = 0xFF;
  EXPECT_EQ(DriverEvent::Decode(bytes)->text, "??? has fallen off");
}

}  // namespace

}  // namespace sideband::mailbox
