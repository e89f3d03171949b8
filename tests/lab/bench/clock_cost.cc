// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/clocks/clock_strip.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"
#include "tests/lab/bench/rivals.h"

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

// The samples are ready numbers.
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

// The packets are as hostile as the fit's: checks their bars, and that they ascend.
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

// The queried edges are those of the newest thousand packets.
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

constexpr absl::Duration kClockedStep = absl::Milliseconds(10);
constexpr int kClockedRounds = 15;
constexpr uint64_t kGridPeriod = 1'000'000;  // cycles of 1 ns

// Three clocks on each of two slices, and two that are shared.
constexpr char kChip[] = R"(device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000000}
slices: 2
#DOMAINS
units:
  - {name: sm, count: 8, events: [sm_active_cycles, tensor_active_cycles, fp32_active_cycles], domain: sm}
  - {name: l2, count: 2, events: [l2_hit_cycles, l2_miss_cycles], domain: l2}
  - {name: copy, events: [copy_cycles], domain: copy}
shared_units:
  - {name: dram, count: 2, events: [dram_read_cycles, dram_write_cycles], domain: dram}
device_units:
  - {name: pcie, events: [pcie_tx_cycles], domain: pcie}
device_workload:
  phases: [{kind: copy, time: 10ms}]
vms:
  - name: vm1
    uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e601
    contexts:
      - {name: train, slice: 0, seed: 1, phases: [{kind: gemm, time: 6ms}, {kind: all_reduce, time: 2ms}]}
      - {name: eval, slice: 0, seed: 2, phases: [{kind: attention, time: 2ms}]}
  - name: vm2
    uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e602
    contexts:
      - {name: serve, slice: 1, seed: 3, phases: [{kind: attention, time: 2ms}]}
)";
constexpr char kDomains[] = R"(domains:
  - {name: sm, hz: 1410000000, ppm: 30, wander_ppb_per_s: 50, wire_ns: [2, 20]}
  - {name: l2, hz: 1100000000, ppm: -20, wire_ns: [2, 20]}
  - {name: copy, hz: 800000000, ppm: 5, wire_ns: [2, 20]}
  - {name: dram, hz: 1215000000, ppm: -45, wire_ns: [2, 40]}
  - {name: pcie, hz: 250000000, ppm: 12, wire_ns: [2, 60]}
)";

struct ClockedRun {
  absl::Duration elapsed;
  std::unique_ptr<mcu::LiveDevice> device;

  void Advance(absl::Duration time) {
    elapsed += time;
    device->CatchUp();
  }
};

absl::StatusOr<std::unique_ptr<ClockedRun>> Create(const std::string& text, const std::string& path, bool has_grid) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return ErrnoStatus(errno, path);
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile chip, mcu::LoadChipFile(path));
  auto running = std::make_unique<ClockedRun>();
  SIDEBAND_ASSIGN_OR_RETURN(running->device,
                            mcu::LiveDevice::Create(chip, /*boot_id=*/1, [r = running.get()] { return r->elapsed; }));
  if (has_grid) SIDEBAND_RETURN_IF_ERROR(running->device->SetTriggerGrid(kGridPeriod));
  running->Advance(kClockedStep);
  return running;
}

// The size of a snapshot relative to the one before, an interval earlier.
size_t SteadyBytes(ClockedRun& running) {
  const mailbox::Snapshot base = running.device->Latch();
  running.Advance(absl::Seconds(1));
  return mailbox::EncodeSnapshotStream(running.device->Latch(), &base, {}, mailbox::Framing::kSections).size();
}

size_t RawBytes(const mailbox::Timeline& timeline) {
  size_t bytes = 0;
  for (const mailbox::TimelineEntry& entry : timeline.entries) {
    // Number, kind, reference time and scheduler; of each clock its number and its value.
    bytes += sizeof(uint32_t) + 1 + sizeof(uint64_t) + sizeof(uint16_t);
    bytes += entry.clocks.size() * (sizeof(uint16_t) + sizeof(uint64_t));
  }
  return bytes;
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

absl::StatusOr<Rows> MeasureClockedDevice(const std::string& scratch) {
  const std::string path = scratch + "/clocked.yaml";
  const std::string clocked = absl::StrReplaceAll(kChip, {{"#DOMAINS\n", kDomains}});
  // With the same collection units.
  const std::string plain = absl::StrReplaceAll(kChip, {{", domain: sm", ", ccu: sm"},
                                                        {", domain: l2", ", ccu: l2"},
                                                        {", domain: copy", ", ccu: copy"},
                                                        {", domain: dram", ", ccu: dram"},
                                                        {", domain: pcie", ", ccu: pcie"}});
  SIDEBAND_ASSIGN_OR_RETURN(const auto with, Create(clocked, path, /*has_grid=*/true));
  SIDEBAND_ASSIGN_OR_RETURN(const auto without_grid, Create(clocked, path, /*has_grid=*/false));
  SIDEBAND_ASSIGN_OR_RETURN(const auto without, Create(plain, path, /*has_grid=*/false));
  const size_t domains = with->device->catalog().clock_domains.size();
  BestTime of_with, of_without_grid, of_without, latch_with, latch_without;
  // By turns, so that a slow minute of the machine is everybody's.
  for (int round = 0; round < kClockedRounds; ++round) {
    of_with.Measure([&] { with->Advance(kClockedStep); });
    of_without_grid.Measure([&] { without_grid->Advance(kClockedStep); });
    of_without.Measure([&] { without->Advance(kClockedStep); });
    latch_with.Measure([&] { with->device->Latch(); });
    latch_without.Measure([&] { without->device->Latch(); });
  }
  const double bytes = static_cast<double>(SteadyBytes(*with)) - static_cast<double>(SteadyBytes(*without));
  const mailbox::Timeline timeline = with->device->GetTimeline(0);
  const double encoded = static_cast<double>(mailbox::EncodeTimelineStream(timeline).size());
  return Rows{
      {"clocks: speed of a chip of 8 domains with triggers at 1 kHz", of_without_grid.seconds() / of_with.seconds(),
       "of without triggers",
       absl::StrFormat("%.2f of without domains; limit 0.95", of_without.seconds() / of_with.seconds())},
      {"clocks: a latch", latch_with.seconds() / latch_without.seconds(), "of without domains",
       absl::StrFormat("%.0f of %.0f us; limit 1.02", latch_with.seconds() * 1e6, latch_without.seconds() * 1e6)},
      {"clocks: a domain in a steady snapshot", bytes / static_cast<double>(domains), "bytes",
       absl::StrFormat("%d domains; limit 12", domains)},
      {"clocks: a timeline", encoded / static_cast<double>(RawBytes(timeline)), "of its raw packets",
       absl::StrFormat("%d triggers; limit 0.25", timeline.entries.size())}};
}

}  // namespace sideband::bench
