// SPDX-License-Identifier: Apache-2.0
#include "client/lib/register_counters.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "client/lib/register_page.h"

namespace sideband::client {
namespace {

using absl::StatusCode;

constexpr HpcManager kManager = {.module = 0, .extend = 1};
constexpr uint64_t kBitmap = 0b1'0101;
const std::vector<uint64_t> kValues = {640, 0x7'0000'0007, 680};

// The registers of one client as a page without time: a request is complete after a number of reads of hpcc. A test
// can let a switch happen before any access.
class FakePage final : public RegisterPage {
 public:
  std::map<uint16_t, uint64_t> counts;  // by event; of module 0
  uint64_t stamp = 1000;
  int polls = 0;         // reads of hpcc before a request is complete; negative: it never is
  bool is_user = false;  // useren cannot be written
  uint64_t useren = 0;
  std::function<void(size_t access)> before_access = [](size_t) {};
  size_t accesses = 0;
  size_t performs = 0;

  void Switch() {
    fifo_.clear();
    hpcm_ = trigger_ = refused_ = readerror_ = 0;
    interrupted_ = hpc::kHpccInterrupted;
  }

  absl::Status Perform(std::span<hpc::PageAccess> batch) override {
    ++performs;
    for (hpc::PageAccess& access : batch) {
      before_access(accesses++);
      access.kind == hpc::AccessKind::kRead ? Read(access) : Write(access);
    }
    return absl::OkStatus();
  }
  bool has_request() const { return trigger_ != 0; }

 private:
  void Read(hpc::PageAccess& access) {
    if (access.offset % 8 == 4) {
      access.value = access.offset / 8 * 8 == hpc::kHpcrOffset ? high_half_ : 0;
      return;
    }
    if (access.offset == hpc::kHpccOffset) access.value = ReadHpcc();
    if (access.offset == hpc::kHpcrOffset) access.value = Pop();
    if (access.size == 8) return;
    high_half_ = access.value >> 32;
    access.value &= 0xFFFFFFFF;
  }

  uint64_t ReadHpcc() {
    if (trigger_ != 0 && polls >= 0 && left_-- == 0) Complete();
    return trigger_ | interrupted_ | (fifo_.empty() ? hpc::kHpccEmpty : 0) | readerror_ | refused_ | useren;
  }

  uint64_t Pop() {
    if (fifo_.empty()) {
      readerror_ = hpc::kHpccReaderror;
      return 0;
    }
    const uint64_t value = fifo_.front();
    fifo_.pop_front();
    return value;
  }

  void Complete() {
    trigger_ = 0;
    if ((request_ & hpc::kHpccStamp) != 0) fifo_.push_back(stamp);
    const auto extend = static_cast<uint16_t>((request_ & hpc::kHpccExtend) >> hpc::kHpccExtendLsb);
    for (uint16_t bit = 0; bit < hpc::kCountersPerManager; ++bit) {
      if ((taken_ >> bit & 1) != 0) fifo_.push_back(counts[extend * hpc::kCountersPerManager + bit]);
    }
  }

  void Write(const hpc::PageAccess& access) {
    if (access.offset == hpc::kHpccOffset) WriteHpcc(access.value);
    if (trigger_ != 0) return;
    if (access.offset == hpc::kHpcmOffset) {
      hpcm_ = access.value;
      fifo_.clear();
      interrupted_ = readerror_ = 0;
    }
    if (access.offset == hpc::kHpcmOffset + 4) hpcm_ |= access.value << 32;
  }

  void WriteHpcc(uint64_t value) {
    if (!is_user) useren = value & hpc::kHpccUseren;
    if ((value & hpc::kHpccTrigger) == 0) trigger_ = 0;
    if ((value & hpc::kHpccTrigger) == 0 || trigger_ != 0) return;
    const bool is_allowed = (value & hpc::kHpccModule) == 0 && (!is_user || useren != 0);
    refused_ = is_allowed ? 0 : hpc::kHpccRefused;
    if (!is_allowed) return;
    fifo_.clear();
    request_ = value;
    taken_ = std::exchange(hpcm_, 0);
    trigger_ = hpc::kHpccTrigger;
    left_ = polls;
  }

  uint64_t trigger_ = 0, interrupted_ = hpc::kHpccInterrupted, readerror_ = 0, refused_ = 0;
  uint64_t hpcm_ = 0, taken_ = 0, request_ = 0, high_half_ = 0;
  int left_ = 0;
  std::deque<uint64_t> fifo_;
};

// Both algorithms, all readers, both widths.
class CountersTest : public testing::TestWithParam<std::tuple<bool, Reader, uint8_t>> {
 protected:
  void SetUp() override { page_.counts = {{64, kValues[0]}, {66, kValues[1]}, {68, kValues[2]}}; }

