// SPDX-License-Identifier: Apache-2.0
//
// Other ways to place a clock on another's axis, from the same packets as a ClockStrip. Each claims an error: what its
// users take for its accuracy.
//   LeastSquares fit;
//   for (const Sample& sample : samples) fit.Add(sample);
//   const Estimate estimate = fit.At(1000);
#ifndef SIDEBAND_TESTS_LAB_BENCH_RIVALS_H_
#define SIDEBAND_TESTS_LAB_BENCH_RIVALS_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace sideband::experiments {

// Edges and nanoseconds since the first packet: doubles hold them exactly enough.
struct Sample {
  double edge = 0;
  double ns = 0;        // the middle of the packet's bar
  double half_bar = 0;  // half of its length
  double sent = 0;      // when the trigger was
  double delay = 0;     // from it to the packet's arrival
};

struct Estimate {
  double ns = 0;
  double claim = 0;  // the error is at most this
};

class Rival {
 public:
  virtual ~Rival() = default;
  virtual std::string name() const = 0;
  virtual void Add(const Sample& sample) = 0;
  // Near the newest sample. Requires two.
  virtual Estimate At(double edge) const = 0;
};

// The line of least squares through all samples since the beginning, updated in place. Claims three standard errors of
// a single sample.
class LeastSquares : public Rival {
 public:
  std::string name() const override { return "least squares, all packets"; }
  void Add(const Sample& sample) override;
  Estimate At(double edge) const override;

 private:
  double samples_ = 0, mean_x_ = 0, mean_y_ = 0, xx_ = 0, xy_ = 0, yy_ = 0, slope_ = 0;
};

// The same through the newest 64, as the linear-regression servo of linuxptp.
class WindowedLeastSquares : public Rival {
 public:
  std::string name() const override { return "least squares, newest 64"; }
  void Add(const Sample& sample) override;
  Estimate At(double edge) const override { return fit_.At(edge); }

 private:
  std::deque<Sample> window_;
  LeastSquares fit_;
};

// NTP's clock filter: of the newest 8 samples that of least delay counts; the frequency follows those that counted.
// Claims half the delay and 15 ppm of the age.
class MinimumDelay : public Rival {
 public:
  explicit MinimumDelay(double nominal_period) : slope_(nominal_period) {}
  std::string name() const override { return "minimum delay (NTP)"; }
  void Add(const Sample& sample) override;
  Estimate At(double edge) const override;

 private:
  double slope_;
  std::deque<Sample> window_;
  Sample best_;
};

// The line through the newest two anchors, of which one is taken every 100 packets. Claims half of a bar.
class TwoPoints : public Rival {
 public:
  explicit TwoPoints(double nominal_period) : slope_(nominal_period) {}
  std::string name() const override { return "two points, re-anchored"; }
  void Add(const Sample& sample) override;
  Estimate At(double edge) const override;

 private:
  double slope_;
  size_t samples_ = 0;
  Sample anchor_;
};

// A calibrated pair and the nominal period, as Vulkan's calibrated timestamps: the newest packet, with half its bar as
// maxDeviation.
class CalibratedPair : public Rival {
 public:
  explicit CalibratedPair(double nominal_period) : slope_(nominal_period) {}
  std::string name() const override { return "calibrated pair (Vulkan)"; }
  void Add(const Sample& sample) override { newest_ = sample; }
  Estimate At(double edge) const override;

 private:
  double slope_;
  Sample newest_;
};

std::vector<std::unique_ptr<Rival>> AllRivals(double nominal_period);

}  // namespace sideband::experiments

#endif  // SIDEBAND_TESTS_LAB_BENCH_RIVALS_H_
