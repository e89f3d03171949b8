// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/memory_blocks.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace sideband::mcu {
namespace {

constexpr VirtualPage kVm = PageOf(mailbox::kNoContext);

static_assert(kVm == 0 && PageOf(0) == 1 && PageOf(0xFFFE) == 0xFFFF, "no context has the page of a VM");

TEST(PageTablesTest, EachSpaceHasATableOfItsOwn) {
  PageTables tables;
  tables.Map(1, kVm, 10);
  tables.Map(2, kVm, 20);
  tables.Map(1, PageOf(3), 13);
  const TableId first = *tables.RootOf(1), second = *tables.RootOf(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(tables.Walk(first, kVm), BlockId{10});
  EXPECT_EQ(tables.Walk(second, kVm), BlockId{20});
  EXPECT_EQ(tables.Walk(first, PageOf(3)), BlockId{13});
  EXPECT_EQ(tables.Walk(second, PageOf(3)), std::nullopt);
}

TEST(PageTablesTest, WhatIsNotMappedHasNoBlock) {
  PageTables tables;
  EXPECT_EQ(tables.RootOf(1), std::nullopt);
  EXPECT_EQ(tables.Walk(0, kVm), std::nullopt) << "no such table";
  tables.Map(1, PageOf(3), 13);
  const TableId root = *tables.RootOf(1);
  EXPECT_EQ(tables.Walk(root, kVm), std::nullopt);
  EXPECT_EQ(tables.Walk(root, PageOf(2)), std::nullopt);
  EXPECT_EQ(tables.Walk(root, PageOf(4)), std::nullopt) << "beyond the table";
}

TEST(PageTablesTest, AnInvalidEntryIsNoneUntilItIsMappedAgain) {
  PageTables tables;
  tables.Map(1, kVm, 0);
  const TableId root = *tables.RootOf(1);
  EXPECT_EQ(tables.Walk(root, kVm), BlockId{0}) << "block 0 is a block";
  tables.Invalidate(1, kVm);
  EXPECT_EQ(tables.Walk(root, kVm), std::nullopt);
  tables.Invalidate(1, kVm);
  tables.Invalidate(1, PageOf(9));
  tables.Invalidate(2, kVm);
  EXPECT_EQ(tables.RootOf(2), std::nullopt) << "no table by invalidation";
  tables.Map(1, kVm, 5);
  EXPECT_EQ(tables.Walk(root, kVm), BlockId{5});
  EXPECT_EQ(tables.RootOf(1), root) << "a table stays where it is";
}

TEST(MemoryBlocksTest, BlockZeroIsTheHypervisors) {
  const MemoryBlocks memory(2);
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory.header(0).vm, mailbox::kHypervisorVm);
  EXPECT_EQ(memory.header(0).context, mailbox::kNoContext);
  EXPECT_EQ(memory.header(0).state, mailbox::BlockState::kActive);
}

TEST(MemoryBlocksTest, AddsAccumulateAndTouchOneBlock) {
  MemoryBlocks memory(2);
  const BlockId vm = memory.Create(1, mailbox::kNoContext);
  const BlockId context = memory.Create(1, 0);
  memory.AtomicAdd(context, {.counts = {1, 2}, .trigger_id = 3}, 100);
  memory.AtomicAdd(context, {.counts = {10, 20}, .flags = mailbox::kFlagEstimated, .trigger_id = 4}, 200);
  EXPECT_EQ(memory.counters(context)[0], 11u);
  EXPECT_EQ(memory.counters(context)[1], 22u);
  EXPECT_EQ(memory.header(context).trigger_id, 4u);
  EXPECT_EQ(memory.header(context).reference_time_ns, 200u);
  EXPECT_EQ(memory.header(context).sequence, 2u);
  EXPECT_EQ(memory.header(context).flags, mailbox::kFlagEstimated);
  EXPECT_EQ(memory.counters(vm)[0], 0u);
  EXPECT_EQ(memory.header(vm).sequence, 0u);
}

TEST(MemoryBlocksTest, FlagsStay) {
  MemoryBlocks memory(1);
  memory.AtomicAdd(0, {.counts = {std::numeric_limits<uint64_t>::max()}}, 0);
  memory.AtomicAdd(0, {.counts = {1}}, 0);
  memory.AtomicAdd(0, {.counts = {0}}, 0);
  EXPECT_EQ(memory.header(0).flags, mailbox::kFlagOverflow);
  EXPECT_EQ(memory.counters(0)[0], std::numeric_limits<uint64_t>::max());
}

TEST(MemoryBlocksTest, ARetiredBlockKeepsItsFinalCountsUntilItIsRenewed) {
  MemoryBlocks memory(1);
  const BlockId context = memory.Create(1, 0);
  memory.AtomicAdd(context, {.counts = {7}, .flags = mailbox::kFlagOverflow}, 100);
  memory.Retire(context);
  memory.SetActive(context, true);
  EXPECT_EQ(memory.header(context).state, mailbox::BlockState::kRetired);
  EXPECT_EQ(memory.counters(context)[0], 7u);
  memory.Renew(context);
  EXPECT_EQ(memory.header(context), (mailbox::BlockHeader{.vm = 1, .context = 0, .generation = 2}));
  EXPECT_EQ(memory.counters(context)[0], 0u);
}

TEST(MemoryBlocksTest, AReleasedBlockIsInNoSnapshot) {
  MemoryBlocks memory(1);
  const BlockId first = memory.Create(1, 0), second = memory.Create(1, 1);
  memory.AtomicAdd(second, {.counts = {9}}, 0);
  memory.Release(first);
  std::vector<mailbox::BlockHeader> headers;
  mailbox::CounterValues counters;
  memory.CopyTo(headers, counters);
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[1].context, 1);
  EXPECT_EQ(counters, (mailbox::CounterValues{0, 9}));
  memory.Renew(first);
  memory.CopyTo(headers, counters);
  EXPECT_EQ(headers.size(), 3u);
  EXPECT_EQ(headers[1].generation, 2u);
}

