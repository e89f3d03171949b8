// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/memory_links.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::EccSelector;
using mailbox::MailboxStatus;
using mailbox::MetricId;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;

constexpr EccGeneration kGenerations[] = {EccGeneration::kV2, EccGeneration::kV3, EccGeneration::kV4,
                                          EccGeneration::kV5, EccGeneration::kV6};
constexpr EccGeneration kOfUnits[] = {EccGeneration::kV2, EccGeneration::kV3, EccGeneration::kV4};

class MemoryErrorsTest : public testing::Test {
 protected:
  void SetUp() override {
    state_.dram = {.corrected = 0xFFFFFFFF, .uncorrected = 2};
    state_.sram = {.corrected = 3, .uncorrected = 4};
  }
  Reply GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) {
    spec_.ecc = generation;
    return errors_.GetEcc(generation, arg1, arg2);
  }

  BoardSpec spec_ = {.row_remapping = true, .page_retirement = true};
  BoardState state_{spec_};
  MemoryErrors errors_{spec_, state_};
};

// A reply: its status, and its data if it succeeds.
struct EccCase {
  uint8_t arg1, arg2;
  MailboxStatus status;
  uint32_t data = 0;
};

TEST_F(MemoryErrorsTest, ABoardHasOneGeneration) {
  for (const EccGeneration asked : kGenerations) {
    spec_.ecc.reset();
    EXPECT_EQ(errors_.GetEcc(asked, 0, 0).status, MailboxStatus::kErrNotSupported);
    for (const EccGeneration generation : kGenerations) {
      spec_.ecc = generation;
      const bool is_served = asked == generation;
      EXPECT_EQ(errors_.GetEcc(asked, 0, 0).status,
                is_served ? MailboxStatus::kSuccess : MailboxStatus::kErrNotSupported);
      if (!is_served) {
        EXPECT_EQ(errors_.GetEcc(asked, 0xFF, 0xFF).status, MailboxStatus::kErrNotSupported) << "before arg1";
      }
    }
  }
}

constexpr uint8_t kDramSingle = EccSelector{}.Encode(), kDramDouble = EccSelector{.is_double = true}.Encode();
constexpr uint8_t kSramSingle = EccSelector{.is_graphics = true}.Encode(),
                  kSramDouble = EccSelector{.is_graphics = true, .is_double = true}.Encode();
