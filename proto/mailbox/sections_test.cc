// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/sections.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "proto/mailbox/clocks.h"
#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

// The device and a VM, with two counters each.
Snapshot SnapshotWithBookmark() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .reference_time_ns = 1000, .counters_per_block = 2};
  snapshot.blocks = {{.vm = kHypervisorVm}, {.vm = 1}};
  snapshot.counters = {100, 50, 40, 9};
  snapshot.bookmarks = {
      {.number = 3, .block = 1, .bookmark = 17, .asked_ns = 900, .served_ns = 902, .counters = {37, 9}}};
  return snapshot;
}

Snapshot Decoded(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole = {}) {
  return *DecodeSnapshotStream(EncodeSnapshotStream(snapshot, base, whole, Framing::kSections), base);
}

// stream_format.md, "Bookmarks".
TEST(BookmarkSectionTest, BytesAreThoseOfTheDocument) {
  const Bytes bits = EncodeBookmarks(SnapshotWithBookmark(), nullptr, {});
  EXPECT_EQ(bits, (Bytes{0x01, 0x00, 0x83, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x1A, 0xE2, 0x81, 0x83, 0x01}));
}

uint64_t UpTo(uint64_t most) { return most == UINT64_MAX ? AnyNumber() : AnyNumber() % (most + 1); }

Snapshot AnySnapshot() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .reference_time_ns = AnyNumber()};
  snapshot.counters_per_block = *rc::gen::inRange<uint32_t>(0, 5);
  const auto blocks = *rc::gen::inRange<uint16_t>(1, 4);
  for (uint16_t vm = 0; vm < blocks; ++vm) snapshot.blocks.push_back({.vm = vm});
  for (size_t i = blocks * snapshot.counters_per_block; i > 0; --i) snapshot.counters.push_back(AnyNumber());
  uint64_t number = 0;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    ServedBookmark served{.number = number += 1 + AnyNumber() / 8, .bookmark = static_cast<uint32_t>(AnyNumber())};
    served.block = *rc::gen::inRange<uint16_t>(0, blocks);
    served.served_ns = UpTo(snapshot.reference_time_ns);
    served.asked_ns = UpTo(served.served_ns);
    for (const uint64_t now : snapshot.Counters(served.block)) served.counters.push_back(UpTo(now));
    snapshot.bookmarks.push_back(served);
  }
  return snapshot;
}

RC_GTEST_PROP(BookmarkSectionPropertyTest, AnyBookmarksComeBack, ()) {
  const Snapshot snapshot = AnySnapshot();
  RC_ASSERT(Decoded(snapshot, nullptr) == snapshot);
}

RC_GTEST_PROP(BookmarkSectionPropertyTest, EveryPrefixAndEveryExtraByteIsRefused, ()) {
  const Snapshot snapshot = AnySnapshot();
  RC_PRE(!snapshot.bookmarks.empty());
  Bytes bits = EncodeBookmarks(snapshot, nullptr, {});
  Snapshot bare = snapshot;
  bare.bookmarks.clear();
  for (size_t size = 0; size < bits.size(); ++size) {
    Snapshot read = bare;
    RC_ASSERT(absl::IsDataLoss(DecodeBookmarks(ByteSpan(bits).first(size), read)));
  }
  bits.push_back(0);
  RC_ASSERT(DecodeBookmarks(bits, bare) == absl::DataLossError("bookmarks: bits left over"));
}

TEST(BookmarkSectionTest, ThoseOfTheBaseAreNotSentAgain) {
  const Snapshot base = AsBase(SnapshotWithBookmark(), {});
  Snapshot next = SnapshotWithBookmark();
  next.snapshot_id = 8;
  next.reference_time_ns = 2000;
  next.counters[2] = 45;
  EXPECT_TRUE(Decoded(next, &base).bookmarks.empty());
  next.bookmarks.push_back(
      {.number = 5, .block = 1, .bookmark = 18, .asked_ns = 1500, .served_ns = 1500, .counters = {41, 9}});
  const Snapshot read = Decoded(next, &base);
  ASSERT_EQ(read.bookmarks.size(), 1u);
  EXPECT_EQ(read.bookmarks[0], next.bookmarks[1]);
}

