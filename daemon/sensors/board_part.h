// SPDX-License-Identifier: Apache-2.0
//
// The part of a board that somebody may see: all of it, or metrics of some of its partitions.
//   if (part.is_whole() || part.Shows(/*partition=*/2, metric)) Show(value);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_PART_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_PART_H_

#include <cstdint>
#include <set>
#include <utility>

#include "proto/mailbox/board_items.h"

namespace sideband::daemon {

// Without partitions it is nothing.
class BoardPart {
 public:
  static BoardPart Whole() { return BoardPart(true); }
  BoardPart() = default;

  void Add(uint8_t partition, mailbox::MetricId metric) { metrics_.emplace(partition, metric); }

  bool is_whole() const { return is_whole_; }
  bool is_nothing() const { return !is_whole_ && metrics_.empty(); }
  // Of the partition and of its compute instances.
  bool Shows(uint8_t partition, mailbox::MetricId metric) const {
    return is_whole_ || metrics_.contains({partition, metric});
  }

 private:
  explicit BoardPart(bool is_whole) : is_whole_(is_whole) {}

  bool is_whole_ = false;
  std::set<std::pair<uint8_t, mailbox::MetricId>> metrics_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_PART_H_
