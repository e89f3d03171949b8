// SPDX-License-Identifier: Apache-2.0
//
// A fuzz target without a fuzzer: its seeds, their prefixes, some thousands of mutations of them
// from a fixed seed, and the findings of a fuzzer in the corpus folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

constexpr int kMutations = 3000;

void RunOne(const Bytes& input) { EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0); }

TEST(CorpusTest, SeedsAndTheirPrefixes) {
  ASSERT_FALSE(Seeds().empty());
  for (const Bytes& seed : Seeds()) {
    RunOne(seed);
    const size_t step = 1 + seed.size() / 100;
    for (size_t size = 0; size < seed.size(); size += step)
      RunOne(Bytes(seed.begin(), seed.begin() + static_cast<long>(size)));
  }
}

TEST(CorpusTest, Mutations) {
  std::mt19937_64 random(1);
  const std::vector<Bytes> seeds = Seeds();
  for (int i = 0; i < kMutations; ++i) {
    Bytes input = seeds[random() % seeds.size()];
    for (uint64_t changes = 1 + random() % 8; changes > 0 && !input.empty(); --changes) {
      const size_t at = random() % input.size();
      switch (random() % 4) {
        case 0:
          input[at] = static_cast<uint8_t>(random());
          break;
        case 1:
          input[at] ^= 1 << random() % 8;
          break;
        case 2:
          input.erase(input.begin() + static_cast<long>(at));
          break;
        default:
          input.insert(input.begin() + static_cast<long>(at), static_cast<uint8_t>(random()));
      }
    }
    RunOne(input);
  }
}

TEST(CorpusTest, WhatWasFound) {
  const char* const folder = std::getenv("SIDEBAND_CORPUS");
  ASSERT_NE(folder, nullptr);
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    RunOne(Bytes(std::istreambuf_iterator<char>(file), {}));
  }
}

}  // namespace
}  // namespace sideband::fuzz
