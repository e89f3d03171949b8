// SPDX-License-Identifier: Apache-2.0
//
// Small parts of a chip: bookmarks, who is on each slice, the way of the records, gates and clocks.
//   UnitClocks clocks(/*wirings=*/2);
//   const size_t clock = clocks.Add(/*wiring=*/0, /*domain=*/1);
//   clocks.Attach(0, wires, /*now=*/0);
//   clocks.AdvanceTo(1000);
//   Count(clocks.edges(clock));
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_PARTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// A bookmark of a memory block that waits to be served (clocks.md, "Bookmarks").
struct AskedBookmark {
  uint32_t bookmark = 0;  // a controller's own value
  uint64_t asked_ns = 0;
};

// One that was served, with what was counted until then.
struct KeptBookmark {
  uint64_t number = 0;  // of all that were served, from 1
  BlockId block = 0;
  AskedBookmark asked;
  uint64_t served_ns = 0;
  std::vector<uint64_t> counters;
};

// The bookmarks that wait, and the newest of each block that were served. Not thread-safe.
class BookmarkRings {
 public:
  // A block has one at most.
  const std::map<BlockId, AskedBookmark>& pending() const { return pending_; }
  bool IsPending(BlockId block) const { return pending_.contains(block); }
  // It must have none.
  void Ask(BlockId block, const AskedBookmark& asked) { pending_.emplace(block, asked); }
  // It must have one. The oldest of the block is forgotten where it has mailbox::kBookmarksKept.
  void Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters);
  // Its counters begin anew, or are gone.
  void Forget(BlockId block);

  // Ascending by number.
  const std::vector<KeptBookmark>& kept() const { return kept_; }

 private:
  std::map<BlockId, AskedBookmark> pending_;
  std::vector<KeptBookmark> kept_;
  uint64_t served_ = 0;
};

// When a slice counts into its host block: in all time without a resident; or while it is bound to the block itself, as
// to a resident's, and else it is paused.
enum class HostTime : uint8_t { kWithoutResident, kWhileBound };

// The slices' host blocks: the memory blocks of the hypervisor's work on slices without a resident
// (virtual-counters.md, "Mechanism", 5). Not thread-safe.
class HostBlocks {
 public:
  // Creates the blocks (VM 0, context = slice). To be called once; without it there are none.
  void Create(MemoryBlocks& memory, uint32_t slices, HostTime time);

  // Whether a slice counts that nothing is bound to.
  bool counts_idle() const { return !blocks_.empty() && time_ == HostTime::kWithoutResident; }
  BlockId of(uint8_t slice) const { return blocks_[slice]; }
  // Where the counts of a slice go that is bound like this; nullopt: nowhere.
  std::optional<Binding> DestinationOf(uint8_t slice, const std::optional<Binding>& bound) const;
  // Whether a slice that is bound like this has a resident.
  bool HasResident(const std::optional<Binding>& bound) const;
  // A host block is active while its slice has no resident.
  void ShowState(uint8_t slice, const std::optional<Binding>& bound, MemoryBlocks& memory) const;

 private:
  HostTime time_ = HostTime::kWithoutResident;
  std::vector<BlockId> blocks_;  // per slice, or none
};

// The slices whose resident VM is private: their records stay out of the device-wide channels, so that neither the
// device's block nor the out-of-band one has anything of such a VM. (virtual-counters.md, "Mechanism".)
// Slices are 0 to 63. Not thread-safe.
class PrivateSlices {
 public:
  // The slice's channel is bound anew, after all records of its last resident have been routed. `is_private` holds for
  // the whole residency: a control block that changes meanwhile changes nothing.
  void Bind(uint8_t slice, bool is_private) {
    const uint64_t bit = uint64_t{1} << slice;
    slices_ = is_private ? slices_ | bit : slices_ & ~bit;
  }

  // False for kDeviceChannel.
  bool Contains(uint8_t channel) const { return channel != kDeviceChannel && (slices_ >> channel & 1) != 0; }

 private:
  uint64_t slices_ = 0;  // bit n: slice n
};

