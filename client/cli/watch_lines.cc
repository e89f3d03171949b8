// SPDX-License-Identifier: Apache-2.0
#include "client/cli/watch_lines.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/render.h"
#include "client/cli/table.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// "vm0/train"; "device" for the device itself.
std::string NameOf(const v1::Scope& scope) {
  const std::string vm = VmText(scope);
  if (vm.empty()) return "device";
  return absl::StrCat(vm, scope.context().empty() ? "" : "/", scope.context());
}

std::string DeviceText(const v1::Device& device, bool is_gone) {
  if (is_gone) return absl::StrCat(device.name(), " is gone");
  const std::string boot = device.boot_id() == 0 ? "" : absl::StrCat(", boot ", BootIdText(device.boot_id()));
  return absl::StrCat(device.name(), " is ", StateText(device.state()), boot);
}

std::string ScopeText(const v1::ScopeState& state, bool is_gone) {
  const v1::Scope& scope = state.scope();
  std::string text = absl::StrCat(scope.device(), " ", NameOf(scope), " is ");
  if (is_gone) return text + "gone";
  absl::StrAppend(&text, scope.confidential() ? "confidential" : StateText(state.state()));
  if (state.flags_size() > 0) absl::StrAppend(&text, " (", absl::StrJoin(state.flags(), ", "), ")");
  return text;
}

std::string LimitText(const v1::SensorLimit& limit, bool is_gone) {
  std::string text = absl::StrCat(limit.device(), " ", limit.sensor().name());
  for (const v1::SensorLabel& label : limit.sensor().labels()) {
    absl::StrAppend(&text, " ", label.name(), "=", label.value());
  }
  return is_gone ? absl::StrCat(text, " is gone") : absl::StrCat(text, " is ", limit.sensor().value());
}

std::string MarkText(const v1::MarkInfo& mark, bool is_gone) {
  const std::string text = absl::StrCat(mark.scope().device(), " ", NameOf(mark.scope()), " mark ", mark.mark_id());
  if (is_gone) return text + " is gone";
  const std::string name = v1::MarkInfo::State_Name(mark.state());
  const std::string state = absl::AsciiStrToLower(absl::StripPrefix(name, "STATE_"));
  return absl::StrCat(text, " is ", state, mark.label().empty() ? "" : ": ", mark.label());
}

std::string EventText(const v1::WatchBoardEventsResponse& event) {
  if (event.has_driver_message()) {
    return absl::StrCat(event.device(), " xid ", event.driver_message().xid(), ": ", event.driver_message().text());
  }
  if (event.has_raised()) {
    return absl::StrCat(event.device(), " ", event.raised().name(), " raised ",
                        PluralText(event.raised().count(), "time"));
  }
  return absl::StrCat(event.device(), " ", LostText(event.messages_lost()));
}

std::string TextOf(const v1::StateItem& item) {
  switch (item.item_case()) {
    case v1::StateItem::kDevice:
      return DeviceText(item.device(), item.gone());
    case v1::StateItem::kScope:
      return ScopeText(item.scope(), item.gone());
    case v1::StateItem::kLimit:
      return LimitText(item.limit(), item.gone());
    case v1::StateItem::kMark:
      return MarkText(item.mark(), item.gone());
    case v1::StateItem::kBoardEvent:
      return EventText(item.board_event());
    case v1::StateItem::ITEM_NOT_SET:
      break;
  }
  return "an item that this version does not know";
}

const char* ReasonText(v1::Gap::Reason reason) {
  switch (reason) {
    case v1::Gap::REASON_UNKNOWN_TOKEN:
      return "the daemon has restarted, or does not know this stream";
    case v1::Gap::REASON_POLICY_CHANGED:
      return "the policy has changed";
    case v1::Gap::REASON_REBOOTED:
      return "the device has restarted";
    case v1::Gap::REASON_NOT_KEPT:
      return "not all was kept";
    case v1::Gap::REASON_STATE_CHANGED:
      return "something has changed";
    case v1::Gap::REASON_GONE:
      return "it is gone";
    case v1::Gap::REASON_APPEARED:
      return "it has appeared";
    default:
      return "for an unknown reason";
  }
}

}  // namespace

std::string ChangeLines(const v1::StateChange& change, absl::Time now, const std::string& host) {
  const std::string time = absl::FormatTime("%H:%M:%E1S", now, absl::UTCTimeZone());
  const std::string start = host.empty() ? time : absl::StrCat(time, " ", host);
  std::string lines;
  for (const v1::StateItem& item : change.items()) {
    // Names and texts may be chosen by other parties.
    absl::StrAppend(&lines, Visible(absl::StrCat(start, " ", TextOf(item))), "\n");
  }
  return lines;
}

std::string GapText(const v1::Gap& gap) {
  std::string text = gap.device().empty() ? "a gap" : absl::StrCat(Visible(gap.device()), ": a gap");
  if (gap.has_from()) absl::StrAppend(&text, " from ", TimeText(ToTime(gap.from())));
  return absl::StrCat(text, " to ", TimeText(ToTime(gap.to())), ": ", ReasonText(gap.reason()),
                      "; the present state follows");
}

