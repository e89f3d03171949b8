// SPDX-License-Identifier: Apache-2.0
//
// Experiments E2, E3 and E4 of the design of distributed clocks: which trigger a packet is of, wires, and routers.
// Prints three tables as Markdown.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "sim/wires/domain_clock.h"

namespace sideband {
namespace {

constexpr uint64_t kPeriod = 1'000'000;  // of the triggers, in reference cycles of 1 ns
constexpr uint32_t kTriggers = 1'000'000;
constexpr uint32_t kBatch = 1000;

std::shared_ptr<const sim::DomainClock> SomeClock() {
  return std::make_shared<sim::DomainClock>(
      *sim::DomainClock::Create({.hz = 700'000'000, .offset_ppb = 37'000, .tolerance_ppb = 50'000}));
}

// Triggers that take `share` of their period to the monitor, give or take a tenth.
class Association {
 public:
  explicit Association(double share)
      : wire_max_(static_cast<uint64_t>(share * kPeriod)),
        monitor_(clock_, {.wire_min = sim::InstantAtCycle(wire_max_ * 8 / 10),
                          .wire_max = sim::InstantAtCycle(wire_max_),
                          .seed = 3}) {}

  void Run() {
    for (uint32_t number = 1; number <= kTriggers; ++number) {
      const uint64_t cycle = kPeriod * number;
      ring_.Begin({.number = number, .cycle = cycle, .made = cycle});
      monitor_.Receive({.sent = sim::InstantAtCycle(cycle)});
      Deliver(cycle + kPeriod - 1, number);
      if (number % kBatch == 0) Check(number);
    }
  }
  uint64_t wrong() const { return wrong_; }
  uint64_t wrong_by_arrival() const { return wrong_by_arrival_; }

 private:
  // Takes what arrives before the next trigger; without numbers it would be of the newest reference packet.
  void Deliver(uint64_t cycle, uint32_t newest) {
    while (const auto packet = monitor_.TakeArrived(cycle)) {
      ring_.Add(0, *packet);
      if (packet->arrival < newest * kPeriod || !IsOf(packet->local_clock, newest * kPeriod)) ++wrong_by_arrival_;
    }
  }
  // By the true instant of the edge alone.
  bool IsOf(uint64_t edge, uint64_t cycle) const {
    const sim::Instant since = clock_->InstantOf(edge) - sim::InstantAtCycle(cycle);
    return since >= 0 && since <= sim::InstantAtCycle(wire_max_) + 4 * sim::Instant(clock_->limits().longest);
  }
  void Check(uint32_t number) {
    for (const mcu::TriggerPackets& trigger : ring_.From(0)) {
      if (!trigger.rows[0] || !IsOf(trigger.rows[0]->local_clock, trigger.reference.cycle)) ++wrong_;
    }
    ring_.Release(number + 1);
  }

  const std::shared_ptr<const sim::DomainClock> clock_ = SomeClock();
  const uint64_t wire_max_;
  mcu::DomainMonitor monitor_;
  mcu::PacketRing ring_{1};
  uint64_t wrong_ = 0, wrong_by_arrival_ = 0;
};

void PrintAssociation() {
  std::printf("## E2: which trigger a packet is of (%u triggers each)\n\n", kTriggers);
  std::printf("| t1 over the period | wrong by number | wrong by arrival alone |\n|---|---|---|\n");
  for (const double share : {0.001, 0.01, 0.1, 0.25, 0.49}) {
    Association association(share);
    association.Run();
    absl::PrintF("| %.1f %% | %d | %d |\n", 100 * share, association.wrong(), association.wrong_by_arrival());
  }
}

void PrintWires(const std::string& chip_file) {
  constexpr uint64_t kBusWires = 64;  // of a reference time
  const auto file = mcu::LoadChipFile(chip_file);
  if (!file.ok()) {
    absl::PrintF("%s\n", file.status().message());
    return;
  }
  const auto device = *mcu::LiveDevice::Create(*file, /*boot_id=*/1, [] { return absl::ZeroDuration(); });
  const size_t monitors = device->catalog().clock_domains.size();
  absl::PrintF("\n## E3: wires to the monitors of %s\n\n", chip_file);
  absl::PrintF("| monitors | trigger wires | wires of a broadcast reference time | ratio |\n|---|---|---|---|\n");
  absl::PrintF("| %d | %d | %d | %d |\n", monitors, monitors, monitors * kBusWires, kBusWires);
}

// Bits of a return packet's fields.
constexpr uint64_t kNumberBits = 16, kUnitBits = 16, kClockBits = 64, kEventBits = 8, kCountBits = 32;

uint64_t BitsOf(bool has_clock, size_t counts) {
  return kNumberBits + kUnitBits + (has_clock ? kClockBits : 0) + counts * (kEventBits + kCountBits);
}

// The units of one domain, each with a full packet, or one of them with the clock.
uint64_t Return(mcu::DomainRouter& router, uint32_t trigger, size_t events, bool is_split,
                std::map<uint16_t, uint64_t>& sums) {
  static std::mt19937_64 random(11);
  constexpr uint16_t kUnits = 48;
  uint64_t bits = 0;
  for (uint16_t unit = 0; unit < kUnits; ++unit) {
    mcu::ReturnPacket packet{.number = trigger, .unit = unit};
    if (unit == 0 || !is_split) packet.clock = mcu::ClockPacket{.local_clock = 700 * trigger};
    for (uint16_t event = 0; event < events; ++event) {
      packet.counts.push_back({event, 1 + random() % 1000});
      sums[event] += packet.counts.back().count;
    }
    bits += BitsOf(packet.clock.has_value(), events);
    router.Add(packet);
  }
  return bits;
}

void PrintRouters() {
  absl::PrintF("\n## E4: 48 units of a domain, a thousand triggers\n\n");
  absl::PrintF(
      "| events | form | bits to the router | from it | ratio | counts that differ |\n|---|---|---|---|---|---|\n");
  for (const size_t events : {1, 7}) {
    for (const bool is_split : {false, true}) {
      mcu::DomainRouter router(0, 1);
      uint64_t in = 0, out = 0, wrong = 0;
      for (uint32_t trigger = 1; trigger <= 1000; ++trigger) {
        std::map<uint16_t, uint64_t> sums;
        in += Return(router, trigger, events, is_split, sums);
        for (const mcu::AggregatePacket& packet : router.Take()) {
          out += BitsOf(packet.clock.has_value(), packet.counts.size());
          for (const mcu::EventCount& count : packet.counts) wrong += sums[count.event] != count.count;
        }
      }
      absl::PrintF("| %d | %s | %d | %d | %.1f | %d |\n", events, is_split ? "split" : "full", in, out,
                   static_cast<double>(in) / static_cast<double>(out), wrong);
    }
  }
}

}  // namespace
}  // namespace sideband

int main(int argc, char** argv) {
  sideband::PrintAssociation();
  sideband::PrintWires(argc > 1 ? argv[1] : "deploy/examples/chip-clocks.yaml");
  sideband::PrintRouters();
  return 0;
}
