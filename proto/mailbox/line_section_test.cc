// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/line_section.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <optional>

#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

Snapshot With(std::optional<LinePulse> pulse, uint32_t id) {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = id, .line_pulse = pulse};
  snapshot.blocks = {{.vm = kHypervisorVm}};
  return snapshot;
}

// README.md, "Trigger line".
TEST(LineSectionTest, BytesAreThoseOfTheDocument) {
  const Snapshot snapshot = With(LinePulse{.pulses = 3, .is_own = true, .reference_cycle = 1000}, 4);
  EXPECT_EQ(EncodeLinePulse(snapshot, nullptr), (Bytes{0x03, 0, 0, 0, 0, 0, 0, 0, 0xE8, 0x03, 0, 0, 0, 0, 0, 0, 0x01}));
}

TEST(LineSectionTest, APulseIsSentOnce) {
  const LinePulse pulse{.pulses = 3, .reference_cycle = 1000};
  const Snapshot base = With(pulse, 4), next = With(pulse, 5);
  EXPECT_TRUE(EncodeLinePulse(next, &base).empty());
  EXPECT_FALSE(EncodeLinePulse(next, nullptr).empty());
}

RC_GTEST_PROP(LineSectionPropertyTest, AnyPulseComesBackInAStream, ()) {
  const auto any = [] {
    return LinePulse{.pulses = *rc::gen::inRange<uint64_t>(1, UINT64_MAX),
                     .is_own = *rc::gen::arbitrary<bool>(),
                     .reference_cycle = *rc::gen::arbitrary<uint64_t>()};
  };
  const Snapshot base = With(*rc::gen::arbitrary<bool>() ? std::optional(any()) : std::nullopt, 4);
  const Snapshot next = With(base.line_pulse && *rc::gen::arbitrary<bool>() ? *base.line_pulse : any(), 5);
  for (const Snapshot* const of : {static_cast<const Snapshot*>(nullptr), &base}) {
    const auto read = DecodeSnapshotStream(EncodeSnapshotStream(next, of, {}, Framing::kSections), of);
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == next);
  }
}

TEST(LineSectionTest, WhatIsNoPulseIsRefused) {
  Bytes bytes = EncodeLinePulse(With(LinePulse{.pulses = 3, .reference_cycle = 1000}, 4), nullptr);
  Snapshot snapshot;
  const auto decode = [&](ByteSpan span) { return DecodeLinePulse(&span, nullptr, snapshot); };
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(ByteSpan(bytes).first(size)).ok()) << size;
  bytes.back() = 2;
  EXPECT_FALSE(decode(bytes).ok()) << "own, and not";
  bytes.back() = 0;
  bytes[0] = 0;
  EXPECT_FALSE(decode(bytes).ok()) << "the pulse before the first";
  bytes[0] = 1;
  EXPECT_TRUE(decode(bytes).ok());
  bytes.push_back(0);
  EXPECT_FALSE(decode(bytes).ok());
}

}  // namespace
}  // namespace sideband::mailbox