// Who is on each slice: its resident, or its host block while it counts without one; else it is paused. Slices are 0 to
// 63; a channel is a slice, or kDeviceChannel, which has no resident. Not thread-safe.
class Residents {
 public:
  explicit Residents(uint32_t slices) : bound_(slices) {}

  // Gives each slice a host block, as HostBlocks::Create.
  void CreateHosts(MemoryBlocks& memory, HostTime time) { hosts_.Create(memory, slices(), time); }
  bool counts_idle() const { return hosts_.counts_idle(); }
  BlockId host_block(uint8_t slice) const { return hosts_.of(slice); }
  uint32_t slices() const { return static_cast<uint32_t>(bound_.size()); }

  // Binds the slice, as PrivateSlices::Bind does.
  void Bind(uint8_t slice, const std::optional<Binding>& to, bool is_private) {
    bound_[slice] = to;
    private_.Bind(slice, is_private);
  }
  // The resident, or the host block with HostTime::kWhileBound; nullopt: none.
  const std::optional<Binding>& of(uint8_t slice) const { return bound_[slice]; }
  // Where the slice's counts go; nullopt: nowhere.
  std::optional<Binding> DestinationOf(uint8_t slice) const { return hosts_.DestinationOf(slice, bound_[slice]); }
  bool HasResident(uint8_t slice) const { return hosts_.HasResident(bound_[slice]); }
  // Whether a slice has the block, of a VM or a context.
  bool IsOnSlice(BlockId block) const;
  // Triggers of a paused slice are paused, too.
  bool IsCounting(uint8_t channel) const {
    return channel == kDeviceChannel || bound_[channel].has_value() || hosts_.counts_idle();
  }
  bool IsPrivate(uint8_t channel) const { return private_.Contains(channel); }
  // Shows in memory which blocks are active, after `from` has left the slice.
  void ShowState(uint8_t slice, const std::optional<Binding>& from, MemoryBlocks& memory) const;

 private:
  void ShowState(const std::optional<Binding>& binding, MemoryBlocks& memory) const;

  HostBlocks hosts_;
  PrivateSlices private_;  // as bound_
  std::vector<std::optional<Binding>> bound_;
};

// Moves records from the collection units through the channel buffer to the reduction channels, in device cycles: a
// unit sends a record every `record_cycles`, the buffer routes a record every `route_cycles`, and a full buffer stalls
// the units. Not thread-safe.
class RecordMover {
 public:
  struct Latencies {
    uint32_t buffer_depth;
    uint32_t record_cycles;
    uint32_t route_cycles;
  };
  using Route = std::function<void(const Record&)>;

  // `ccus` must outlive the mover. `route` receives each record that leaves the buffer.
  RecordMover(Latencies latencies, std::vector<CounterCollectionUnit>& ccus, Route route);

  // Moves records for `cycles` cycles.
  void RunFor(uint64_t cycles);
  // Moves records until `done` returns true or no record is left.
  void RunUntil(const std::function<bool()>& done);

  // The pipeline's own cycle, which advances while the watched units are halted.
  uint64_t now() const { return now_; }
  // Cycles in which a unit had a record to send and the buffer was full, summed over units.
  uint64_t stall_cycles() const { return stall_cycles_; }
  const ChannelBuffer& buffer() const { return buffer_; }
  size_t buffer_high_water() const { return buffer_.high_water(); }

 private:
  // Collects the units that have records: only what happens between runs gives a unit its first record.
  void FindSenders();
  bool Idle() const { return buffer_.empty() && ready_.empty() && resting_.empty(); }
  void Step();
  void Wake();
  void Send(size_t unit);

  const Latencies latencies_;
  std::vector<CounterCollectionUnit>& ccus_;
  const Route route_;
  ChannelBuffer buffer_;
  uint64_t now_ = 0;
  uint64_t route_ready_ = 0;          // when the buffer may route its next record
  std::vector<uint64_t> unit_ready_;  // when each unit may send its next record
  // The units that have records, while records are moved.
  std::vector<size_t> ready_;   // to send in this cycle, ascending
  std::deque<size_t> resting_;  // after a record, in the order in which they will be ready
  size_t first_unit_ = 0;       // the unit served first; rotates
  uint64_t stall_cycles_ = 0;
};

