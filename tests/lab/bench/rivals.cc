// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/rivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sideband::experiments {
namespace {

constexpr size_t kLeastSquaresWindow = 64, kFilterWindow = 8, kAnchorEvery = 100;
constexpr double kDispersion = 15e-6;

}  // namespace

void LeastSquares::Add(const Sample& sample) {
  ++samples_;
  const double dx = sample.edge - mean_x_, dy = sample.ns - mean_y_;
  mean_x_ += dx / samples_;
  mean_y_ += dy / samples_;
  xx_ += dx * (sample.edge - mean_x_);
  xy_ += dx * (sample.ns - mean_y_);
  yy_ += dy * (sample.ns - mean_y_);
  slope_ = xx_ > 0 ? xy_ / xx_ : 0;
}

Estimate LeastSquares::At(double edge) const {
  const double residuals = std::max(0.0, yy_ - slope_ * xy_);
  const double deviation = samples_ > 2 ? std::sqrt(residuals / (samples_ - 2)) : 0;
  return {mean_y_ + slope_ * (edge - mean_x_), 3 * deviation};
}

void WindowedLeastSquares::Add(const Sample& sample) {
  window_.push_back(sample);
  if (window_.size() > kLeastSquaresWindow) window_.pop_front();
  fit_ = LeastSquares();
  for (const Sample& kept : window_) fit_.Add(kept);
}

void MinimumDelay::Add(const Sample& sample) {
  window_.push_back(sample);
  if (window_.size() > kFilterWindow) window_.pop_front();
  const Sample before = std::exchange(best_, *std::ranges::min_element(window_, {}, &Sample::delay));
  best_.ns = best_.sent + best_.delay / 2;
  if (best_.edge <= before.edge) return;
  const double measured = (best_.ns - before.ns) / (best_.edge - before.edge);
  // The loop follows an eighth of each difference.
  slope_ += (measured - slope_) / 8;
}

Estimate MinimumDelay::At(double edge) const {
  const double age = std::abs(edge - best_.edge) * slope_;
  return {best_.ns + slope_ * (edge - best_.edge), best_.delay / 2 + kDispersion * age};
}

void TwoPoints::Add(const Sample& sample) {
  if (samples_++ % kAnchorEvery != 0) return;
  const Sample before = std::exchange(anchor_, sample);
  if (samples_ > 1) slope_ = (anchor_.ns - before.ns) / (anchor_.edge - before.edge);
}

Estimate TwoPoints::At(double edge) const { return {anchor_.ns + slope_ * (edge - anchor_.edge), anchor_.half_bar}; }

Estimate CalibratedPair::At(double edge) const {
  return {newest_.ns + slope_ * (edge - newest_.edge), newest_.half_bar};
}

std::vector<std::unique_ptr<Rival>> AllRivals(double nominal_period) {
  std::vector<std::unique_ptr<Rival>> rivals;
  rivals.push_back(std::make_unique<LeastSquares>());
  rivals.push_back(std::make_unique<WindowedLeastSquares>());
  rivals.push_back(std::make_unique<MinimumDelay>(nominal_period));
  rivals.push_back(std::make_unique<TwoPoints>(nominal_period));
  rivals.push_back(std::make_unique<CalibratedPair>(nominal_period));
  return rivals;
}

}  // namespace sideband::experiments
