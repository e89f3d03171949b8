// SPDX-License-Identifier: Apache-2.0
//
// Snapshots as lines, one per device and VM, in the manner of vmstat: titles once a screen, a column per event.
//   WatchLines lines({.value = LineValue::kAuto}, context.StyleOf(style));
//   out.Write(lines.Render(snapshot, terminal_rows));
#ifndef SIDEBAND_CLIENT_CLI_WATCH_LINES_H_
#define SIDEBAND_CLIENT_CLI_WATCH_LINES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Changes of state as lines, one for each item. Each begins with the time (UTC) at which the change was received:
// "22:13:20.0 gpu0 vm0/train is idle (overflow)". A `host` stands before the device.
std::string ChangeLines(const v1::StateChange& change, absl::Time now, const std::string& host = "");

// One line about a gap in a stream.
std::string GapText(const v1::Gap& gap);

// The value that a column shows. kAuto: the utilisation where there is one, otherwise the rate.
// kCoverage: the share of the interval's resident cycles in which it was counted.
enum class LineValue { kAuto, kUtilisation, kRate, kCount, kCoverage };

struct LineOptions {
  LineValue value = LineValue::kAuto;
  bool contexts = false;    // a line per context, too
  bool all_events = false;  // also those whose columns do not fit the line
};

class WatchLines {
 public:
  WatchLines(LineOptions options, TableStyle style) : options_(options), style_(style) {}

  // The snapshot's lines, each with the time (UTC) at which it was latched. Titles precede them at the first call, when
  // the columns change, and when the lines since the last titles fill `rows`, unless that is 0. A snapshot that has
  // rows of contexts only is shown with them. Unknown values are "-". "*" at its end marks a row with flags of the
  // counters in the line (FlagsOf() of render.h), or one that has ended. The column HOST is there from the first `host`
  // on.
  std::string Render(const v1::Snapshot& snapshot, size_t rows, const std::string& host = "");

  // A line for each row whose flags have changed since the last call, or that has ended: "gpu0 vm1: overflow (*)".
  std::vector<std::string> TakeNotes();

  // The number of events, and of those that have columns: all, except in a narrow line.
  size_t events() const { return events_.size(); }
  size_t shown_events() const;

 private:
  struct Column {
    std::string top, bottom;  // titles
    size_t width = 0;
    bool is_left = false;
  };

  bool IsShown(const v1::ScopeCounters& row, const v1::Snapshot& snapshot) const;
  // Widens the columns for the snapshot; returns whether they have changed.
  bool Adapt(const v1::Snapshot& snapshot, const std::string& host);
  size_t ValueWidth() const;
  std::vector<Column> NameColumns() const;
  Column EventColumn(const std::string& event) const;
  std::vector<Column> Columns() const;
  // The row's flags that concern a counter in its line, and that the row has ended.
  std::string Flags(const v1::ScopeCounters& row) const;
  std::string Titles() const;
  // The same without the mark of an estimate.
  std::string ExactText(const v1::ScopeCounters& row, const v1::Counter& counter) const;
  std::string ValueText(const v1::ScopeCounters& row, const v1::Counter* counter) const;
  std::string Line(const v1::Snapshot& snapshot, const v1::ScopeCounters& row, const std::string& host) const;
  void NoteFlags(const std::string& device, const v1::ScopeCounters& row);

  const LineOptions options_;
  const TableStyle style_;
  std::vector<std::string> events_;
  std::map<std::string, std::string> flags_;  // by row
  std::vector<std::string> notes_;
  size_t device_width_ = 6, vm_width_ = 4;
  size_t host_width_ = 0, context_width_ = 0;  // 0: no line of a host or a context yet
  bool has_estimates_ = false;                 // whether a line has had any
  size_t lines_ = 0;                           // since the titles, which count, too
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_WATCH_LINES_H_
