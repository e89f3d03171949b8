// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/mmu.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

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
