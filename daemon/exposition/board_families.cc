// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/board_families.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/sensors/board_series.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

// With all digits of the whole unit.
std::string CountText(uint64_t count, uint32_t per_unit) {
  if (per_unit == 1) return absl::StrCat(count);
  return absl::StrFormat("%d.%03d", count / per_unit, count % per_unit);
}

class TextSeries final : public BoardSeries {
 public:
  TextSeries(MetricsFormat format, absl::string_view name, absl::string_view device, const BoardSight& sight,
             TextBuffer& out)
      : BoardSeries(sight), format_(format), name_(name), device_(device), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double value) override {
    AppendSample(out_, name_, LabelText(labels), ValueText(value));
  }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    const std::string text = LabelText(labels);
    AppendSample(out_, name_, text, CountText(count.value, per_unit));
    AppendCreated(out_, format_, name_, text, count.created);
  }

 private:
  std::string LabelText(SensorLabels labels) const {
    std::string text = "{";
    AppendLabel(text, "device", device_);
    for (const auto& [name, value] : labels) AppendLabel(text, name, value);
    return text;
  }

  const MetricsFormat format_;
  const absl::string_view name_;
  const absl::string_view device_;
  TextBuffer& out_;
};

// A family without samples has no header either.
void WriteFamily(MetricsFormat format, const SensorFamily& family, const std::vector<VisibleBoard>& boards,
                 absl::Duration now, TextBuffer& out) {
  const size_t before = out.size();
  out.Append(FamilyHeader(format, family.name, family.type, family.help));
  const size_t after_header = out.size();
  for (const VisibleBoard& board : boards) {
    if (!IsShown(family, board.part)) continue;
    const BoardSight sight = {*board.reading, board.part, now};
    TextSeries series(format, family.name, board.device, sight, out);
    family.write(series);
  }
  if (out.size() == after_header) out.Truncate(before);
}

}  // namespace

std::string BoardFamiliesText(MetricsFormat format, const std::vector<VisibleBoard>& boards,
                              absl::Duration steady_now) {
  TextBuffer out;
  for (const SensorFamily& family : SensorFamilies()) WriteFamily(format, family, boards, steady_now, out);
  return std::string(out.text());
}

}  // namespace sideband::daemon