constexpr EccCase kUnitCases[] = {
    {kDramSingle, 0, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {kDramDouble, 0, MailboxStatus::kSuccess, 2},
    {kSramSingle, 0, MailboxStatus::kSuccess, 3},
    {kSramDouble, 0, MailboxStatus::kSuccess, 4},
    // Other sources and places have no errors.
    {EccSelector{.source = 1}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {EccSelector{.is_graphics = true, .source = 1}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {EccSelector{.is_graphics = true, .source = 3}.Encode(), 0, MailboxStatus::kSuccess, 0},
    {kDramSingle, 0x01, MailboxStatus::kSuccess, 0},
    {kDramSingle, 0xFF, MailboxStatus::kSuccess, 0},
    {kSramSingle, 0x10, MailboxStatus::kSuccess, 0},
    {kSramSingle, 0xFF, MailboxStatus::kSuccess, 0},
    // Addresses, whatever the low bits are.
    {0x40, 0, MailboxStatus::kErrNotSupported},
    {0x42, 0xFF, MailboxStatus::kErrNotSupported},
    {0x7F, 0, MailboxStatus::kErrNotSupported},
    // Undefined bits.
    {0x02, 0, MailboxStatus::kErrArg1},
    {0x20, 0, MailboxStatus::kErrArg1},
    {0x3F, 0xFF, MailboxStatus::kErrArg1},
    {0x80, 0, MailboxStatus::kErrArg1},
    {0xC0, 0, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationsOfUnits) {
  for (const EccGeneration generation : kOfUnits) {
    for (const EccCase& row : kUnitCases) {
      const Reply reply = GetEcc(generation, row.arg1, row.arg2);
      EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
      EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
    }
  }
}

constexpr EccCase kIndexCases[] = {
    {0, 0, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {0, 1, MailboxStatus::kSuccess, 2},
    {1, 0, MailboxStatus::kSuccess, 3},
    {1, 1, MailboxStatus::kSuccess, 4},
    {0, 2, MailboxStatus::kSuccess, 0},  // a type without counts
    {1, 4, MailboxStatus::kSuccess, 0},
    {0, 5, MailboxStatus::kErrArg2},
    {0, 7, MailboxStatus::kErrArg2},
    {0, 0x08, MailboxStatus::kErrArg2},  // an undefined bit
    {0, 0x20, MailboxStatus::kErrArg2},  // index 128
    {1, 0xE0, MailboxStatus::kErrArg2},  // index 897
    {2, 0, MailboxStatus::kErrArg1},
    {0x7F, 0xFF, MailboxStatus::kErrArg1},
    // The buffer has 16 entries.
    {0x80, 0, MailboxStatus::kErrNotSupported},
    {0x8F, 0xFF, MailboxStatus::kErrNotSupported},
    {0x90, 0, MailboxStatus::kErrArg1},
    {0xFF, 0, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationOfIndexes) {
  for (const EccCase& row : kIndexCases) {
    const Reply reply = GetEcc(EccGeneration::kV5, row.arg1, row.arg2);
    EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
  }
}

constexpr EccCase kMemoryCases[] = {
    {0, 0, MailboxStatus::kSuccess, 3}, {0, 1, MailboxStatus::kSuccess, 0xFFFFFFFF},
    {0, 2, MailboxStatus::kErrArg2},    {1, 0, MailboxStatus::kSuccess, 4},
    {1, 1, MailboxStatus::kSuccess, 2}, {1, 2, MailboxStatus::kErrArg2},
    {2, 0, MailboxStatus::kSuccess, 0}, {2, 1, MailboxStatus::kErrArg2},
    {3, 0, MailboxStatus::kErrArg1},    {0xFF, 0xFF, MailboxStatus::kErrArg1},
};

TEST_F(MemoryErrorsTest, GenerationOfMemories) {
  for (const EccCase& row : kMemoryCases) {
    const Reply reply = GetEcc(EccGeneration::kV6, row.arg1, row.arg2);
    EXPECT_EQ(reply.status, row.status) << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_EQ(reply.data, row.data) << int{row.arg1} << ", " << int{row.arg2};
  }
  state_.sram_threshold_exceeded = true;
  EXPECT_EQ(GetEcc(EccGeneration::kV6, 2, 0).data, 1u);
}

struct RemapCase {
  uint32_t uncorrected, corrected;
  uint32_t both;
};
constexpr RemapCase kRemaps[] = {
    {0, 0, 0},
    {1, 2, 0x00'2001},
    {0x7FF, 0, 0x00'07FF},  // the most that fits
    {0x800, 0, 0x00'0FFF},  // with the flag that there were more
    {0, 0x7FF, 0x7F'F000},
    {0, 0x800, 0xFF'F000},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFF'FFFF},
};

TEST_F(MemoryErrorsTest, RemapCounts) {
  for (const RemapCase& row : kRemaps) {
    state_.rows.uncorrected = row.uncorrected;
    state_.rows.corrected = row.corrected;
    EXPECT_EQ(errors_.GetRowRemap(0, 0).data, row.both);
    EXPECT_EQ(errors_.GetRowRemap(0, 1).data, row.uncorrected);
    EXPECT_EQ(errors_.GetRowRemap(0, 2).data, row.corrected);
  }
  EXPECT_EQ(errors_.GetRowRemap(0, 2).status, MailboxStatus::kSuccess);
  EXPECT_EQ(errors_.GetRowRemap(0, 3).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(errors_.GetRowRemap(0, 0xFF).status, MailboxStatus::kErrArg2);
}

TEST_F(MemoryErrorsTest, RemapFlags) {
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 0u);
  state_.rows.is_pending = true;
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 2u);
  state_.rows.has_failed = true;
  EXPECT_EQ(errors_.GetRowRemap(1, 0).data, 3u);
  EXPECT_EQ(errors_.GetRowRemap(1, 1).status, MailboxStatus::kErrArg2);
}

TEST_F(MemoryErrorsTest, RemapHistogram) {
  state_.rows.banks = {.none = 0xFFFF, .low = 1, .partial = 0xFFFE, .high = 3, .maximum = 0x8004};
  const Reply reply = errors_.GetRowRemap(2, 0);
  EXPECT_EQ(reply.word_bits, 0xFFFFu);
  EXPECT_EQ(reply.data, 0xFFFE0001u);
  EXPECT_EQ(reply.extended_data, 0x80040003u);
  EXPECT_EQ(errors_.GetRowRemap(2, 1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(errors_.GetRowRemap(3, 1).status, MailboxStatus::kErrArg1);
  state_.rows.banks = {};
  EXPECT_EQ(errors_.GetRowRemap(2, 0).word_bits, 0u) << "in place of the arguments, even if there are none";
}

TEST_F(MemoryErrorsTest, ABoardWithoutRemapping) {
  spec_.row_remapping = false;
  for (const uint8_t arg1 : {0, 1, 2, 3}) {
    EXPECT_EQ(errors_.GetRowRemap(arg1, 0).status, MailboxStatus::kErrNotSupported) << int{arg1};
  }
}

TEST_F(MemoryErrorsTest, RetiredPages) {
  EXPECT_EQ(errors_.GetRetiredPages(0).data, 0u);
  state_.pages = {.single_bit = 0xFF, .double_bit = 0x80};
  EXPECT_EQ(errors_.GetRetiredPages(0).data, 0x80FFu);
  EXPECT_EQ(errors_.GetRetiredPages(1).status, MailboxStatus::kErrArg1);
  spec_.page_retirement = false;
  EXPECT_EQ(errors_.GetRetiredPages(0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(errors_.GetRetiredPages(1).status, MailboxStatus::kErrNotSupported);
}

constexpr uint64_t kKib = uint64_t{1} << 10, kMib = uint64_t{1} << 20, kGib = uint64_t{1} << 30,
                   kTib = uint64_t{1} << 40;
constexpr uint64_t kMax = 0xFFFFF;  // of a delta

struct UnitCase {
  uint64_t bytes;
  uint8_t granularity;
  uint32_t delta;
};
constexpr UnitCase kUnits[] = {
    {1, 0, 0},
    {kKib - 1, 0, 0},
    {kKib, 0, 1},
    {kMax * kKib, 0, 0xFFFFF},
    {kMax * kKib + kKib - 1, 0, 0xFFFFF},
    {(kMax + 1) * kKib, 1, 0x400},  // 1 GiB
    {kMax * kMib + kMib - 1, 1, 0xFFFFF},
    {(kMax + 1) * kMib, 2, 0x400},
    {kMax * kGib + kGib - 1, 2, 0xFFFFF},
    {(kMax + 1) * kGib, 3, 0x400},
    {kMax * kTib, 3, 0xFFFFF},
    {(kMax + 1) * kTib, 3, 0xFFFFF},  // more than fits the coarsest unit
    {UINT64_MAX, 3, 0xFFFFF},
};

TEST(UnreadBytesTest, TheUnitIsTheFinestThatFits) {
  for (const UnitCase& row : kUnits) {
    UnreadBytes unread;
    unread.Read(0);
    const NvlinkDelta expected = {.granularity = row.granularity, .is_new = true, .delta = row.delta};
    EXPECT_EQ(unread.Read(row.bytes), expected) << row.bytes;
  }
}

TEST(UnreadBytesTest, TheFirstReadHasNothingToCompareWith) {
  UnreadBytes unread;
  EXPECT_EQ(unread.Read(5 * kKib), (NvlinkDelta{.is_new = true, .is_invalid = true}));
  EXPECT_EQ(unread.Read(7 * kKib), (NvlinkDelta{.is_new = true, .delta = 2})) << "bytes before it do not count";
}

TEST(UnreadBytesTest, WithoutANewSampleNothingIsNew) {
  UnreadBytes unread;
  unread.Read(kKib);
  EXPECT_EQ(unread.Read(kKib), NvlinkDelta{});
  unread.Read(kKib + kGib + kKib);  // in MiB, with a rest of one KiB
  EXPECT_EQ(unread.Read(kKib + kGib + kKib), NvlinkDelta{}) << "nor is the rest";
}

TEST(UnreadBytesTest, RestsAreNotLost) {
  UnreadBytes unread;
  unread.Read(0);
  EXPECT_EQ(unread.Read(kKib / 2), NvlinkDelta{.is_new = true});
  EXPECT_EQ(unread.Read(kKib), (NvlinkDelta{.is_new = true, .delta = 1}));
  EXPECT_EQ(unread.Read(kKib + kGib + 3 * kKib), (NvlinkDelta{.granularity = 1, .is_new = true, .delta = 1024}));
  EXPECT_EQ(unread.Read(kKib + kGib + 4 * kKib), (NvlinkDelta{.is_new = true, .delta = 4}));
}

TEST(UnreadBytesTest, WhatIsTooMuchForTheCoarsestUnitFollows) {
  UnreadBytes unread;
  unread.Read(0);
  EXPECT_EQ(unread.Read((kMax + 3) * kTib).delta, 0xFFFFFu);
  EXPECT_EQ(unread.Read((kMax + 3) * kTib + 1), (NvlinkDelta{.granularity = 2, .is_new = true, .delta = 3 * 1024}));
}

TEST(UnreadBytesTest, ACountThatRestartsIsAFirstOne) {
  UnreadBytes unread;
  unread.Read(9 * kKib);
  EXPECT_EQ(unread.Read(9 * kKib - 1), (NvlinkDelta{.is_new = true, .is_invalid = true}));
  EXPECT_EQ(unread.Read(10 * kKib - 1), (NvlinkDelta{.is_new = true, .delta = 1}));
}

TEST(LinkBandwidthTest, WhatLinksCarry) {
  const LinkBandwidth links({.nvlink = NvlinkSpec{.count = 4, .mbps = 25'000}, .pcie = PcieSpec{.generation = 4}});
  EXPECT_NEAR(*links.MostOf(MetricId::kPcieRx), 31.508e9, 1e6);
  EXPECT_EQ(links.MostOf(MetricId::kNvlinkDataTx), 12.5e9);
  EXPECT_EQ(links.MostOf(MetricId::kNvlinkRawRxPerLink), 3.125e9);
  EXPECT_EQ(links.MostOf(MetricId::kSmActivity), std::nullopt);
}

TEST(LinkBandwidthTest, WithoutLinksThereIsNone) {
  const LinkBandwidth none({.pcie = PcieSpec{.generation = 1, .lanes = 1}});
  EXPECT_EQ(none.MostOf(MetricId::kPcieTx), 250e6);
  EXPECT_EQ(none.MostOf(MetricId::kNvlinkRawTx), std::nullopt);
  EXPECT_EQ(LinkBandwidth().MostOf(MetricId::kPcieTx), std::nullopt);
}

TEST(LinkBandwidthTest, TheFinestUnitThatFits) {
  const struct {
    double bytes_per_second;
    uint32_t data, granularity;
  } kRows[] = {{0, 0, 0},
               {4294967295.0, 0xFFFF'FFFF, 0},
               {4294967296.0, 4'194'304, 1},
               {12.5e9, 12'207'031, 1},
               {4.4e12, 4'196'167, 2}};
  for (const auto& row : kRows) {
    const Reply reply = LinkBandwidth::ReplyOf(row.bytes_per_second, 0x48, 0xFF);
    EXPECT_EQ(reply.data, row.data) << row.bytes_per_second;
    EXPECT_EQ(reply.word_bits, 0xFF4828u | row.granularity) << row.bytes_per_second;
  }
}

constexpr uint8_t Number(auto value) { return static_cast<uint8_t>(value); }

constexpr NvlinkItem kLinkItems[] = {NvlinkItem::kBandwidth, NvlinkItem::kReplays, NvlinkItem::kRecoveries,
                                     NvlinkItem::kFlitCrc, NvlinkItem::kDataCrc};
constexpr NvlinkItem kThroughputs[] = {NvlinkItem::kDataTx, NvlinkItem::kDataRx, NvlinkItem::kRawTx,
                                       NvlinkItem::kRawRx};
// Items with one page of 32 links.
constexpr NvlinkItem kBitItems[] = {NvlinkItem::kStateV1, NvlinkItem::kTrainingErrors, NvlinkItem::kRuntimeErrors,
                                    NvlinkItem::kAvailability};

class NvlinkTest : public testing::Test {
 protected:
  static BoardSpec WithLinks(uint8_t count) { return {.nvlink = NvlinkSpec{.count = count, .mbps = 53'125}}; }

  Reply Get(NvlinkItem item, uint8_t arg2 = 0) { return links_.GetNvlink(Number(item), arg2); }
  MailboxStatus Status(NvlinkItem item, uint8_t arg2) { return Get(item, arg2).status; }
  // The throughput of a reply, which must have one.
  NvlinkDelta Delta(NvlinkItem item, uint8_t link) {
    const Reply reply = Get(item, link);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
    return NvlinkDelta::Decode(reply.word_bits.value());
  }
  std::optional<uint64_t> Traffic(NvlinkItem item, uint8_t link) const {
    const auto found = bytes_.find({item, link});
    return found == bytes_.end() ? std::nullopt : std::optional(found->second);
  }

  const BoardSpec spec_ = WithLinks(18);
  BoardState state_{spec_};
  std::map<std::pair<NvlinkItem, uint8_t>, uint64_t> bytes_;  // so far; without an entry, they are not counted
  LinkInfo links_{spec_, state_, [this](NvlinkItem item, uint8_t link) { return Traffic(item, link); }};
};

TEST_F(NvlinkTest, CountsItsLinks) {
  EXPECT_EQ(Get(NvlinkItem::kCount).data, 18u);
  EXPECT_EQ(Status(NvlinkItem::kCount, 1), MailboxStatus::kErrArg2);
}

TEST_F(NvlinkTest, ABoardWithoutLinksHasNoItem) {
  const BoardSpec spec;
  const BoardState state(spec);
  LinkInfo links(spec, state);
  for (const uint8_t item : {0x0, 0x1, 0xF, 0x10}) {
    EXPECT_EQ(links.GetNvlink(item, 0).status, MailboxStatus::kErrNotSupported) << int{item};
  }
}

TEST_F(NvlinkTest, UndefinedItems) {
  EXPECT_EQ(links_.GetNvlink(0xF, 0).status, MailboxStatus::kSuccess);
  EXPECT_EQ(links_.GetNvlink(0x10, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(links_.GetNvlink(0xFF, 0xFF).status, MailboxStatus::kErrArg1) << "before arg2";
}

TEST_F(NvlinkTest, ALinkIsOneOfTheBoards) {
  for (const NvlinkItem item : kLinkItems) {
    EXPECT_EQ(Status(item, 17), MailboxStatus::kSuccess) << int{Number(item)};
    EXPECT_EQ(Status(item, 18), MailboxStatus::kErrNotSupported) << int{Number(item)};
    EXPECT_EQ(Status(item, 31), MailboxStatus::kErrNotSupported) << int{Number(item)};
    EXPECT_EQ(Status(item, 32), MailboxStatus::kErrArg2) << int{Number(item)};
    EXPECT_EQ(Status(item, mailbox::kAllLinks), MailboxStatus::kErrArg2) << "only of throughput";
  }
}

TEST_F(NvlinkTest, PagesOf32Links) {
  for (const NvlinkItem item : kBitItems) {
    EXPECT_EQ(Status(item, 0), MailboxStatus::kSuccess) << int{Number(item)};
    EXPECT_EQ(Status(item, 1), MailboxStatus::kErrArg2) << int{Number(item)};
    EXPECT_EQ(Status(item, mailbox::kAllLinks), MailboxStatus::kErrArg2) << int{Number(item)};
  }
}

struct PageCase {
  uint8_t links;
  NvlinkItem item;
  uint8_t page;
  MailboxStatus status;
};
constexpr PageCase kPageCases[] = {
    // 16 links a page: two pages.
    {16, NvlinkItem::kStateV2, 0, MailboxStatus::kSuccess},
    {16, NvlinkItem::kStateV2, 1, MailboxStatus::kErrNotSupported},
    {17, NvlinkItem::kStateV2, 1, MailboxStatus::kSuccess},
    {32, NvlinkItem::kStateV2, 1, MailboxStatus::kSuccess},
    {32, NvlinkItem::kStateV2, 2, MailboxStatus::kErrArg2},
    {1, NvlinkItem::kStateV2, 0xFF, MailboxStatus::kErrArg2},
    // 10 links a page: four pages.
    {10, NvlinkItem::kWidth, 0, MailboxStatus::kSuccess},
    {10, NvlinkItem::kWidth, 1, MailboxStatus::kErrNotSupported},
    {11, NvlinkItem::kWidth, 1, MailboxStatus::kSuccess},
    {30, NvlinkItem::kWidth, 3, MailboxStatus::kErrNotSupported},
    {31, NvlinkItem::kWidth, 3, MailboxStatus::kSuccess},
    {32, NvlinkItem::kWidth, 4, MailboxStatus::kErrArg2},
};

TEST_F(NvlinkTest, PagesHaveSomeOfTheBoardsLinks) {
  for (const PageCase& row : kPageCases) {
    const BoardSpec spec = WithLinks(row.links);
    const BoardState state(spec);
    LinkInfo links(spec, state);
    EXPECT_EQ(links.GetNvlink(Number(row.item), row.page).status, row.status)
        << int{row.links} << " links, item " << int{Number(row.item)} << ", page " << int{row.page};
  }
}

TEST_F(NvlinkTest, LinksThatAreUp) {
  EXPECT_EQ(Get(NvlinkItem::kStateV1).data, 0x3FFFFu);
  state_.nvlinks[0].is_up = state_.nvlinks[17].is_up = false;
  EXPECT_EQ(Get(NvlinkItem::kStateV1).data, 0x1FFFEu);
  EXPECT_EQ(Get(NvlinkItem::kStateV1).extended_data, 0u);
  EXPECT_FALSE(Get(NvlinkItem::kStateV1).word_bits.has_value());
  EXPECT_EQ(Get(NvlinkItem::kAvailability).data, 0x3FFFFu) << "also those that are down";
}

TEST_F(NvlinkTest, AllOf32Links) {
  const BoardSpec spec = WithLinks(32);
  const BoardState state(spec);
  LinkInfo links(spec, state);
  EXPECT_EQ(links.GetNvlink(Number(NvlinkItem::kStateV1), 0).data, 0xFFFFFFFFu);
  EXPECT_EQ(links.GetNvlink(Number(NvlinkItem::kCount), 0).data, 32u);
  EXPECT_EQ(links.GetNvlink(Number(NvlinkItem::kReplays), 31).status, MailboxStatus::kSuccess);
}

TEST_F(NvlinkTest, States) {
  state_.nvlinks[1].is_up = false;
  state_.nvlinks[7].has_runtime_error = true;
  state_.nvlinks[8].has_training_error = true;  // but it is up
  state_.nvlinks[15] = {.is_up = false, .has_runtime_error = true};
  EXPECT_EQ(Get(NvlinkItem::kStateV2, 0).data, 0x32222202u);
  EXPECT_EQ(Get(NvlinkItem::kStateV2, 0).extended_data, 0x02222222u);
  state_.nvlinks[17].has_runtime_error = true;
  EXPECT_EQ(Get(NvlinkItem::kStateV2, 1).data, 0x32u) << "the last two links; there are no others";
  EXPECT_EQ(Get(NvlinkItem::kStateV2, 1).extended_data, 0u);
}

constexpr uint32_t kEightLanes = 4 | 4 << 3, kNoLanes = 0, kNoLink = 7 | 7 << 3;

// Five fields of six bits.
constexpr uint32_t Widths(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
  return a | b << 6 | c << 12 | d << 18 | e << 24;
}

TEST_F(NvlinkTest, SubLinkWidths) {
  state_.nvlinks[4].is_up = state_.nvlinks[5].is_up = false;
  Reply page = Get(NvlinkItem::kWidth, 0);
  EXPECT_EQ(page.data, Widths(kEightLanes, kEightLanes, kEightLanes, kEightLanes, kNoLanes));
  EXPECT_EQ(page.extended_data, Widths(kNoLanes, kEightLanes, kEightLanes, kEightLanes, kEightLanes));
  page = Get(NvlinkItem::kWidth, 1);
  EXPECT_EQ(page.data, Widths(kEightLanes, kEightLanes, kEightLanes, kEightLanes, kEightLanes));
  EXPECT_EQ(page.extended_data, Widths(kEightLanes, kEightLanes, kEightLanes, kNoLink, kNoLink));
}

TEST_F(NvlinkTest, Bandwidth) {
  state_.nvlinks[3].is_up = false;
  EXPECT_EQ(Get(NvlinkItem::kBandwidth, 2).data, 53'125u);
  EXPECT_EQ(Get(NvlinkItem::kBandwidth, 3).data, mailbox::kNvlinkBandwidthInvalid);
}

TEST_F(NvlinkTest, ErrorCounters) {
  state_.nvlinks[5] = {.replays = 1, .recoveries = 0xFFFFFFFF, .flit_crc = 3, .data_crc = 4};
  EXPECT_EQ(Get(NvlinkItem::kReplays, 5).data, 1u);
  EXPECT_EQ(Get(NvlinkItem::kRecoveries, 5).data, 0xFFFFFFFFu);
  EXPECT_EQ(Get(NvlinkItem::kFlitCrc, 5).data, 3u);
  EXPECT_EQ(Get(NvlinkItem::kDataCrc, 5).data, 4u);
  for (const NvlinkItem item : {NvlinkItem::kReplays, NvlinkItem::kDataCrc}) EXPECT_EQ(Get(item, 6).data, 0u);
}

TEST_F(NvlinkTest, LinksWithErrors) {
  EXPECT_EQ(Get(NvlinkItem::kTrainingErrors).word_bits, 0u);
  state_.nvlinks[0].has_training_error = true;
  state_.nvlinks[17] = {.is_up = false, .has_training_error = true, .has_runtime_error = true};
  Reply reply = Get(NvlinkItem::kTrainingErrors);
  EXPECT_EQ(reply.data, 0x20001u);
  EXPECT_EQ(reply.word_bits, 0x001002u) << "two, and one";
  reply = Get(NvlinkItem::kRuntimeErrors);
  EXPECT_EQ(reply.data, 0x20000u);
  EXPECT_EQ(reply.word_bits, 0x001002u) << "both counts in either reply";
}

TEST_F(NvlinkTest, EachThroughputHasItsOwnDeltas) {
  for (const NvlinkItem item : kThroughputs) {
    for (const uint8_t link : {uint8_t{0}, uint8_t{17}, mailbox::kAllLinks}) {
      bytes_[{item, link}] = uint64_t{Number(item)} << 30;
      EXPECT_EQ(Delta(item, link), (NvlinkDelta{.is_new = true, .is_invalid = true})) << "the first";
    }
  }
  bytes_[{NvlinkItem::kRawTx, 17}] += 3 << 10;
  bytes_[{NvlinkItem::kRawTx, mailbox::kAllLinks}] += 5 << 10;
  EXPECT_EQ(Delta(NvlinkItem::kRawTx, 17), (NvlinkDelta{.is_new = true, .delta = 3}));
  EXPECT_EQ(Delta(NvlinkItem::kRawTx, mailbox::kAllLinks), (NvlinkDelta{.is_new = true, .delta = 5}));
  EXPECT_EQ(Delta(NvlinkItem::kRawRx, 17), NvlinkDelta{});
  EXPECT_EQ(Delta(NvlinkItem::kRawTx, 0), NvlinkDelta{});
  EXPECT_EQ(Delta(NvlinkItem::kRawTx, 17), NvlinkDelta{}) << "once";
}

TEST_F(NvlinkTest, ThroughputOfAbsentLinks) {
  for (const NvlinkItem item : kThroughputs) {
    EXPECT_EQ(Status(item, 17), MailboxStatus::kErrNotSupported) << "not counted";
    for (const uint8_t link : {uint8_t{18}, uint8_t{32}}) bytes_[{item, link}] = 1;
    EXPECT_EQ(Status(item, 18), MailboxStatus::kErrNotSupported);
    EXPECT_EQ(Status(item, 32), MailboxStatus::kErrArg2);
    EXPECT_EQ(Status(item, 0xFE), MailboxStatus::kErrArg2);
  }
}

TEST_F(NvlinkTest, ThroughputThatNothingCounts) {
  LinkInfo links(spec_, state_);
  EXPECT_EQ(links.GetNvlink(Number(NvlinkItem::kDataTx), 0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(links.GetNvlink(Number(NvlinkItem::kDataTx), 32).status, MailboxStatus::kErrArg2);
}

class PcieTest : public testing::Test {
 protected:
  Reply Get(uint8_t page, uint8_t arg2 = 0) const { return LinkInfo(spec_, state_).GetPcie(page, arg2); }

  BoardSpec spec_ = {.pcie = PcieSpec{.generation = 5, .lanes = 16}};
  BoardState state_{spec_};
};

TEST_F(PcieTest, Pages) {
  for (const uint8_t page : {0, 1, 2, 3, 6}) {
    EXPECT_EQ(Get(page).status, MailboxStatus::kSuccess) << int{page};
    EXPECT_EQ(Get(page, 1).status, MailboxStatus::kErrArg2) << int{page};
  }
  for (const uint8_t page : {4, 8, 9}) {
    for (const uint8_t arg2 : {0x00, 0x2F, 0xFF}) {
      EXPECT_EQ(Get(page, arg2).status, MailboxStatus::kErrNotSupported) << int{page};
    }
  }
  for (const uint8_t page : {5, 7, 10, 0xFF}) EXPECT_EQ(Get(page, 1).status, MailboxStatus::kErrArg1) << int{page};
}

TEST_F(PcieTest, ABoardWithoutPcie) {
  spec_.pcie.reset();
  for (const uint8_t page : {0, 5, 8}) EXPECT_EQ(Get(page).status, MailboxStatus::kErrNotSupported) << int{page};
}

struct LinkCase {
  uint8_t generation, lanes;
  uint32_t dword;
};
constexpr LinkCase kLinks[] = {
    {1, 1, 0x11},     {2, 2, 0x22},  {3, 4, 0x33},  {4, 8, 0x44},
    {5, 16, 0x55},    {5, 32, 0x65}, {6, 16, 0x50},  // a generation without a code
    {4, 12, 0x04},                                   // a width without one
    {255, 255, 0x00},
};

TEST_F(PcieTest, SpeedAndWidth) {
  for (const LinkCase& row : kLinks) {
    spec_.pcie = PcieSpec{.generation = row.generation, .lanes = row.lanes};
    EXPECT_EQ(Get(0).data, row.dword) << int{row.generation} << ", " << int{row.lanes};
    EXPECT_EQ(Get(3).data, row.dword & 7) << "the target";
  }
}

TEST_F(PcieTest, ErrorsStayInTheirFields) {
  state_.pcie = {.non_fatal = 0xFF,
                 .fatal = 0,
                 .unsupported = 0xFE,
                 .correctable = 0xFFFF,
                 .recoveries = 0xFFFFFFFF,
                 .replays = 7,
                 .replay_rollovers = 0xFFFF,
                 .naks_received = 0x8001,
                 .naks_sent = 0xFFFD};
  EXPECT_EQ(Get(0).data, 0xFE00FF55u);
  EXPECT_EQ(Get(0).extended_data, 0xFFFFu);
  EXPECT_EQ(Get(1).data, 0xFFFFFFFFu);
  EXPECT_EQ(Get(1).extended_data, 7u);
  EXPECT_EQ(Get(2).data, 0x8001FFFFu);
  EXPECT_EQ(Get(2).extended_data, 0xFFFDu);
  EXPECT_EQ(Get(6).data, 5u) << "L0";
}

}  // namespace
}  // namespace sideband::mcu
