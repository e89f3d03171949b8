// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/increment_bound.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace sideband::bench {
namespace {

// One context's counters.
struct Context {
  std::span<const uint64_t> before;
  std::vector<uint64_t> increments;
  double sum_before = 0;
  double sum_increments = 0;
};

// Of contexts that have counted: a bit tells that another has not.
std::vector<Context> ContextsOf(const mailbox::Snapshot& before, const mailbox::Snapshot& now) {
  std::vector<Context> contexts;
  for (size_t i = 0; i < now.blocks.size(); ++i) {
    if (now.blocks[i].context == mailbox::kNoContext) continue;
    Context context{.before = before.Counters(i), .increments = {}};
    for (size_t c = 0; c < context.before.size(); ++c) {
      context.increments.push_back(now.Counters(i)[c] - context.before[c]);
      context.sum_before += static_cast<double>(context.before[c]);
      context.sum_increments += static_cast<double>(context.increments[c]);
    }
    if (context.sum_increments > 0) contexts.push_back(std::move(context));
  }
  return contexts;
}

// The information of numbers whose widths are coded by their frequencies so far.
class AdaptiveWidths {
 public:
  double Cost(double number) {
    const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(std::abs(number))));
    const double probability = (counts_[width] + 0.5) / (total_ + 0.5 * static_cast<double>(counts_.size()));
    ++counts_[width];
    ++total_;
    // The highest bit is implied by the width.
    return -std::log2(probability) + static_cast<double>(width > 0 ? width - 1 : 0);
  }

 private:
  std::array<double, 65> counts_{};
  double total_ = 0;
};

// What is expected of counter `c`, given the context's earlier ones.
using Model = std::function<double(const Context& context, size_t c)>;

double Nothing(const Context&, size_t) { return 0; }

double ShareOfSum(const Context& context, size_t c) {
  if (context.sum_before == 0) return 0;
  return static_cast<double>(context.before[c]) * context.sum_increments / context.sum_before;
}

double ShareByNeighbour(const Context& context, size_t c) {
  if (c == 0 || context.before[c - 1] == 0) return ShareOfSum(context, c);
  return static_cast<double>(context.before[c]) * static_cast<double>(context.increments[c - 1]) /
         static_cast<double>(context.before[c - 1]);
}

double Bits(const std::vector<Context>& contexts, const Model& model, bool is_signed) {
  AdaptiveWidths widths;
  double bits = 0;
  for (const Context& context : contexts) {
    for (size_t c = 0; c < context.increments.size(); ++c) {
      const double difference = static_cast<double>(context.increments[c]) - std::floor(model(context, c));
      bits += widths.Cost(difference) + (is_signed && difference != 0 ? 1 : 0);
    }
  }
  return bits;
}

}  // namespace

uint64_t IncrementBoundBytes(const mailbox::Snapshot& before, const mailbox::Snapshot& now) {
  const std::vector<Context> contexts = ContextsOf(before, now);
  const double bits = std::min({Bits(contexts, Nothing, /*is_signed=*/false), Bits(contexts, ShareOfSum, true),
                                Bits(contexts, ShareByNeighbour, true)});
  return static_cast<uint64_t>(std::ceil(bits / 8));
}

}  // namespace sideband::bench
