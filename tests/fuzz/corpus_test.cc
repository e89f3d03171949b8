// SPDX-License-Identifier: Apache-2.0
//
// The fuzz targets without a fuzzer, each with its seeds, their prefixes, some thousands of mutations of them from a
// fixed seed, and the findings of a fuzzer in its folder of the corpus.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

constexpr int kMutations = 3000;

class CorpusTest : public testing::TestWithParam<FuzzTarget> {
 protected:
  static void Run(const Bytes& input) { EXPECT_EQ(GetParam().run(input.data(), input.size()), 0); }
};

TEST_P(CorpusTest, SeedsAndTheirPrefixes) {
  const std::vector<Bytes> seeds = GetParam().seeds();
  ASSERT_FALSE(seeds.empty());
  for (const Bytes& seed : seeds) {
    Run(seed);
    const size_t step = 1 + seed.size() / 100;
    for (size_t size = 0; size < seed.size(); size += step) {
      Run(Bytes(seed.begin(), seed.begin() + static_cast<long>(size)));
    }
  }
}

TEST_P(CorpusTest, Mutations) {
  std::mt19937_64 random(1);
  const std::vector<Bytes> seeds = GetParam().seeds();
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
    Run(input);
  }
}

TEST_P(CorpusTest, WhatWasFound) {
  const std::string folder = std::string("tests/fuzz/corpus/") + GetParam().name;
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    Run(Bytes(std::istreambuf_iterator<char>(file), {}));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CorpusTest, testing::ValuesIn(Targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace sideband::fuzz
