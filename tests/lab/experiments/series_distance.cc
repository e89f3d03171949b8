// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/experiments/series_distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace sideband {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

std::vector<double> OverMean(std::span<const double> series) {
  const double sum = std::accumulate(series.begin(), series.end(), 0.0);
  if (sum <= 0) return {};
  std::vector<double> scaled;
  for (const double value : series) scaled.push_back(value * static_cast<double>(series.size()) / sum);
  return scaled;
}

size_t Radius(size_t one, size_t other) {
  const auto [shorter, longer] = std::minmax(one, other);
  return std::max(longer - shorter, static_cast<size_t>(std::ceil(kSeriesBand * static_cast<double>(longer))));
}

// Row by row; costs[j + 1] is that of the best alignment of the values so far with the first j + 1 of the other series.
double Align(const std::vector<double>& one, const std::vector<double>& other) {
  const size_t radius = Radius(one.size(), other.size());
  std::vector<double> above(other.size() + 1, kFar);
  above[0] = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    std::vector<double> costs(other.size() + 1, kFar);
    const size_t end = std::min(other.size(), i + radius + 1);
    for (size_t j = i - std::min(i, radius); j < end; ++j) {
      costs[j + 1] = std::abs(one[i] - other[j]) + std::min({above[j], above[j + 1], costs[j]});
    }
    above = std::move(costs);
  }
  return above.back();
}

}  // namespace

std::optional<double> SeriesDistance(std::span<const double> one, std::span<const double> other) {
  const std::vector<double> first = OverMean(one), second = OverMean(other);
  if (first.empty() || second.empty()) return std::nullopt;
  return Align(first, second) / static_cast<double>(std::max(first.size(), second.size()));
}

}  // namespace sideband
