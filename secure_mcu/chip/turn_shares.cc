// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/turn_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sideband::mcu {
namespace {

// In the ratio of the needs, where that is at least 1: the sets below get 1, and the others share the rest.
std::vector<double> Divide(std::span<const double> needs, double turns) {
  std::vector<double> shares(needs.size(), 1);
  std::vector<bool> is_least(needs.size());
  for (bool changed = true; changed;) {
    changed = false;
    double left = turns, needed = 0;
    for (size_t i = 0; i < needs.size(); ++i) (is_least[i] ? left : needed) += is_least[i] ? -1 : needs[i];
    for (size_t i = 0; i < needs.size(); ++i) {
      if (is_least[i]) continue;
      shares[i] = left * needs[i] / needed;
      if (shares[i] >= 1) continue;
      shares[i] = 1;
      is_least[i] = changed = true;
    }
  }
  return shares;
}

// By largest remainders, ties to the first.
std::vector<uint32_t> Round(const std::vector<double>& shares, uint32_t turns) {
  std::vector<uint32_t> whole;
  for (const double share : shares) whole.push_back(static_cast<uint32_t>(share));
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto remainder = [&](size_t i) { return shares[i] - std::floor(shares[i]); };
  std::ranges::stable_sort(order, std::ranges::greater{}, remainder);
  uint32_t sum = std::accumulate(whole.begin(), whole.end(), uint32_t{0});
  for (size_t i = 0; i < order.size() && sum < turns; ++i, ++sum) ++whole[order[i]];
  return whole;
}

double VarianceOf(std::span<const double> needs, const std::vector<uint32_t>& turns) {
  const uint32_t round = std::accumulate(turns.begin(), turns.end(), uint32_t{0});
  double variance = 0;
  for (size_t i = 0; i < needs.size(); ++i) variance += needs[i] * needs[i] * round / turns[i];
  return variance;
}

}  // namespace

std::vector<uint32_t> SharesOf(std::span<const double> needs) {
  const std::vector<uint32_t> equal(needs.size(), 1);
  if (std::accumulate(needs.begin(), needs.end(), 0.0) <= 0) return equal;
  const auto most = static_cast<uint32_t>(kTurnsPerSetMax * needs.size());
  std::vector<uint32_t> turns = Round(Divide(needs, most), most);
  if (VarianceOf(needs, turns) > kGainMin * VarianceOf(needs, equal)) return equal;
  const uint32_t divisor = std::accumulate(turns.begin(), turns.end(), uint32_t{0}, std::gcd<uint32_t, uint32_t>);
  for (uint32_t& of_set : turns) of_set /= divisor;
  return turns;
}

}  // namespace sideband::mcu
