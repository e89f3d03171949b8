// SPDX-License-Identifier: Apache-2.0
#include "client/cli/empty_notes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/lib/rpc_status.h"

namespace sideband::client {
namespace {

using Names = std::vector<std::string>;

constexpr char kNoDevice[] = "there is no device that this caller may see, or it has not answered yet";
constexpr char kConfidentialExcluded[] = "confidential_excluded";

// The names and patterns of `wanted` that match nothing in `shown`.
Names Missing(const Names& wanted, const std::set<std::string>& shown) {
  Names missing;
  for (const std::string& name : wanted) {
    const auto matches = [&](const std::string& one) { return !one.empty() && Matches(name, one); };
    if (std::ranges::none_of(shown, matches)) missing.push_back(name);
  }
  return missing;
}

// Whether the event was counted at any point.
bool HasNumbers(const v1::HistoryColumn& column) {
  const auto& coverage = column.coverage().of_counts();
  return !column.has_coverage() || std::ranges::any_of(coverage, [](double of_count) { return of_count != 0; });
}

class EmptyExplanation {
 public:
  EmptyExplanation(const Selection& selection, const ShownNames& shown, TelemetryClient& client)
      : options_(selection.options()), shown_(shown), client_(client) {}

  Names Notes() && {
    const Names events = MissingEvents();
    const Names vms = Missing(options_.vms, shown_.vms);
    const Names devices = Missing(options_.devices, shown_.devices);
    // Every selected name has counters.
    if (!shown_.events.empty() && events.empty() && vms.empty() && devices.empty()) return {};
    ExplainDevices(devices);
    if (!is_away_) {
      for (const std::string& vm : vms) ExplainVm(vm);
      if (!events.empty()) ExplainEvents(events);
    }
    if (notes_.empty()) ExplainBoards();
    return std::move(notes_);
  }

 private:
  void Note(std::string note) { notes_.push_back(std::move(note)); }

  bool Selects(const std::string& device) const { return IsChosen(options_.devices, device); }

  Names MissingEvents() const {
    const Names shown(shown_.events.begin(), shown_.events.end());
    Names wanted;
    for (const std::string& name : options_.events) wanted.push_back(EventPattern(name, shown));
    return Missing(wanted, shown_.events);
  }

  void ExplainDevices(const Names& missing) {
    // Notes are optional: a failed request leaves them out.
    const auto listed = client_.ListDevices({});
    if (!listed.ok()) return;
    v1::ListDevicesResponse selected;
    for (const v1::Device& device : listed->devices()) {
      if (Selects(device.name())) *selected.add_devices() = device;
    }
    for (const std::string& name : missing) {
      if (selected.devices().empty()) Note(absl::StrCat("no device matches '", name, "'"));
    }
    if (notes_.empty()) notes_ = AwayNotes(selected);
    for (const v1::Device& device : selected.devices()) {
      if (IsBoardAlone(device)) boards_.push_back(device.name());
    }
    // Devices without a snapshot explain everything that is missing.
    is_away_ = !notes_.empty() && shown_.events.empty();
  }

  void ExplainBoards() {
    for (const std::string& board : boards_) {
      Note(absl::StrCat(board, " is a board without counters: see sideband sensors --device ", board));
    }
  }

  void ExplainVm(const std::string& vm) {
    const auto listed = client_.ListScopes({});
    if (!listed.ok()) return;
    const v1::Scope* match = nullptr;
    for (const v1::Scope& scope : listed->scopes()) {
      if (scope.vm().empty() || !(Matches(vm, scope.vm()) || Matches(vm, scope.vm_uuid()))) continue;
      if (!scope.confidential()) return;  // the VM is readable and not the reason
      match = &scope;
    }
    if (match != nullptr) {
      Note(absl::StrCat("VM '", match->vm(), "' is confidential: its counters are in sealed records only"));
    } else if (IsPattern(vm)) {
      // The daemon has accepted a plain name, so only a pattern can match no VM.
      Note(absl::StrCat("no VM matches '", vm, "'"));
    }
  }

  void ExplainEvents(const Names& missing) {
    const auto listed = client_.ListEvents({});
    if (!listed.ok()) return;
    Names known;
    for (const auto& device : listed->devices()) {
      if (!Selects(device.device())) continue;
      for (const v1::Event& event : device.events()) known.push_back(event.name());
    }
    for (const std::string& name : missing) {
      const std::string pattern = EventPattern(name, known);
      if (!std::ranges::any_of(known, [&](const std::string& event) { return Matches(pattern, event); })) {
        Note(absl::StrCat("no event matches '", name, "'"));
        continue;
      }
      for (const auto& device : listed->devices()) {
        if (!Selects(device.device())) continue;
        for (const v1::Event& event : device.events()) {
          if (Matches(pattern, event.name())) ExplainEvent(device.device(), event);
        }
      }
    }
  }