  static bool is_shared() { return std::get<0>(GetParam()); }
  absl::StatusOr<Reading> Get(HpcManager manager, uint64_t bitmap) {
    options_.reader = std::get<1>(GetParam());
    options_.access_bytes = std::get<2>(GetParam());
    return is_shared() ? GetCountersShared(page_, manager, bitmap, options_)
                       : GetCounters(page_, manager, bitmap, options_);
  }
  StatusCode Code(HpcManager manager = kManager) { return Get(manager, kBitmap).status().code(); }
  // Counts the accesses of an undisturbed reading.
  size_t AccessesOfOne() {
    EXPECT_EQ(Code(), StatusCode::kOk);
    return std::exchange(page_.accesses, 0);
  }

  FakePage page_;
  ReadOptions options_;
};

INSTANTIATE_TEST_SUITE_P(All, CountersTest,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Reader::kPatient, Reader::kEager, Reader::kOptimistic),
                                          testing::Values(uint8_t{8}, uint8_t{4})));

TEST_P(CountersTest, TakesWhatItAskedFor) {
  const auto reading = Get(kManager, kBitmap);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->values, kValues);
  EXPECT_FALSE(reading->stamp);
  EXPECT_EQ(Get(kManager, uint64_t{1} << 63)->values, std::vector<uint64_t>{0});
  EXPECT_TRUE(Get(kManager, 0)->values.empty());
}

TEST_P(CountersTest, TheStampComesFirst) {
  options_.stamp = true;
  const auto reading = Get(kManager, kBitmap);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->stamp, page_.stamp);
  EXPECT_EQ(reading->values, kValues);
  EXPECT_EQ(Get(kManager, 0)->stamp, page_.stamp);
}

TEST_P(CountersTest, WaitsForTheValues) {
  page_.polls = 5;
  EXPECT_EQ(Get(kManager, kBitmap)->values, kValues);
}

TEST_P(CountersTest, AWaitEnds) {
  page_.polls = -1;
  options_.patience = absl::Milliseconds(5);
  EXPECT_EQ(Get(kManager, kBitmap).status(), absl::DeadlineExceededError("no values within 5ms"));
  EXPECT_FALSE(page_.has_request()) << "cancelled";
}

TEST_P(CountersTest, AllRefusalsAreAlike) {
  const absl::Status other = Get({.module = 1}, kBitmap).status();
  EXPECT_EQ(other.code(), StatusCode::kPermissionDenied);
  page_.is_user = true;
  EXPECT_EQ(Get(kManager, kBitmap).status(), other);
  page_.useren = hpc::kHpccUseren;
  EXPECT_EQ(Code(), StatusCode::kOk);
}

TEST_P(CountersTest, UserenKeepsItsValue) {
  for (const uint64_t useren : {uint64_t{0}, hpc::kHpccUseren}) {
    page_.useren = useren;
    EXPECT_EQ(Code(), StatusCode::kOk);
    EXPECT_EQ(page_.useren, useren);
  }
}

// Before each access of a reading in turn.
TEST_P(CountersTest, ASwitchIsSeen) {
  const size_t accesses = AccessesOfOne();
  for (size_t at = 0; at < accesses; ++at) {
    page_.accesses = 0;
    page_.before_access = [&](size_t access) {
      if (access == at) page_.Switch();
    };
    const auto reading = Get(kManager, kBitmap);
    if (is_shared() || reading.ok()) {
      ASSERT_TRUE(reading.ok()) << at << " " << reading.status();
      EXPECT_EQ(reading->values, kValues) << at;
    } else {
      EXPECT_EQ(reading.status().code(), StatusCode::kAborted) << at;
    }
  }
}

TEST_P(CountersTest, EveryReaderEnds) {
  size_t in_attempt = 0;
  page_.before_access = [&](size_t) {
    if (++in_attempt % 3 == 0) page_.Switch();
  };
  EXPECT_EQ(Code(), is_shared() ? StatusCode::kUnavailable : StatusCode::kAborted);
  const size_t accesses = std::exchange(page_.accesses, 0);
  page_.before_access = [](size_t) {};
  EXPECT_LE(accesses, hpc::kAttemptsMax * AccessesOfOne());
}

