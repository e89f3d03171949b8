// SPDX-License-Identifier: Apache-2.0
//
// A wire that chips share: a commanded trigger of one of them reaches all the others as an external trigger.
// (clocks.md, "Trigger lines")
//   TriggerLine line;
//   LineEnd a({.line = line, .clock_hz = 1'000'000'000}, chip_a, advance_a);
//   LineEnd b({.line = line, .clock_hz = 700'000'000, .wire_max_ns = 50}, chip_b, advance_b);
//   a.Send();               // triggers chip a, and chip b at the same instant and its wire's delay
//   snapshot.line_pulse = b.newest();
#ifndef SIDEBAND_SECURE_MCU_DEVICE_TRIGGER_LINE_H_
#define SIDEBAND_SECURE_MCU_DEVICE_TRIGGER_LINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/mailbox/clocks.h"
#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

// Not thread-safe.
class TriggerLine {
 public:
  using Picoseconds = absl::uint128;  // on an axis that all chips of the line have

  class End {
   public:
    virtual ~End() = default;
    // How far the chip has counted: before that it cannot be triggered.
    virtual Picoseconds reached() const = 0;
    // A pulse was sent at that instant, which is not before reached().
    virtual void Receive(Picoseconds sent) = 0;
  };

  // `end` must exist until Disconnect.
  void Connect(End& end) { ends_.push_back(&end); }
  void Disconnect(const End& end) { std::erase(ends_, &end); }

  // From when on a pulse can be sent.
  Picoseconds reached() const;
  // To all ends but the sender.
  void Send(const End& sender, Picoseconds sent) const;

 private:
  std::vector<End*> ends_;
};

// Where a chip is connected. Not thread-safe.
class LineEnd final : public TriggerLine::End {
 public:
  struct Options {
    TriggerLine& line;
    TriggerLine::Picoseconds powered_on = 0;    // the chip's cycle 0
    uint64_t clock_hz = 0;                      // of the chip
    uint64_t wire_min_ns = 0, wire_max_ns = 0;  // how long a pulse takes to it
  };
  using Advance = std::function<void(uint64_t cycle)>;

  // `line` and `chip` must outlive it; `advance` makes the chip count up to a cycle.
  LineEnd(const Options& options, Chip& chip, Advance advance);
  ~LineEnd() override { options_.line.Disconnect(*this); }
  LineEnd(const LineEnd&) = delete;
  LineEnd& operator=(const LineEnd&) = delete;

  // Triggers all chips of the line, as soon as none has counted further than this one. Returns the trigger's id.
  uint32_t Send();
  // Sent or received; none before the first.
  const std::optional<mailbox::LinePulse>& newest() const { return newest_; }

  TriggerLine::Picoseconds reached() const override { return InstantOf(chip_.now()); }
  void Receive(TriggerLine::Picoseconds sent) override;

 private:
  TriggerLine::Picoseconds InstantOf(uint64_t cycle) const;
  // The first one at that instant or after it.
  uint64_t CycleAt(TriggerLine::Picoseconds instant) const;
  uint32_t Trigger(uint64_t cycle, TriggerKind kind);

  const Options options_;
  Chip& chip_;
  const Advance advance_;
  std::mt19937_64 random_;  // of the wire's delays
  std::optional<mailbox::LinePulse> newest_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_TRIGGER_LINE_H_