// A slice's wires behind its gate, in every clock domain (virtual-counters.md, "Mechanism"). A change at a cycle of the
// reference clock holds for the cycles from that one on, and for those of the other clocks that belong to them; every
// unit sees it in the same cycle of its clock. Exits and entries may be told ahead, in ascending order, as far as the
// wires reach. Not thread-safe.
class GatedSlice final : public sim::WireSource {
 public:
  explicit GatedSlice(uint32_t domains) : gated_(domains), passed_(domains) {}

  void Attach(const sim::WireSource& source);
  // The state of the gate from reference cycle `cycle` on, which may be told ahead; the cycles below `now` are counted.
  void Set(uint64_t cycle, GatedWires::State state, uint64_t now);
  // The cycles of other clocks that the source holds beyond those of reference cycle `now` are counted: a change at
  // `now` does not concern them any more.
  void PassWithinCycle(uint64_t now);

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    gated_[0].AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const override {
    gated_[0].AddConsecutiveCounts(range, first, sums);
  }
  const sim::WireSource& domain(size_t index) const override { return gated_[index]; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return source_->CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return source_->CyclesHeld(domain, end); }

 private:
  const sim::WireSource* source_ = nullptr;
  std::vector<GatedWires> gated_;  // per domain
  std::vector<uint64_t> passed_;   // per domain: cycles below are counted
};

// Not thread-safe.
class SliceGates {
 public:
  // Without groups nothing is gated, and no other call has an effect.
  SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains);

  bool empty() const { return gates_.empty(); }
  CounterGate& gate(uint8_t slice) { return gates_[slice]; }
  const std::vector<CounterGate>& gates() const { return gates_; }

  // The wires must live until the next call for the slice, and so must the result's owner.
  const sim::WireSource& Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now);
  // The same as CounterGate's.
  void Enter(uint8_t slice, uint64_t cycle, uint64_t now);
  void Exit(uint8_t slice, uint64_t cycle, uint64_t now);
  void Bind(uint8_t slice, const GateBinding& to, uint64_t now);
  // Groups whose bit is 0 are closed from the next change on, whatever else: the resident's selection has none of their
  // events. Initially none.
  void Select(uint8_t slice, uint64_t groups);
  // After a change of a gate's groups, controls or values.
  void Show(uint8_t slice, uint64_t now) { ShowFrom(slice, now, now); }
  void PassWithinCycle(uint8_t slice, uint64_t now);

 private:
  void ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now);

  // Per slice; none without groups.
  std::vector<CounterGate> gates_;
  std::vector<uint64_t> selected_;
  std::vector<GatedSlice> wires_;
};

// The clocks by which a chip's units count, and how many edges each has made up to the chip's present. Each is computed
// once where the chip stops, however many units count by it. Not thread-safe.
class UnitClocks {
 public:
  explicit UnitClocks(size_t wirings) : wires_(wirings) {}

  // The number of that clock; the same for the same clock.
  size_t Add(size_t wiring, uint32_t domain);
  // `wires` must outlive it, or until others are attached there. A clock without wires is the reference clock.
  void Attach(size_t wiring, const sim::WireSource& wires, uint64_t now);
  void AdvanceTo(uint64_t cycle);
  // Clocks may make other edges than they would have made, from now on.
  void Forget();

  // The edges before the present cycle.
  uint64_t edges(size_t clock) const { return clocks_[clock].edges; }
  // The first reference cycle in (present, end] before which the clock has `edges` more edges; end if there is none.
  // Not a later one: when a threshold triggers must not depend on who else stops the chip.
  uint64_t FirstAfter(size_t clock, uint64_t edges, uint64_t end) const;

 private:
  struct Clock {
    size_t wiring;
    uint32_t domain;
    uint64_t edges = 0;  // before now_
    // A cycle that was asked for, which is often the one where the chip stops next.
    uint64_t asked = 0, edges_then = 0;
  };

  uint64_t EdgesBefore(const Clock& clock, uint64_t cycle) const;
  uint64_t Remembered(Clock& clock, uint64_t cycle) const;

  std::vector<const sim::WireSource*> wires_;
  mutable std::vector<Clock> clocks_;
  uint64_t now_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_PARTS_H_
