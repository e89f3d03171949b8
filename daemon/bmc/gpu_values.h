// SPDX-License-Identifier: Apache-2.0
//
// The state of one GPU, as its BMC reports it: the newest sample of each quantity, with its time. A reading has the
// samples that are not too old. Each group of it has the time of its oldest value, so that no value is older than its
// group's time says; the time goes back when an older value joins.
//   GpuValues gpu;
//   gpu.Take(*row, index, parsed, {.measured = time, .keep = absl::Seconds(15)}, now);
//   boards.Publish(device, gpu.Reading(now));
#ifndef SIDEBAND_DAEMON_BMC_GPU_VALUES_H_
#define SIDEBAND_DAEMON_BMC_GPU_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/bmc/quantities.h"
#include "daemon/board/board_reading.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {

// The ages of an answer's values, from its times by the BMC's clock, which may be wrong and may jump: only differences
// within an answer count. If the newest time of an answer is that of the last one, nothing was measured since: the
// values are then as old as when it was first seen. Of one report or resource. Not thread-safe.
class AnswerAges {
 public:
  // An answer has come at `arrived` (a steady time); `newest` is the newest time of its values that are served.
  // Without times its values are as old as it is.
  void Take(std::optional<absl::Time> newest, absl::Duration arrived);
  // When a value of that answer was measured, by the steady clock.
  absl::Duration TimeOf(std::optional<absl::Time> stamp) const;
  // When the newest value of that answer was measured.
  absl::Duration newest() const { return seen_; }

 private:
  std::optional<absl::Time> newest_;
  absl::Duration seen_;
};

struct SampleTime {
  absl::Duration measured;          // by the steady clock
  absl::Duration keep;              // for so long the sample is shown
  std::optional<absl::Time> stamp;  // the BMC's time of it
};

// Not thread-safe.
class GpuValues {
 public:
  // `parsed` has no omission. A sample with the BMC's time of the last one is that one.
  void Take(const BmcQuantity& row, std::optional<uint8_t> index, const BmcParsed& parsed, const SampleTime& time,
            const BoardTime& now);
  // Drops the elements of a list: the answer that has come has all that there are.
  void DropList(const BmcQuantity& row);
  // The log of the driver's messages was read; it has these new ones.
  void TakeMessages(const std::vector<mailbox::DriverEvent>& messages, const BoardTime& now);
  // Another GPU is in this place: all counters begin again.
  void Restart();

  // How many samples there are.
  size_t size() const { return entries_.size(); }
  // Drops what is too old. Never nullptr.
  std::shared_ptr<const BoardReading> Reading(const BoardTime& now);

 private:
  struct Entry {
    BmcSample sample;
    SampleTime time;
    BoardTime measured;
  };
  using Key = std::pair<const BmcQuantity*, int>;  // the row, and -1 or the index

  std::map<Key, Entry> entries_;
  DriverMessageReading messages_;
  std::optional<BoardTime> messages_read_;
  CountBook counts_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_GPU_VALUES_H_