  void ExplainEvent(const std::string& device, const v1::Event& event) {
    const std::string start = absl::StrCat(device, ": event '", event.name(), "' ");
    if (event.masked()) return Note(absl::StrCat(start, "is masked: the device does not count it"));
    if (event.has_gate_group()) {
      return Note(absl::StrCat(start, "has not been counted yet: its gate group '", event.gate_group(),
                               "' was closed all the time"));
    }
    if (event.scope() != v1::Event::SCOPE_DEVICE) return;
    if (IsWithheld(device)) {
      return Note(absl::StrCat(start, "is withheld: it would reveal a confidential VM that is or was on the device"));
    }
    if (!options_.vms.empty() || !options_.context.empty()) {
      Note(absl::StrCat(start, "is counted for the device as a whole, not for VMs"));
    }
  }

  // Whether the device's row, as visible to the caller, excludes confidential VMs.
  bool IsWithheld(const std::string& device) {
    v1::GetSnapshotRequest request;
    request.mutable_filter()->set_device(device);
    const auto answer = client_.GetSnapshot(request);
    if (!answer.ok() || answer->snapshots().empty()) return false;
    const auto& rows = answer->snapshots(0).scopes();
    return std::ranges::any_of(rows, [](const v1::ScopeCounters& row) {
      return std::ranges::find(row.flags(), kConfidentialExcluded) != row.flags().end();
    });
  }

  const FilterOptions& options_;
  const ShownNames& shown_;
  TelemetryClient& client_;
  Names notes_;
  Names boards_;  // without counters
  bool is_away_ = false;
};

}  // namespace

ShownNames ShownNames::Of(const v1::GetSnapshotResponse& response) {
  ShownNames shown;
  for (const v1::Snapshot& snapshot : response.snapshots()) {
    for (const v1::ScopeCounters& row : snapshot.scopes()) {
      if (row.counters().empty()) continue;
      shown.devices.insert(snapshot.device());
      shown.vms.insert({VmText(row.scope()), row.scope().vm_uuid()});
      for (const v1::Counter& counter : row.counters()) shown.events.insert(counter.event());
    }
  }
  return shown;
}

ShownNames ShownNames::Of(const v1::GetHistoryResponse& response) {
  ShownNames shown;
  for (const v1::DeviceHistory& device : response.devices()) {
    for (const v1::HistorySeries& series : device.series()) {
      if (series.columns().empty()) continue;
      shown.devices.insert(device.device());
      shown.vms.insert({VmText(series.scope()), series.scope().vm_uuid()});
      for (const v1::HistoryColumn& column : series.columns()) {
        if (!HasNumbers(column)) continue;
        const int event = static_cast<int>(column.event());
        if (event < device.events_size()) shown.events.insert(device.events(event));
      }
    }
  }
  return shown;
}

std::vector<std::string> EmptyNotes(const Selection& selection, const ShownNames& shown, TelemetryClient& client) {
  return EmptyExplanation(selection, shown, client).Notes();
}

std::vector<std::string> StaleNotes(const v1::GetSnapshotResponse& shown) {
  std::vector<std::string> notes;
  for (const v1::Snapshot& snapshot : shown.snapshots()) {
    if (snapshot.device_state() != v1::Device::STATE_STALE) continue;
    const absl::Duration age = absl::Trunc(ToDuration(snapshot.age()), absl::Seconds(1));
    notes.push_back(absl::StrCat(snapshot.device(), " is stale: its newest snapshot is ", absl::FormatDuration(age),
                                 " old; there are no rates"));
  }
  return notes;
}

std::vector<std::string> AwayNotes(const v1::ListDevicesResponse& devices) {
  if (devices.devices().empty()) return {kNoDevice};
  std::vector<std::string> notes;
  for (const v1::Device& device : devices.devices()) {
    if (device.state() == v1::Device::STATE_AWAY) notes.push_back(NotAnsweredText(device.name()));
  }
  return notes;
}

absl::Status CheckAnswered(const std::vector<std::string>& chosen, TelemetryClient& client) {
  const auto listed = client.ListDevices({});
  if (!listed.ok()) return listed.status();
  v1::ListDevicesResponse selected;
  for (const v1::Device& device : listed->devices()) {
    if (IsChosen(chosen, device.name())) *selected.add_devices() = device;
  }
  if (selected.devices().empty() && !listed->devices().empty()) return absl::OkStatus();
  const std::vector<std::string> away = AwayNotes(selected);
  const bool has_answered = static_cast<int>(away.size()) < selected.devices_size();
  return has_answered ? absl::OkStatus() : MarkRemote(absl::UnavailableError(absl::StrJoin(away, "; ")));
}

void NoteEmptyListing(const std::vector<std::string>& chosen, TelemetryClient& client, CommandContext& context) {
  const auto selection = Selection::Resolve({.devices = chosen}, client);
  if (!selection.ok()) return;
  const auto notes = EmptyNotes(*selection, ShownNames(), client);
  for (const std::string& note : notes) context.Note(note);
  if (notes.empty()) context.Note("nothing that this caller may see matches");
}

}  // namespace sideband::client
