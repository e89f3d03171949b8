// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/clock_section.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <vector>

#include "proto/mailbox/any_number.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

// The device alone, with no counters.
Snapshot Bare(std::vector<std::optional<ClockReading>> clocks, uint32_t id = 7, uint64_t time_ns = 1000) {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = id, .reference_time_ns = time_ns, .clocks = std::move(clocks)};
  snapshot.blocks = {{.vm = kHypervisorVm, .trigger_id = 0, .reference_time_ns = time_ns}};
  return snapshot;
}

Bytes Encoded(const Snapshot& snapshot, const Snapshot* base) {
  return EncodeSnapshotStream(snapshot, base, {}, Framing::kSections);
}

// The whole section with its header.
Bytes SectionOf(const Snapshot& snapshot, const Snapshot* base) {
  const Bytes bits = EncodeClocks(snapshot, base);
  ByteWriter out;
  out.U16(2), out.U16(0), out.U32(static_cast<uint32_t>(bits.size())), out.Raw(bits);
  return std::move(out).Take();
}

// README.md, "Clocks".
TEST(ClockSectionTest, BytesAreThoseOfTheDocument) {
  const Snapshot base = Bare({ClockReading{.local_clock = 2000, .arrival = 9}}, 4, 1000);
  const Snapshot next = Bare({ClockReading{.local_clock = 4001, .arrival = 10, .changes = 1}}, 5, 2000);
  EXPECT_EQ(SectionOf(next, &base), (Bytes{2, 0, 0, 0, 4, 0, 0, 0, 0x0F, 0x34, 0x70, 0x20}));
  EXPECT_EQ(SectionOf(base, nullptr), (Bytes{2, 0, 0, 0, 6, 0, 0, 0, 0x80, 0x17, 0xD0, 0x97, 0x90, 0x00}));
  EXPECT_EQ(*DecodeSnapshotStream(Encoded(next, &base), &base), next);
}

std::optional<ClockReading> AnyReading() {
  if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
  return ClockReading{.local_clock = AnyNumber(),
                      .horizon_lag = AnyNumber(),
                      .arrival = AnyNumber(),
                      .changes = static_cast<uint32_t>(AnyNumber())};
}

std::vector<std::optional<ClockReading>> AnyReadings() {
  std::vector<std::optional<ClockReading>> readings(*rc::gen::inRange<size_t>(0, kClockDomainsMax + 1));
  for (std::optional<ClockReading>& reading : readings) reading = AnyReading();
  return readings;
}

RC_GTEST_PROP(ClockSectionPropertyTest, AnyReadingsComeBack, ()) {
  const Snapshot base = Bare(AnyReadings(), 4, *rc::gen::arbitrary<uint64_t>());
  const Snapshot next = Bare(AnyReadings(), 5, *rc::gen::arbitrary<uint64_t>());
  for (const Snapshot* const of : {static_cast<const Snapshot*>(nullptr), &base}) {
    const auto read = DecodeSnapshotStream(Encoded(next, of), of);
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == next);
  }
}

RC_GTEST_PROP(ClockSectionPropertyTest, EveryPrefixAndEveryExtraByteIsRefused, ()) {
  std::vector<std::optional<ClockReading>> readings = AnyReadings();
  readings.push_back(AnyReading());
  if (readings.size() > kClockDomainsMax) readings.pop_back();
  Bytes bits = EncodeClocks(Bare(readings), nullptr);
  for (size_t size = 0; size < bits.size(); ++size) {
    Snapshot snapshot = Bare({});
    RC_ASSERT(absl::IsDataLoss(DecodeClocks(ByteSpan(bits).first(size), nullptr, snapshot)));
  }
  bits.push_back(0);
  Snapshot snapshot = Bare({});
  RC_ASSERT(DecodeClocks(bits, nullptr, snapshot) == absl::DataLossError("clocks: bits left over"));
}