TEST(BookmarkSectionTest, ThoseOfConfidentialVmsAreInNoStream) {
  EXPECT_TRUE(Decoded(SnapshotWithBookmark(), nullptr, {1}).bookmarks.empty());
  EXPECT_TRUE(EncodeBookmarks(SnapshotWithBookmark(), nullptr, {1}).empty());
}

TEST(BookmarkSectionTest, VersionOneHasNone) {
  EXPECT_TRUE(
      DecodeSnapshotStream(EncodeSnapshotStream(SnapshotWithBookmark(), nullptr, {}), nullptr)->bookmarks.empty());
}

TEST(BookmarkSectionTest, BookmarksThatLieAreRefused) {
  const auto spoilt = [](void (*spoil)(Snapshot&)) {
    Snapshot sent = SnapshotWithBookmark(), read = SnapshotWithBookmark();
    read.bookmarks.clear();
    spoil(sent);
    return std::string(DecodeBookmarks(EncodeBookmarks(sent, nullptr, {}), read).message());
  };
  EXPECT_EQ(spoilt([](Snapshot&) {}), "");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks.push_back(s.bookmarks[0]); }), "bookmarks: numbers do not ascend");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].served_ns = 1001; }), "bookmarks: one from before the boot");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].asked_ns = 903; }), "bookmarks: one from before the boot");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].counters[1] = 10; }),
            "bookmarks: one with more counts than its block");
  EXPECT_EQ(spoilt([](Snapshot& s) {
              s.blocks.push_back({.vm = 2});
              s.counters.insert(s.counters.end(), {9, 9});
              s.bookmarks[0].block = 2;
            }),
            "bookmarks: one of an unknown block");
  EXPECT_EQ(spoilt([](Snapshot& s) {
              while (s.bookmarks.size() <= kBookmarksKept) {
                s.bookmarks.push_back(s.bookmarks.back());
                ++s.bookmarks.back().number;
              }
            }),
            "bookmarks: more of a block than are kept");
  Snapshot read = SnapshotWithBookmark();
  EXPECT_EQ(DecodeBookmarks(Bytes{0, 0}, read), absl::DataLossError("bookmarks: none"));
}

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

// stream_format.md, "Clocks".
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

Snapshot With(std::optional<LinePulse> pulse, uint32_t id) {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = id, .line_pulse = pulse};
  snapshot.blocks = {{.vm = kHypervisorVm}};
  return snapshot;
}

// stream_format.md, "Trigger line".
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

const std::vector<SealedBlocks> kSealed = {{1, {1, 2, 3}}, {3, {4}}, {3, {5, 6}}};

TEST(SealedSectionTest, ComesBackInASnapshotWhateverTheBase) {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .counters_per_block = 0};
  snapshot.blocks = {{.vm = 0}, {.vm = 1}, {.vm = 3}};
  snapshot.sealed = kSealed;
  const Bytes whole = EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections);
  const Snapshot decoded = *DecodeSnapshotStream(whole, nullptr);
  EXPECT_EQ(decoded.sealed, kSealed);

  const Snapshot base = AsBase(decoded, {});
  EXPECT_EQ(base.sealed, kSealed) << "they are short";
  snapshot.snapshot_id = 8;
  EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(snapshot, &base, {}, Framing::kSections), &base)->sealed,
            kSealed);
  snapshot.sealed.clear();
  EXPECT_TRUE(
      DecodeSnapshotStream(EncodeSnapshotStream(snapshot, &base, {}, Framing::kSections), &base)->sealed.empty());
}