// The result of a walk from the root of a VM's own table.
std::optional<BlockId> Found(const MemoryBlocks& memory, uint16_t vm, uint16_t context) {
  const auto root = memory.page_tables().RootOf(vm);
  return root ? memory.page_tables().Walk(*root, PageOf(context)) : std::nullopt;
}

TEST(MemoryBlocksTest, TheTablesFollowTheLivesOfBlocks) {
  MemoryBlocks memory(1);
  EXPECT_EQ(Found(memory, mailbox::kHypervisorVm, mailbox::kNoContext), BlockId{0});
  EXPECT_EQ(Found(memory, 1, mailbox::kNoContext), std::nullopt);
  const BlockId vm = memory.Create(1, mailbox::kNoContext), context = memory.Create(1, 0);
  const BlockId other = memory.Create(2, 0);
  EXPECT_EQ(Found(memory, 1, mailbox::kNoContext), vm);
  EXPECT_EQ(Found(memory, 1, 0), context);
  EXPECT_EQ(Found(memory, 1, 1), std::nullopt);
  memory.Retire(context);
  EXPECT_EQ(Found(memory, 1, 0), std::nullopt) << "nothing is added to final counts";
  EXPECT_EQ(Found(memory, 1, mailbox::kNoContext), vm);
  EXPECT_EQ(Found(memory, 2, 0), other) << "the same page of another space";
  memory.Release(context);
  EXPECT_EQ(Found(memory, 1, 0), std::nullopt);
  memory.Renew(context);
  EXPECT_EQ(Found(memory, 1, 0), context);
}