TEST_P(CountersTest, NothingIsWrittenToOtherPages) {
  class Ones final : public RegisterPage {
   public:
    absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
      for (hpc::PageAccess& access : accesses) {
        EXPECT_EQ(access.kind, hpc::AccessKind::kRead);
        access.value = ~uint64_t{0} >> (64 - 8 * access.size);
      }
      return absl::OkStatus();
    }
  } ones;
  options_.access_bytes = std::get<2>(GetParam());
  EXPECT_EQ(GetCounters(ones, kManager, 1, options_).status(),
            absl::UnavailableError("no such registers: hpcc reads ffffffffffffffff"));
}

// Memory that stores what is written to it, from zeros on or from what looks like an idle page.
TEST_P(CountersTest, MemoryHasNoCounts) {
  class Memory final : public RegisterPage {
   public:
    absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
      for (hpc::PageAccess& access : accesses) {
        uint64_t& word = words[access.offset];
        if (access.kind == hpc::AccessKind::kRead) access.value = word;
        if (access.kind == hpc::AccessKind::kWrite) word = access.value, ++writes;
      }
      return absl::OkStatus();
    }
    std::map<uint16_t, uint64_t> words;
    size_t writes = 0;
  };
  options_.reader = std::get<1>(GetParam());
  options_.access_bytes = std::get<2>(GetParam());
  const auto get = is_shared() ? GetCountersShared : GetCounters;
  Memory zeros;
  EXPECT_EQ(get(zeros, kManager, kBitmap, options_).status(),
            absl::UnavailableError("no such registers: hpcc reads 0000000000000000"));
  EXPECT_EQ(zeros.writes, 0u);
  Memory idle;
  idle.words[hpc::kHpccOffset] = hpc::kHpccEmpty;
  options_.patience = absl::Milliseconds(5);
  EXPECT_FALSE(get(idle, kManager, kBitmap, options_).ok());
}

// hpcc is 0 then, as that of no page.
TEST_P(CountersTest, ValuesThatNobodyTookAreLeftBehind) {
  EXPECT_TRUE(page_.Write64(hpc::kHpcmOffset, 0b11).ok());
  EXPECT_TRUE(page_.Write64(hpc::kHpccOffset, hpc::kHpccTrigger).ok());
  EXPECT_TRUE(page_.Read64(hpc::kHpccOffset).ok());
  EXPECT_EQ(*page_.Read64(hpc::kHpccOffset), 0u);
  EXPECT_EQ(Get(kManager, kBitmap)->values, kValues);
}

TEST(ReaderTest, ExchangesWithThePage) {
  const auto exchanges = [](const ReadOptions& options) {
    FakePage page;
    EXPECT_TRUE(GetCountersShared(page, kManager, 0b11111, options).ok());
    return page.performs;
  };
  EXPECT_EQ(exchanges({.reader = Reader::kPatient}), 3u);
  EXPECT_EQ(exchanges({.reader = Reader::kPatient, .is_user = true}), 2u);
  EXPECT_EQ(exchanges({.reader = Reader::kEager, .is_user = true}), 11u);
}

// The fake completes a request at a read of hpcc, so that an optimistic reader finds nothing at first.
TEST(ReaderTest, AnOptimistThatIsWrongIsPatient) {
  FakePage page;
  page.counts = {{64, 5}};
  const auto reading = GetCounters(page, kManager, 1, {.is_user = true});
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->values, std::vector<uint64_t>{5});
  EXPECT_EQ(page.performs, 3u);
}

TEST(ReadEventsTest, GroupsByManager) {
  FakePage page;
  for (uint16_t event = 0; event < 200; ++event) page.counts[event] = 1000u + event;
  const auto reading = ReadEvents(page, 0, {130, 3, 70, 3, 64}, {.stamp = true});
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->counts, (std::vector<uint64_t>{1130, 1003, 1070, 1003, 1064}));
  EXPECT_EQ(reading->stamps, std::vector<uint64_t>(5, page.stamp));
  EXPECT_TRUE(ReadEvents(page, 0, {1}, {})->stamps.empty());
  EXPECT_EQ(ReadEvents(page, 1, {1}, {}).status().code(), StatusCode::kPermissionDenied);
}

TEST(FindModuleTest, IsTheFirstThatIsNotRefused) {
  FakePage page;
  EXPECT_EQ(*FindModule(page, 0, 4, {}), 0);
  EXPECT_EQ(FindModule(page, 64, 64, {.stamp = true}).status().code(), StatusCode::kPermissionDenied);
}

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