TEST(SealedSectionTest, HasTheBytesOfTheRegistry) {
  EXPECT_EQ(EncodeSealed({{0x0103, {0xAA, 0xBB}}}), (Bytes{0x03, 0x01, 2, 0, 0, 0, 0, 0, 0xAA, 0xBB}));
}

// The bytes count up from `first`.
SealedBlocks Record(uint16_t vm, size_t size, uint8_t first) {
  SealedBlocks sealed{.vm = vm, .record = Bytes(size)};
  for (uint8_t& byte : sealed.record) byte = first++;
  return sealed;
}

TEST(SealedSectionTest, LacksWhatTheBaseHas) {
  const std::vector<SealedBlocks> base = {Record(1, 300, 0), Record(3, 300, 1), Record(3, 300, 2)};
  std::vector<SealedBlocks> next = base;
  next[0].record[8] ^= 1;                                                        // the second group
  for (auto& of : next) std::fill(of.record.begin() + 112, of.record.end(), 9);  // ciphertext
  next[2].record.resize(20);
  const Bytes bytes = EncodeSealed(next, base);
  const size_t whole = EncodeSealed(next).size();
  EXPECT_EQ(bytes.size(), whole - 13 * 8 - 14 * 8 - 2 * 8);
  EXPECT_EQ(*DecodeSealed(bytes, base), next);
  EXPECT_FALSE(DecodeSealed(bytes).ok()) << "without the base";
  EXPECT_FALSE(DecodeSealed(bytes, {base[0], base[1]}).ok()) << "the base has one record of VM 3";
}

TEST(SealedSectionTest, TheSecondRecordOfAVmMayBecomeItsFirst) {
  const std::vector<SealedBlocks> base = {Record(3, 200, 1), Record(3, 200, 2)};
  const std::vector<SealedBlocks> next = {Record(3, 200, 2)};
  EXPECT_EQ(*DecodeSealed(EncodeSealed(next, base), base), next);
}

TEST(SealedSectionTest, RefusesWhatNeitherPayloadNorBaseHas) {
  const std::vector<SealedBlocks> base = {Record(1, 64, 0)};
  const auto is_refused = [&](Bytes payload) { return !DecodeSealed(payload, base).ok(); };
  EXPECT_FALSE(is_refused({1, 0, 16, 0, 0, 0, 3, 0}));
  EXPECT_TRUE(is_refused({1, 0, 16, 0, 0, 0, 7, 0})) << "a group beyond the record";
  EXPECT_TRUE(is_refused({1, 0, 12, 0, 0, 0, 3, 0})) << "a part of a group";
  EXPECT_TRUE(is_refused({1, 0, 72, 0, 0, 0, 0xFF, 1})) << "a group beyond the base's record";
  EXPECT_TRUE(is_refused({2, 0, 8, 0, 0, 0, 1, 0})) << "a VM that the base does not have";
  EXPECT_TRUE(is_refused({1, 0, 0, 0, 0, 1, 0, 0})) << "a length beyond the payload";
}

TEST(SealedSectionTest, EveryCutIsRefusedOrEndsAtARecord) {
  const Bytes bytes = EncodeSealed(kSealed);
  const std::vector<size_t> ends = {0, 11, 20, 30};
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto decoded = DecodeSealed(ByteSpan(bytes).first(size));
    EXPECT_EQ(decoded.ok(), std::find(ends.begin(), ends.end(), size) != ends.end()) << size;
  }
}

TEST(SealedSectionTest, RefusesTheHypervisorEmptyRecordsAndVmsThatDoNotAscend) {
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{0, {1}}})).ok());
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{1, {}}})).ok());
  EXPECT_FALSE(DecodeSealed(EncodeSealed({{3, {1}}, {1, {1}}})).ok());
  EXPECT_FALSE(DecodeSealed(Bytes{1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0}).ok());
}

const Bytes kSectionPayload = {1, 2, 3};