TEST(ClockSectionTest, EveryBitFlipIsFound) {
  const Snapshot base = Bare({ClockReading{.local_clock = 2000, .arrival = 9}}, 4, 1000);
  Bytes bytes = Encoded(Bare({ClockReading{.local_clock = 4001, .arrival = 10}}, 5, 2000), &base);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_EQ(DecodeSnapshotStream(bytes, &base).status().code(), absl::StatusCode::kDataLoss) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(ClockSectionTest, AsManyAsInASnapshotWithoutClocksIsRefused) {
  const Snapshot base = Bare({}, 4);
  const Bytes bits = {0x0F};
  for (const Snapshot* const of : {static_cast<const Snapshot*>(nullptr), &base}) {
    Snapshot snapshot = Bare({});
    EXPECT_EQ(DecodeClocks(bits, of, snapshot), absl::DataLossError("clocks: as many as in no snapshot"));
  }
}

TEST(ClockSectionTest, VersionOneAndDevicesWithoutDomainsHaveNone) {
  const Snapshot with = Bare({ClockReading{.local_clock = 5}}), without = Bare({});
  EXPECT_TRUE(DecodeSnapshotStream(EncodeSnapshotStream(with, nullptr, {}), nullptr)->clocks.empty());
  EXPECT_EQ(EncodeSnapshotStream(with, nullptr, {}), EncodeSnapshotStream(without, nullptr, {}));
  EXPECT_EQ(Encoded(with, nullptr).size() - Encoded(without, nullptr).size(), SectionOf(with, nullptr).size());
}

// A device of a reference clock of 1 GHz, whose clocks of 0.1 to 2 GHz are off by up to 50 ppm and drift by 50 ppb a
// second. It is read once a second.
class SteadyClocks {
 public:
  explicit SteadyClocks(size_t domains) : hz_(domains) {
    for (double& hz : hz_) {
      const double nominal = 1e8 * (1 + random_() % 20);
      hz = nominal * (1 + 1e-6 * (static_cast<double>(random_() % 101) - 50));
    }
    now_ = Bare(std::vector<std::optional<ClockReading>>(domains, ClockReading()), 1, 0);
  }

  Snapshot Next() {
    ++now_.snapshot_id;
    now_.reference_time_ns += 1'000'000'000 + random_() % 2'000'000;
    now_.blocks[0].reference_time_ns = now_.reference_time_ns;
    for (size_t d = 0; d < hz_.size(); ++d) {
      hz_[d] *= 1 + 1e-9 * (static_cast<double>(random_() % 101) - 50);
      const double elapsed_s = 1e-9 * static_cast<double>(now_.reference_time_ns - before_ns_);
      now_.clocks[d]->local_clock += static_cast<uint64_t>(hz_[d] * elapsed_s) + random_() % 2;
      now_.clocks[d]->arrival = 40 + random_() % 3;
    }
    before_ns_ = now_.reference_time_ns;
    return now_;
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<double> hz_;
  uint64_t before_ns_ = 0;
  Snapshot now_;
};

TEST(ClockSectionTest, ASteadySnapshotIsLongerByTwelveBytesADomainAtMost) {
  constexpr int kSeconds = 200;
  for (const size_t domains : {1, 2, 8, 64}) {
    SteadyClocks device(domains);
    Snapshot base = device.Next();
    size_t total = 0, most = 0;
    for (int second = 0; second < kSeconds; ++second) {
      const Snapshot next = device.Next();
      Snapshot without = next, base_without = base;
      without.clocks.clear(), base_without.clocks.clear();
      const size_t more = Encoded(next, &base).size() - Encoded(without, &base_without).size();
      ASSERT_EQ(*DecodeSnapshotStream(Encoded(next, &base), &base), next);
      total += more;
      most = std::max(most, more);
      base = next;
    }
    EXPECT_LE(most, 12 * domains) << domains << " domains";
    std::printf("%zu domains: %.2f bytes a domain more, at most %.2f\n", domains,
                static_cast<double>(total) / static_cast<double>(kSeconds * domains),
                static_cast<double>(most) / static_cast<double>(domains));
  }
}

}  // namespace
}  // namespace sideband::mailbox
