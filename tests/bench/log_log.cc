// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/log_log.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::bench {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 440;
constexpr double kLeft = 80;
constexpr double kRight = 24;
constexpr double kTop = 44;
constexpr double kBottom = 60;
constexpr std::array<const char*, 4> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

// Whole decades that hold all values, mapped onto a stretch of the picture.
class Axis {
 public:
  Axis(double low, double high, double from, double to)
      : low_(std::floor(std::log10(low))),
        high_(std::max(low_ + 1, std::ceil(std::log10(high)))),
        from_(from),
        to_(to) {}

  double At(double value) const { return from_ + (std::log10(value) - low_) / (high_ - low_) * (to_ - from_); }
  int first_decade() const { return static_cast<int>(low_); }
  int last_decade() const { return static_cast<int>(high_); }

 private:
  const double low_, high_;
  const double from_, to_;
};

Axis MakeAxis(std::span<const Curve> curves, double Point::*coordinate, double from, double to) {
  double low = INFINITY;
  double high = 0;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) {
      low = std::min(low, point.*coordinate);
      high = std::max(high, point.*coordinate);
    }
  }
  return {low, high, from, to};
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& colour) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2,
                         colour);
}

std::string Text(double x, double y, const std::string& attributes, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, text);
}

std::string Decade(int exponent) {
  if (exponent >= -3 && exponent <= 3) return absl::StrFormat("%g", std::pow(10, exponent));
  return absl::StrFormat("10<tspan dy=\"-6\" font-size=\"10\">%d</tspan>", exponent);
}

std::string Grid(const Axis& x, const Axis& y) {
  std::string svg;
  for (int decade = x.first_decade(); decade <= x.last_decade(); ++decade) {
    const double at = x.At(std::pow(10, decade));
    absl::StrAppend(&svg, Line(at, kTop, at, kHeight - kBottom, "#dddddd"),
                    Text(at, kHeight - kBottom + 18, "text-anchor=\"middle\"", Decade(decade)));
  }
  for (int decade = y.first_decade(); decade <= y.last_decade(); ++decade) {
    const double at = y.At(std::pow(10, decade));
    absl::StrAppend(&svg, Line(kLeft, at, kWidth - kRight, at, "#dddddd"),
                    Text(kLeft - 8, at + 4, "text-anchor=\"end\"", Decade(decade)));
  }
  absl::StrAppend(&svg, Line(kLeft, kTop, kLeft, kHeight - kBottom, "black"),
                  Line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "black"));
  return svg;
}

std::string Draw(const Curve& curve, const std::string& colour, const Axis& x, const Axis& y) {
  std::string path, marks;
  for (const Point& point : curve.points) {
    absl::StrAppendFormat(&path, "%.1f,%.1f ", x.At(point.x), y.At(point.y));
    absl::StrAppendFormat(&marks, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x.At(point.x),
                          y.At(point.y), colour);
  }
  return absl::StrFormat("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", path, colour) +
         marks;
}

std::string Legend(const Curve& curve, const std::string& colour, size_t index) {
  const double y = kTop + 18 + 18 * static_cast<double>(index);
  return Line(kLeft + 14, y - 4, kLeft + 38, y - 4, colour) + Text(kLeft + 46, y, "", curve.name);
}

}  // namespace

double Slope(const Curve& curve) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Point& point : curve.points) {
    const double x = std::log(point.x);
    const double y = std::log(point.y);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const auto n = static_cast<double>(curve.points.size());
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

std::string LogLogSvg(const std::string& title, const std::string& x_label, const std::string& y_label,
                      std::span<const Curve> curves) {
  const Axis x = MakeAxis(curves, &Point::x, kLeft, kWidth - kRight);
  const Axis y = MakeAxis(curves, &Point::y, kHeight - kBottom, kTop);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  absl::StrAppend(&svg, Text(kWidth / 2, 24, "text-anchor=\"middle\" font-size=\"15\"", title), Grid(x, y));
  absl::StrAppend(
      &svg, Text((kLeft + kWidth - kRight) / 2, kHeight - 16, "text-anchor=\"middle\"", x_label),
      absl::StrFormat("<text transform=\"translate(22 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                      (kTop + kHeight - kBottom) / 2, y_label));
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string colour = kColours[i % kColours.size()];
    absl::StrAppend(&svg, Draw(curves[i], colour, x, y), Legend(curves[i], colour, i));
  }
  return svg + "</svg>\n";
}

}  // namespace sideband::bench
