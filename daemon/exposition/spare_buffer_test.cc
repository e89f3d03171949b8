// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/spare_buffer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace sideband::daemon {
namespace {

TEST(SpareBufferTest, WhatComesBackIsLentAgainEmptyWithItsMemory) {
  const auto spare = std::make_shared<SpareBuffer>();
  auto first = SpareBuffer::Lend(spare);
  first->Append(std::string(100'000, 'x'));
  const size_t capacity = first->capacity();
  first.reset();
  const auto again = SpareBuffer::Lend(spare);
  EXPECT_EQ(again->text(), "");
  EXPECT_EQ(again->capacity(), capacity);
}

TEST(SpareBufferTest, TheLastReaderGivesItBack) {
  const auto spare = std::make_shared<SpareBuffer>();
  auto writer = SpareBuffer::Lend(spare);
  writer->Append("text");
  const std::shared_ptr<const TextBuffer> reader = writer;
  writer.reset();
  EXPECT_NE(SpareBuffer::Lend(spare).get(), reader.get());
  EXPECT_EQ(reader->text(), "text");
}

TEST(SpareBufferTest, OneIsKeptOfSeveral) {
  const auto spare = std::make_shared<SpareBuffer>();
  {
    const auto a = SpareBuffer::Lend(spare), b = SpareBuffer::Lend(spare);
    EXPECT_NE(a.get(), b.get());
    a->Append(std::string(1000, 'a'));
    b->Append(std::string(1000, 'b'));
  }
  const auto kept = SpareBuffer::Lend(spare), fresh = SpareBuffer::Lend(spare);
  EXPECT_GE(kept->capacity(), 1000u);
  EXPECT_EQ(fresh->capacity(), 0u);
}

TEST(SpareBufferTest, ABufferOutlivesWhoeverAskedForIt) {
  auto spare = std::make_shared<SpareBuffer>();
  const auto buffer = SpareBuffer::Lend(spare);
  spare.reset();
  buffer->Append("text");
  EXPECT_EQ(buffer->text(), "text");
}

// A buffer has one borrower at a time, for any order of lending and returning.
TEST(SpareBufferTest, NobodyWritesIntoAnothersBuffer) {
  const auto spare = std::make_shared<SpareBuffer>();
  std::atomic<int> spoilt = 0;
  const auto work = [&](char mine) {
    for (int i = 0; i < 2000; ++i) {
      const auto buffer = SpareBuffer::Lend(spare);
      buffer->Append(std::string(50, mine));
      spoilt += buffer->text() != std::string(50, mine);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const char mine : {'a', 'b', 'c'}) threads.emplace_back(work, mine);
  }
  EXPECT_EQ(spoilt, 0);
}

}  // namespace
}  // namespace sideband::daemon
