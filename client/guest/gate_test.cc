// SPDX-License-Identifier: Apache-2.0
#include "client/guest/gate.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace sideband::client {
namespace {

using absl::StatusCode;

// A supervisor's page with the control blocks of contexts 0 and 1, as registers.md has it.
class FakeGatePage final : public RegisterPage {
 public:
  bool is_present = true;
  uint64_t vector = 0, control = 1, number = 0xFFFF;
  struct Block {
    uint64_t vector = 0, control = 1;
  };
  std::map<uint64_t, Block> contexts = {{0, {}}, {1, {}}};
  std::function<void(const hpc::PageAccess& access)> before_access = [](const hpc::PageAccess&) {};

  absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
    for (hpc::PageAccess& access : accesses) {
      before_access(access);
      uint64_t* const word = is_present ? Word(access.offset) : nullptr;
      if (access.kind == hpc::AccessKind::kRead) {
        access.value = word == nullptr ? 0 : *word;
      } else if (word != nullptr) {
        *word = access.value;
      }
    }
    return absl::OkStatus();
  }

 private:
  uint64_t* Word(uint16_t offset) {
    const auto context = contexts.find(number);
    switch (offset) {
      case hpc::kGateVectorOffset:
        return &vector;
      case hpc::kGateControlOffset:
        return &control;
      case hpc::kGateContextOffset:
        return &number;
      case hpc::kGateContextVectorOffset:
        return context == contexts.end() ? nullptr : &context->second.vector;
      case hpc::kGateContextControlOffset:
        return context == contexts.end() ? nullptr : &context->second.control;
    }
    return nullptr;
  }
};

TEST(GateTest, WritesAndReadsTheValue) {
  FakeGatePage page;
  EXPECT_EQ(*ReadGate(page), GateValue());
  ASSERT_TRUE(WriteGate(page, {.master = true, .vector_enable = true, .vector = 0xF0}).ok());
  EXPECT_EQ(page.vector, 0xF0u);
  EXPECT_EQ(page.control, 0b11u);
  EXPECT_EQ(*ReadGate(page), (GateValue{.vector_enable = true, .vector = 0xF0}));
  ASSERT_TRUE(WriteGate(page, {.master = false}).ok());
  EXPECT_EQ(page.control, 0u);
}

TEST(GateTest, WritesAndReadsTheControlBlockOfAContext) {
  FakeGatePage page;
  const ContextGate control{.value = {.vector_enable = true, .vector = 5}, .load = true};
  ASSERT_TRUE(WriteContextGate(page, 1, control).ok());
  EXPECT_EQ(page.contexts[1].vector, 5u);
  EXPECT_EQ(page.contexts[1].control, 0b0111u);
  EXPECT_EQ(page.contexts[0].vector, 0u);
  EXPECT_EQ(*ReadContextGate(page, 1), control);
  EXPECT_EQ(*ReadContextGate(page, 0), ContextGate());
}

TEST(GateTest, WhatIsNotThere) {
  FakeGatePage page;
  EXPECT_EQ(WriteContextGate(page, 2, {}).code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadContextGate(page, 2)->value.master, false);
  page.is_present = false;
  EXPECT_EQ(ReadGate(page).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(WriteGate(page, {}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(ReadContextGate(page, 0).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(WriteContextGate(page, 0, {}).code(), StatusCode::kUnavailable);
}

// A thread switch before each access in turn: the choice of a context is forgotten, and what was written reached
// nothing or the context that was meant.
TEST(GateTest, AnotherThreadComesInBetween) {
  for (int at = 2; at < 7; ++at) {
    FakeGatePage page;
    int accesses = 0;
    page.before_access = [&](const hpc::PageAccess&) {
      if (accesses++ == at) page.number = 0xFFFF;
    };
    ASSERT_TRUE(WriteContextGate(page, 1, {.value = {.vector = 9}, .store = true}).ok()) << at;
    EXPECT_EQ(page.contexts[1].vector, 9u);
    EXPECT_EQ(page.contexts[1].control, 0b1001u);
    EXPECT_EQ(page.contexts[0].vector, 0u);
  }
}

TEST(GateTest, WithoutEndIsAnError) {
  FakeGatePage page;
  size_t attempts = 0;
  page.before_access = [&](const hpc::PageAccess& access) {
    if (access.offset != hpc::kGateContextControlOffset || access.kind != hpc::AccessKind::kWrite) return;
    ++attempts;
    page.number = 0xFFFF;
  };
  EXPECT_EQ(WriteContextGate(page, 1, {}).code(), StatusCode::kAborted);
  EXPECT_EQ(attempts, size_t{hpc::kAttemptsMax});
}

}  // namespace
}  // namespace sideband::client