struct RawSection {
  uint16_t type;
  uint16_t flags;
  uint32_t length;
  Bytes payload;
};

Bytes Raw(const std::vector<RawSection>& sections) {
  ByteWriter out;
  for (const RawSection& section : sections) {
    out.U16(section.type);
    out.U16(section.flags);
    out.U32(section.length);
    out.Raw(section.payload);
  }
  return std::move(out).Take();
}

TEST(SectionsTest, TheBytesAreThoseOfTheDocument) {
  ByteWriter out;
  AppendSection(SnapshotSection::kBlocks, kSectionPayload, out);
  AppendSection(SnapshotSection::kPipelineStatistics, {}, out);
  EXPECT_EQ(std::move(out).Take(), (Bytes{1, 0, 1, 0, 3, 0, 0, 0, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(SectionsTest, KnownSectionsAreFoundAndOthersAreSkipped) {
  const Bytes bytes = Raw({{9, 0x8000, 2, {7, 7}}, {3, 1, 0, {}}, {1, 1, 3, kSectionPayload}, {0xFFFF, 0, 0, {}}});
  const auto sections = SplitSections(bytes, kCatalogSections);
  ASSERT_TRUE(sections.ok()) << sections.status();
  ASSERT_EQ(sections->size(), 2u);
  const ByteSpan* const events = FindSection(*sections, CatalogSection::kEvents);
  ASSERT_NE(events, nullptr);
  EXPECT_EQ(Bytes(events->begin(), events->end()), kSectionPayload);
  EXPECT_EQ(FindSection(*sections, CatalogSection::kEventDetails), nullptr);
}

TEST(SectionsTest, SectionsThatLieAreRefused) {
  const struct {
    const char* why;
    std::vector<RawSection> sections;
    const char* message;
  } kCases[] = {
      {"nothing", {}, "section 1 is missing"},
      {"a length beyond the end", {{1, 1, 4, kSectionPayload}}, "section 1 is truncated"},
      {"the greatest length", {{1, 1, 0xFFFFFFFF, kSectionPayload}}, "section 1 is truncated"},
      {"half a header", {{1, 1, 3, kSectionPayload}, {5, 0, 3, {1}}}, "section 5 is truncated"},
      {"a type twice", {{1, 1, 0, {}}, {1, 1, 0, {}}}, "section 1 is there twice"},
      {"an unknown type twice", {{1, 1, 0, {}}, {99, 0, 0, {}}, {99, 0, 0, {}}}, "section 99 is there twice"},
      {"an unknown type that must be known",
       {{1, 1, 0, {}}, {99, 1, 0, {}}},
       "section 99 is unknown, but must be known"},
      {"with other flags, too", {{1, 1, 0, {}}, {99, 0x8001, 0, {}}}, "section 99 is unknown, but must be known"},
  };
  for (const auto& test : kCases) {
    const auto sections = SplitSections(Raw(test.sections), kSnapshotSections);
    EXPECT_EQ(sections.status().code(), absl::StatusCode::kInvalidArgument) << test.why;
    EXPECT_EQ(sections.status().message(), test.message) << test.why;
  }
}

TEST(SectionsTest, EveryPrefixOfASectionIsRefused) {
  const Bytes bytes = Raw({{1, 1, 3, kSectionPayload}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(SplitSections(ByteSpan(bytes).first(size), kSnapshotSections).ok()) << size;
  }
}

TEST(SectionsTest, TheirNumberIsBounded) {
  std::vector<RawSection> sections = {{1, 1, 0, {}}};
  for (uint16_t type = 100; sections.size() < kSectionsMax; ++type) sections.push_back({type, 0, 0, {}});
  EXPECT_TRUE(SplitSections(Raw(sections), kSnapshotSections).ok());
  sections.push_back({99, 0, 0, {}});
  EXPECT_FALSE(SplitSections(Raw(sections), kSnapshotSections).ok());
}

}  // namespace

}  // namespace sideband::mailbox
