// SPDX-License-Identifier: Apache-2.0
#include "sim/i2cdev/user_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

namespace sideband::i2cdev {
namespace {

constexpr size_t kPage = 4096;

class UserMemoryTest : public testing::Test {
 protected:
  // Two pages, the second with `protection`.
  char* Map(int protection) {
    char* const memory =
        static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory + kPage, kPage, protection), 0);
    mapped_ = memory;
    return memory;
  }
  void TearDown() override {
    if (mapped_ != nullptr) munmap(mapped_, 2 * kPage);
  }
  char buffer_[16] = "fifteen letters";

 private:
  char* mapped_ = nullptr;
};

TEST_F(UserMemoryTest, Copies) {
  char* const memory = Map(PROT_READ | PROT_WRITE);
  EXPECT_TRUE(CopyOut(memory, buffer_, sizeof(buffer_)));
  char back[sizeof(buffer_)] = {};
  EXPECT_TRUE(CopyIn(back, memory, sizeof(back)));
  EXPECT_EQ(std::string(back), buffer_);
}

TEST_F(UserMemoryTest, NullIsRefusedUnlessNothingIsCopied) {
  EXPECT_FALSE(CopyIn(buffer_, nullptr, 1));
  EXPECT_FALSE(CopyOut(nullptr, buffer_, 1));
  EXPECT_TRUE(CopyIn(buffer_, nullptr, 0));
}

TEST_F(UserMemoryTest, WhatIsNotMappedIsRefused) {
  char* const memory = Map(PROT_NONE);
  EXPECT_FALSE(CopyIn(buffer_, memory + kPage - 8, 16)) << "half of it is mapped";
  EXPECT_FALSE(CopyOut(memory + kPage, buffer_, 16));
  EXPECT_FALSE(CopyIn(buffer_, reinterpret_cast<void*>(1), 16));
  EXPECT_TRUE(CopyIn(buffer_, memory + kPage - 16, 16)) << "up to the last byte";
}

TEST_F(UserMemoryTest, WhatMayNotBeWrittenIsRefused) {
  char* const memory = Map(PROT_READ);
  EXPECT_TRUE(CopyIn(buffer_, memory + kPage, 16));
  EXPECT_FALSE(CopyOut(memory + kPage, buffer_, 16));
}

}  // namespace
}  // namespace sideband::i2cdev
