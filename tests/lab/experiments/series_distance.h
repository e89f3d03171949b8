// SPDX-License-Identifier: Apache-2.0
//
// How far the shape of an estimated series is from that of the true one, such as the counts of an event in each 0.5 s:
// dynamic time warping of the series, each divided by its mean. A series that is shifted a little, or wrong by a
// factor, is near.
//   const auto distance = SeriesDistance(estimates, truths);
//   if (distance) Print(*distance);   // 0.1: along the best alignment a value is off by a tenth of the mean
#ifndef SIDEBAND_TESTS_LAB_EXPERIMENTS_SERIES_DISTANCE_H_
#define SIDEBAND_TESTS_LAB_EXPERIMENTS_SERIES_DISTANCE_H_

#include <optional>
#include <span>

namespace sideband {

// An alignment may shift values by this part of the longer series, and by as much as the series differ in length.
inline constexpr double kSeriesBand = 0.1;

// The least sum, of all alignments within the band, of the differences of aligned values, over the longer series'
// length. Symmetric; 0 for equal series. None if a series is empty, or its mean is not above 0.
std::optional<double> SeriesDistance(std::span<const double> one, std::span<const double> other);

}  // namespace sideband

#endif  // SIDEBAND_TESTS_LAB_EXPERIMENTS_SERIES_DISTANCE_H_