namespace {

constexpr size_t kTitleWidthMax = 8;
constexpr size_t kTitleLines = 2;
constexpr char kFlagged[] = "*";

std::string TimeOf(const v1::Snapshot& snapshot, bool wide) {
  if (!snapshot.has_host_time()) return "-";
  const absl::Time time = ToTime(snapshot.host_time());
  return wide ? TimeText(time) : absl::FormatTime("%H:%M:%E1S", time, absl::UTCTimeZone());
}

const v1::Counter* FindCounter(const v1::ScopeCounters& row, const std::string& event) {
  const auto found = std::ranges::find(row.counters(), event, &v1::Counter::event);
  return found == row.counters().end() ? nullptr : &*found;
}

std::string NameText(const std::string& name) { return name.empty() ? "-" : Visible(name); }

std::string Padded(const std::string& text, size_t width, bool is_left) {
  const std::string spaces(width - std::min(width, DisplayWidth(text)), ' ');
  return is_left ? text + spaces : spaces + text;
}

}  // namespace

bool WatchLines::IsShown(const v1::ScopeCounters& row, const v1::Snapshot& snapshot) const {
  if (options_.contexts || row.scope().context().empty()) return true;
  return std::ranges::all_of(snapshot.scopes(), [](const auto& other) { return !other.scope().context().empty(); });
}

bool WatchLines::Adapt(const v1::Snapshot& snapshot, const std::string& host) {
  const auto sizes = [this] {
    return std::tuple(events_.size(), host_width_, device_width_, vm_width_, context_width_, has_estimates_);
  };
  const auto before = sizes();
  if (!host.empty()) host_width_ = std::max({host_width_, DisplayWidth(NameText(host)), std::string("HOST").size()});
  device_width_ = std::max(device_width_, DisplayWidth(NameText(snapshot.device())));
  for (const v1::ScopeCounters& row : snapshot.scopes()) {
    if (!IsShown(row, snapshot)) continue;
    const v1::Scope& scope = row.scope();
    vm_width_ = std::max(vm_width_, DisplayWidth(NameText(VmText(scope))));
    if (!scope.context().empty()) {
      context_width_ =
          std::max({context_width_, DisplayWidth(NameText(scope.context())), std::string("CONTEXT").size()});
    }
    for (const v1::Counter& counter : row.counters()) {
      has_estimates_ = has_estimates_ || IsEstimated(row, counter);
      if (std::ranges::find(events_, counter.event()) == events_.end()) events_.push_back(counter.event());
    }
  }
  return before != sizes();
}

size_t WatchLines::ValueWidth() const {
  const bool is_share = options_.value == LineValue::kUtilisation || options_.value == LineValue::kCoverage;
  if (style_.raw) return is_share ? 8 : 20;
  const bool is_marked = has_estimates_ && options_.value != LineValue::kCoverage;
  return (options_.value == LineValue::kUtilisation ? 6 : 7) + (is_marked ? 1 : 0);
}

std::vector<WatchLines::Column> WatchLines::NameColumns() const {
  std::vector<Column> columns = {{"", "TIME (UTC)", size_t{style_.wide ? 24u : 10u}, true}};
  if (host_width_ > 0) columns.push_back({"", "HOST", host_width_, true});
  columns.push_back({"", "DEVICE", device_width_, true});
  columns.push_back({"", "VM", vm_width_, true});
  if (context_width_ > 0) columns.push_back({"", "CONTEXT", context_width_, true});
  return columns;
}

// dram_read_cycles has the titles "dram" and "read", one above the other.
WatchLines::Column WatchLines::EventColumn(const std::string& event) const {
  const std::string name(absl::StripSuffix(Visible(event), "_cycles"));
  const size_t last = name.find_last_of('_');
  Column column{.top = last == std::string::npos ? "" : name.substr(0, last),
                .bottom = last == std::string::npos ? name : name.substr(last + 1)};
  for (std::string* title : {&column.top, &column.bottom}) {
    if (!style_.wide) *title = ShortenedAtEnd(*title, kTitleWidthMax);
    column.width = std::max({column.width, DisplayWidth(*title), ValueWidth()});
  }
  return column;
}

std::vector<WatchLines::Column> WatchLines::Columns() const {
  std::vector<Column> columns = NameColumns();
  size_t width = 0;
  for (const Column& column : columns) width += column.width + 1;
  for (const std::string& event : events_) {
    Column column = EventColumn(event);
    width += column.width + 1;
    if (!options_.all_events && !style_.wide && width + 1 > style_.columns) break;
    columns.push_back(std::move(column));
  }
  return columns;
}

size_t WatchLines::shown_events() const { return Columns().size() - NameColumns().size(); }

