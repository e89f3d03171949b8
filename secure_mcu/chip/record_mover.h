// SPDX-License-Identifier: Apache-2.0
//
// Moves records from the collection units through the channel buffer to the reduction channels, in device cycles: a
// unit sends a record every `record_cycles`, the buffer routes a record every `route_cycles`, and a full buffer stalls
// the units.
#ifndef SIDEBAND_SECURE_MCU_CHIP_RECORD_MOVER_H_
#define SIDEBAND_SECURE_MCU_CHIP_RECORD_MOVER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "secure_mcu/pipeline/channel_buffer.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Not thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_RECORD_MOVER_H_
