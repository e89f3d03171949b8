// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/clocks/clock_strip.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/stopwatch.h"
#include "tests/lab/experiments/rivals/rivals.h"

namespace sideband::bench {
namespace {

using clocks::ClockLimits;
using clocks::ClockPacket;
using clocks::ClockStrip;
using clocks::Instant;

constexpr size_t kPackets = 20'000, kQueries = 100'000;
constexpr int kStripRounds = 15;
constexpr uint64_t kEdgesApart = 1'300'000;
constexpr ClockLimits kLimits{
    .period_shortest = 50'409, .period_longest = 50'416, .bar_high = 52 * clocks::kTicksPerCycle, .announces = true};

struct Packets {
  std::vector<ClockPacket> packets;
  std::vector<experiments::Sample> samples;
};

Packets Draw() {
  Packets drawn;
  std::mt19937_64 draws(1);
  for (uint64_t i = 1; i <= kPackets; ++i) {
    const uint64_t edge = i * kEdgesApart, ns = edge * 10 / 13 + 1000, sent = ns - 1 - draws() % 50;
    drawn.packets.push_back({.trigger = i, .reference = Instant::OfCycles(sent), .edge = edge});
    drawn.samples.push_back({static_cast<double>(edge), static_cast<double>(sent) + 26, 26});
  }
  return drawn;
}

double Nanoseconds(const BestTime& best, size_t times) { return best.seconds() * 1e9 / static_cast<double>(times); }

absl::StatusOr<ClockStrip> Fill(const std::vector<ClockPacket>& packets) {
  SIDEBAND_ASSIGN_OR_RETURN(ClockStrip strip, ClockStrip::Create(kLimits, {}));
  for (const ClockPacket& packet : packets) {
    SIDEBAND_ASSIGN_OR_RETURN(const clocks::AddResult result, strip.Add(packet));
    if (result != clocks::AddResult::kAdded) return absl::InternalError("a packet did not fit");
  }
  return strip;
}

absl::StatusOr<double> PacketNs(const Packets& drawn) {
  BestTime best;
  absl::Status status;
  for (int round = 0; round < kStripRounds; ++round) best.Measure([&] { status.Update(Fill(drawn.packets).status()); });
  SIDEBAND_RETURN_IF_ERROR(status);
  return Nanoseconds(best, kPackets);
}

// Of numbers that are ready.
absl::StatusOr<double> LeastSquaresNs(const std::vector<experiments::Sample>& samples) {
  BestTime best;
  double slope = 0;
  for (int round = 0; round < kStripRounds; ++round) {
    best.Measure([&] {
      experiments::LeastSquares fit;
      for (const experiments::Sample& sample : samples) fit.Add(sample);
      slope = fit.At(1e9).ns - fit.At(0).ns;
    });
  }
  if (slope < 0.769e9 || slope > 0.770e9) return absl::InternalError("a wrong slope");
  return Nanoseconds(best, kPackets);
}

// Of packets that are as hostile as the fit's: their bars are checked, and that they ascend.
absl::Status AddChecked(const std::vector<ClockPacket>& packets, experiments::LeastSquares& fit) {
  const ClockPacket& first = packets.front();
  const ClockPacket none{};
  const ClockPacket* before = &none;
  for (const ClockPacket& packet : packets) {
    SIDEBAND_ASSIGN_OR_RETURN(const clocks::InstantRange bar, clocks::BarOf(packet, kLimits));
    if (packet.edge <= before->edge || packet.trigger <= before->trigger || packet.reference < before->reference) {
      return absl::DataLossError("packets do not ascend");
    }
    before = &packet;
    const auto ticks = static_cast<int64_t>(bar.middle() - first.reference);
    fit.Add({static_cast<double>(packet.edge - first.edge), static_cast<double>(ticks)});
  }
  return absl::OkStatus();
}

absl::StatusOr<double> CheckedLeastSquaresNs(const std::vector<ClockPacket>& packets) {
  BestTime best;
  absl::Status status;
  for (int round = 0; round < kStripRounds; ++round) {
    experiments::LeastSquares fit;
    best.Measure([&] { status.Update(AddChecked(packets, fit)); });
    if (fit.At(1).ns == fit.At(0).ns) status.Update(absl::InternalError("no slope"));
  }
  SIDEBAND_RETURN_IF_ERROR(status);
  return Nanoseconds(best, kPackets);
}

// Of edges of the newest thousand packets.
absl::StatusOr<double> QueryNs(const ClockStrip& strip) {
  std::mt19937_64 draws(2);
  std::vector<uint64_t> edges(kQueries);
  for (uint64_t& edge : edges) edge = *strip.newest_edge() - draws() % (1000 * kEdgesApart);
  BestTime best;
  size_t strips = 0;
  for (int round = 0; round < kStripRounds; ++round) {
    best.Measure([&] {
      strips = 0;
      for (const uint64_t edge : edges) strips += strip.BoundAt(edge).kind == clocks::ClockBound::Kind::kStrip ? 1 : 0;
    });
  }
  if (strips != kQueries) return absl::InternalError("a bound without a strip");
  return Nanoseconds(best, kQueries);
}

}  // namespace

absl::StatusOr<Rows> MeasureClockCost() {
  const Packets drawn = Draw();
  SIDEBAND_ASSIGN_OR_RETURN(const double packet_ns, PacketNs(drawn));
  SIDEBAND_ASSIGN_OR_RETURN(const double squares_ns, LeastSquaresNs(drawn.samples));
  SIDEBAND_ASSIGN_OR_RETURN(const double checked_ns, CheckedLeastSquaresNs(drawn.packets));
  SIDEBAND_ASSIGN_OR_RETURN(const ClockStrip strip, Fill(drawn.packets));
  SIDEBAND_ASSIGN_OR_RETURN(const double query_ns, QueryNs(strip));
  const size_t vertices = strip.Hulls()->upper.size() + strip.Hulls()->negated_lower.size();
  return Rows{
      {"clocks: a packet into the fit", packet_ns, "ns",
       absl::StrFormat("%.1f of least squares of the same checked packets, %.1f ns; limit 4", packet_ns / checked_ns,
                       checked_ns)},
      {"clocks: least squares of numbers that are ready", squares_ns, "ns",
       absl::StrFormat("a packet into the fit is %.1f of it", packet_ns / squares_ns)},
      {"clocks: the bound of an edge", query_ns, "ns", "limit 200"},
      {"clocks: state of a domain after 20,000 packets", static_cast<double>(sizeof(strip) + strip.heap_bytes()),
       "bytes", absl::StrFormat("%d vertices in both hulls; limit 4096", vertices)}};
}

}  // namespace sideband::bench