// Idle rows are ordinary: contexts share the device by time slices.
std::string WatchLines::Flags(const v1::ScopeCounters& row) const {
  std::vector<std::string> flags(row.flags().begin(), row.flags().end());
  std::vector<std::string> concerned;
  const size_t shown = shown_events();
  for (size_t i = 0; i < shown; ++i) {
    const v1::Counter* const counter = FindCounter(row, events_[i]);
    if (counter != nullptr) absl::c_copy(FlagsOf(row, *counter), std::back_inserter(concerned));
  }
  std::erase_if(flags, [&](const std::string& flag) {
    return !row.counters().empty() && !absl::c_linear_search(concerned, flag);
  });
  if (row.state() == v1::ScopeCounters::STATE_RETIRED) flags.insert(flags.begin(), StateText(row.state()));
  return absl::StrJoin(flags, ", ");
}

std::string WatchLines::Titles() const {
  std::string top, bottom;
  for (const Column& column : Columns()) {
    absl::StrAppend(&top, Padded(column.top, column.width, column.is_left), " ");
    absl::StrAppend(&bottom, Padded(column.bottom, column.width, column.is_left), " ");
  }
  for (std::string* line : {&top, &bottom}) absl::StripTrailingAsciiWhitespace(line);
  return absl::StrCat(top, "\n", bottom, "\n");
}

std::string WatchLines::ValueText(const v1::ScopeCounters& row, const v1::Counter* counter) const {
  if (counter == nullptr) return "-";
  const std::string text = ExactText(row, *counter);
  const bool is_number_of_it = text != "-" && options_.value != LineValue::kCoverage;
  return is_number_of_it && IsEstimated(row, *counter) ? EstimateText(text, style_) : text;
}

std::string WatchLines::ExactText(const v1::ScopeCounters& row, const v1::Counter& shown) const {
  const v1::Counter* const counter = &shown;
  const v1::Ratio* const utilisation = FindUtilisation(row, counter->event());
  const bool has_share = options_.value == LineValue::kAuto || options_.value == LineValue::kUtilisation;
  const bool has_rate = options_.value == LineValue::kAuto || options_.value == LineValue::kRate;
  if (options_.value == LineValue::kCount) {
    return style_.raw ? absl::StrCat(counter->count()) : CompactText(static_cast<double>(counter->count()), "");
  }
  if (options_.value == LineValue::kCoverage) {
    if (!counter->has_coverage()) return CoverageText(1, style_);
    return counter->has_rate_coverage() ? CoverageText(counter->rate_coverage(), style_) : "-";
  }
  if (has_share && utilisation != nullptr) {
    return style_.raw ? ShareText(utilisation->value(), style_) : CompactShareText(utilisation->value());
  }
  if (!has_rate || !counter->has_rate_per_second()) return "-";
  const double rate = counter->rate_per_second();
  return style_.raw ? ScaledText(rate, "/s", style_) : CompactText(rate, "/s");
}

std::string WatchLines::Line(const v1::Snapshot& snapshot, const v1::ScopeCounters& row,
                             const std::string& host) const {
  const std::vector<Column> columns = Columns();
  std::vector<std::string> cells = {TimeOf(snapshot, style_.wide)};
  if (host_width_ > 0) cells.push_back(NameText(host));
  cells.push_back(NameText(snapshot.device()));
  cells.push_back(NameText(VmText(row.scope())));
  if (context_width_ > 0) cells.push_back(NameText(row.scope().context()));
  for (size_t i = 0; cells.size() < columns.size(); ++i) {
    cells.push_back(ValueText(row, FindCounter(row, events_[i])));
  }
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppend(&line, Padded(cells[i], columns[i].width, columns[i].is_left), " ");
  }
  if (!Flags(row).empty()) line += kFlagged;
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

void WatchLines::NoteFlags(const std::string& device, const v1::ScopeCounters& row) {
  const v1::Scope& scope = row.scope();
  const std::string flags = Flags(row);
  std::string name = device;
  for (const std::string& part : {VmText(scope), scope.context()})
    absl::StrAppend(&name, part.empty() ? "" : " ", part);
  std::string& noted = flags_[name];
  if (flags != noted && !flags.empty()) notes_.push_back(absl::StrCat(name, ": ", flags, " (", kFlagged, ")"));
  noted = flags;
}

std::vector<std::string> WatchLines::TakeNotes() { return std::exchange(notes_, {}); }

std::string WatchLines::Render(const v1::Snapshot& snapshot, size_t rows, const std::string& host) {
  const bool has_changed = Adapt(snapshot, host);
  const std::string device = host.empty() ? snapshot.device() : absl::StrCat(host, " ", snapshot.device());
  std::string text;
  for (const v1::ScopeCounters& row : snapshot.scopes()) {
    if (!IsShown(row, snapshot)) continue;
    const bool is_full = rows > kTitleLines + 1 && lines_ + 1 >= rows;  // the last row is the cursor's
    if (lines_ == 0 || is_full || (has_changed && text.empty())) {
      text += Titles();
      lines_ = kTitleLines;
    }
    text += Line(snapshot, row, host);
    NoteFlags(device, row);
    ++lines_;
  }
  return text;
}

}  // namespace sideband::client