TEST(MemoryBlocksTest, ATargetHasThePagesOfTheBlocks) {
  MemoryBlocks memory(1);
  const BlockId context = memory.Create(7, 3), vm = memory.Create(7, mailbox::kNoContext);
  EXPECT_EQ(memory.TargetOf({.vm = vm, .context = context}), (CommitTarget{.space = 7, .vm = 0, .context = 4}));
  EXPECT_EQ(memory.TargetOf({.vm = vm, .context = {}}), (CommitTarget{.space = 7, .vm = 0, .context = {}}));
}

// Two VMs with equal layouts, the second's bound to channel 1.
class MmuTest : public testing::Test {
 protected:
  MmuTest() {
    Bind(0, 1);
    Bind(1, 2);
  }
  void Bind(size_t channel, uint16_t space) { mmu_.SetRoot(channel, memory_.page_tables().RootOf(space)); }
  std::optional<Binding> Translate(size_t channel, const Binding& to) const {
    return mmu_.Translate(channel, memory_.TargetOf(to), memory_);
  }

  MemoryBlocks memory_{1};
  const BlockId vm_ = memory_.Create(1, mailbox::kNoContext), train_ = memory_.Create(1, 0),
                infer_ = memory_.Create(1, 1);
  const BlockId other_vm_ = memory_.Create(2, mailbox::kNoContext), other_ = memory_.Create(2, 0);
  const Binding training_{vm_, train_}, inferring_{vm_, infer_}, alone_{vm_, {}}, others_{other_vm_, other_};
  Mmu mmu_{3};
};

TEST_F(MmuTest, FindsTheBlocksByTheBoundTable) {
  EXPECT_EQ(Translate(0, training_), training_);
  EXPECT_EQ(Translate(0, inferring_), inferring_);
  EXPECT_EQ(Translate(0, alone_), alone_);
  EXPECT_EQ(Translate(1, others_), others_);
}

TEST_F(MmuTest, NothingIsBoundAtFirst) {
  EXPECT_EQ(Translate(2, training_), std::nullopt);
  EXPECT_EQ(mmu_.Translate(0, std::nullopt, memory_), std::nullopt) << "a channel that points nowhere";
  mmu_.SetRoot(0, std::nullopt);
  EXPECT_EQ(Translate(0, training_), std::nullopt);
}

// Its pages are the same: without the check of the owner the other VM's blocks would be written.
TEST_F(MmuTest, AnothersTableFaults) {
  ASSERT_EQ(memory_.TargetOf(training_).vm, memory_.TargetOf(others_).vm);
  ASSERT_EQ(memory_.TargetOf(training_).context, memory_.TargetOf(others_).context);
  Bind(0, 2);
  EXPECT_EQ(Translate(0, training_), std::nullopt);
  EXPECT_EQ(Translate(0, alone_), std::nullopt);
  Bind(0, 0);
  EXPECT_EQ(Translate(0, alone_), std::nullopt) << "nor the hypervisor's block";
}

TEST_F(MmuTest, AnEntryThatIsNotValidFaultsForBothBlocks) {
  memory_.page_tables().Invalidate(1, PageOf(0));
  EXPECT_EQ(Translate(0, training_), std::nullopt) << "not to the VM's alone";
  EXPECT_EQ(Translate(0, inferring_), inferring_);
  EXPECT_EQ(Translate(0, alone_), alone_);
  memory_.page_tables().Invalidate(1, PageOf(mailbox::kNoContext));
  EXPECT_EQ(Translate(0, inferring_), std::nullopt);
  EXPECT_EQ(Translate(1, others_), others_);
}

TEST_F(MmuTest, AnEntryThatNamesAnotherBlockFaults) {
  for (const BlockId wrong : {BlockId{0}, other_vm_, other_, infer_, vm_, static_cast<BlockId>(memory_.size())}) {
    memory_.page_tables().Map(1, PageOf(0), wrong);
    EXPECT_EQ(Translate(0, training_), std::nullopt) << wrong;
  }
  memory_.page_tables().Map(1, PageOf(0), train_);
  EXPECT_EQ(Translate(0, training_), training_);
}

}  // namespace

}  // namespace sideband::mcu
