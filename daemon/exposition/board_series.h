// SPDX-License-Identifier: Apache-2.0
//
// What the families of boards' sensors have in common: a row of their tables, and where their samples go.
//   void WriteMargin(BoardSeries& out) { out.Gauge({{"sensor", "gpu"}}, out.reading().margin.celsius); }
//   constexpr BoardFamilyRow kFamilies[] = {
//       {"sideband_temperature_margin_celsius", MetricType::kGauge, "Degrees below the limit.", WriteMargin}};
#ifndef SIDEBAND_DAEMON_EXPOSITION_BOARD_SERIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_BOARD_SERIES_H_

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/unwrap.h"
#include "daemon/exposition/text_buffer.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

// A device's board in one rendering. `reading` outlives it.
struct BoardFrame {
  const BoardReading* reading;
  std::string device;  // {device="…"
  absl::Duration now;  // by the host's steady clock
  MetricsFormat format;
};

// Appends the samples of one family and one device. Refers to its arguments, which outlive it. Not thread-safe.
class BoardSeries {
 public:
  // Beside the device. A label with an empty value is left out.
  using Labels = std::initializer_list<std::pair<absl::string_view, absl::string_view>>;

  BoardSeries(absl::string_view name, const BoardFrame& frame, TextBuffer& out)
      : name_(name), frame_(frame), out_(out) {}

  const BoardReading& reading() const { return *frame_.reading; }
  absl::Duration now() const { return frame_.now; }

  // Without a value there is no sample. The sample is the value times `unit`.
  void Gauge(Labels labels, std::optional<double> value, double unit = 1);
  // A sample 1, with the labels that have a value; none if none has.
  void Info(std::span<const std::pair<absl::string_view, std::string>> labels);
  // With its time of creation in OpenMetrics.
  void Count(Labels labels, const std::optional<RunningCount>& count);
  // Likewise of a count of thousandths, such as millijoules: the sample has all digits of the whole unit.
  void MilliCount(Labels labels, const std::optional<RunningCount>& count);

 private:
  std::string LabelText(Labels labels) const;
  void WriteCount(Labels labels, absl::string_view value, absl::Time created);

  const absl::string_view name_;
  const BoardFrame& frame_;
  TextBuffer& out_;
};

struct BoardFamilyRow {
  const char* name;
  MetricType type;
  const char* help;
  void (*write)(BoardSeries& out);  // the samples of one device
};

// What a label says for a value of an enumeration.
template <typename Item>
struct BoardWord {
  Item item;
  const char* word;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_BOARD_SERIES_H_
