// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' sensors: the name of each, what it means, and its samples of a device, which a front end
// receives. Each front end renders these, so that all show the same.
//   for (const SensorFamily& family : SensorFamilies()) {
//     if (IsShown(family, sight.part)) family.write(series);
//   }
#ifndef SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_
#define SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {

// The part of a board that a caller may see: all of it, or metrics of some of its partitions.
//
// Without partitions it is nothing.
class BoardPart {
 public:
  static BoardPart Whole() { return BoardPart(true); }
  BoardPart() = default;

  void Add(uint8_t partition, mailbox::MetricId metric) { metrics_.emplace(partition, metric); }

  bool is_whole() const { return is_whole_; }
  bool is_nothing() const { return !is_whole_ && metrics_.empty(); }
  // Whether the metric of the partition and of its compute instances is shown.
  bool Shows(uint8_t partition, mailbox::MetricId metric) const {
    return is_whole_ || metrics_.contains({partition, metric});
  }

 private:
  explicit BoardPart(bool is_whole) : is_whole_(is_whole) {}

  bool is_whole_ = false;
  std::set<std::pair<uint8_t, mailbox::MetricId>> metrics_;
};

// Names and values, beside the device. Values are never empty.
using SensorLabels = std::span<const std::pair<absl::string_view, absl::string_view>>;

// A board as a caller sees it at an instant. What it refers to outlives it.
struct BoardSight {
  const BoardReading& reading;
  const BoardPart& part;
  absl::Duration now;  // by the host's steady clock
};

// Takes the samples of one family and one device; a front end derives from it. Not thread-safe.
class BoardSeries {
 public:
  // A label with an empty value is left out.
  using Labels = std::initializer_list<std::pair<absl::string_view, absl::string_view>>;

  // `sight` outlives it.
  explicit BoardSeries(const BoardSight& sight) : sight_(sight) {}
  virtual ~BoardSeries() = default;

  const BoardReading& reading() const { return sight_.reading; }
  const BoardPart& part() const { return sight_.part; }
  absl::Duration now() const { return sight_.now; }

  // Without a value there is no sample. The sample is the value times `unit`.
  void Gauge(Labels labels, std::optional<double> value, double unit = 1);
  // A sample 1, with the labels that have a value; none if none has.
  void Info(std::span<const std::pair<absl::string_view, std::string>> labels);
  void Count(Labels labels, const std::optional<RunningCount>& count);
  // Takes a gauge of a partition, or of one of its compute instances, with the labels `partition` and `instance`.
  void PartitionGauge(const MetricScope& scope, std::optional<double> value);
  // Takes a count of thousandths of the family's unit, such as millijoules.
  void MilliCount(Labels labels, const std::optional<RunningCount>& count);

 protected:
  virtual void TakeGauge(SensorLabels labels, double value) = 0;
  // Takes a gauge of a partition; unless overridden, as any other gauge.
  virtual void TakePartitionGauge(uint8_t partition, SensorLabels labels, double value);
  // The sample is the count divided by `per_unit`, which is 1 or 1000.
  virtual void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) = 0;

 private:
  const BoardSight& sight_;
};

struct BoardFamilyRow {
  const char* name;
  MetricType type;
  BoardGroup group;  // whose time is that of the samples
  const char* help;
  void (*write)(BoardSeries& out);  // the samples of one device
};

// The word of a label for a value of an enumeration.
template <typename Item>
struct BoardWord {
  Item item;
  const char* word;
};

struct SensorFamily {
  std::string name;
  MetricType type;
  BoardGroup group;  // whose time is that of the samples; see GroupIn()
  std::string help;
  // The metric of a family of partitions. Such a family leaves out the partitions that are not shown. Others are for
  // callers that see the whole board.
  std::optional<mailbox::MetricId> partition_metric;
  std::function<void(BoardSeries& out)> write;  // thread-safe
  // A group that has the samples instead where it was read: they are then measured apart from the others.
  std::optional<BoardGroup> own_group = {};

  // The group whose time is that of the samples of this reading.
  BoardGroup GroupIn(const BoardReading& reading) const {
    return own_group && reading.samples.contains(*own_group) ? *own_group : group;
  }
};

// By name, each once. Of static lifetime. Thread-safe.
std::span<const SensorFamily> SensorFamilies();

// Whether the family may have samples for who sees the part.
inline bool IsShown(const SensorFamily& family, const BoardPart& part) {
  return part.is_whole() || family.partition_metric.has_value();
}

// The family of the groups' ages, which is not measured: its samples change with the time at which they are asked for.
inline constexpr char kSampleAges[] = "sideband_board_sample_age_seconds";

// The families of boards' clocks, and of what slows them down.
std::span<const BoardFamilyRow> BoardClockFamilies();

// The families of boards' video and JPEG decoders.
std::span<const BoardFamilyRow> BoardDecoderFamilies();

// The families of boards' PCIe link and NVLinks.
std::span<const BoardFamilyRow> BoardLinkFamilies();

// The families of boards' memories and their errors.
std::span<const BoardFamilyRow> BoardMemoryFamilies();

// The families of boards' performance metrics: for each metric one of the whole device, and one of its partitions.

// A gauge.
struct BoardMetricFamily {
  std::string name;
  std::string help;
  mailbox::MetricId metric;
  bool is_of_partitions = false;
  void (*write)(mailbox::MetricId metric, BoardSeries& out);  // the samples of one device
};
std::vector<BoardMetricFamily> BoardMetricFamilies();

// The families of boards' identity, flags, events and messages, and of how old all values are.
std::span<const BoardFamilyRow> BoardStateFamilies();

// The families of boards' temperatures, powers and energy.
std::span<const BoardFamilyRow> BoardThermalFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_
