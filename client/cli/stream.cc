// SPDX-License-Identifier: Apache-2.0
#include "client/cli/stream.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/lib/rpc_status.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);  // the daemon rejects shorter intervals
constexpr absl::Duration kIntervalMax = absl::Hours(24);

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckInterval(const std::string& text) {
  const auto interval = ParseLength(text);
  return interval && *interval >= kIntervalMin && *interval <= kIntervalMax
             ? ""
             : absl::StrCat("'", text, "' is not a duration from 10ms to 24h, such as 5s");
}

constexpr int kIntervalsUntilStale = 3;  // as in the daemon

}  // namespace

void IntervalOption::AddTo(CLI::App& app) {
  app.add_option("--interval", text, "Time between updates, such as 500ms, or seconds; default: the device's own")
      ->check(CheckInterval)
      ->type_name("DURATION");
}

absl::Duration IntervalOption::value() const { return ParseLength(text).value_or(absl::ZeroDuration()); }

void SetSampleInterval(absl::Duration interval, v1::SubscribeRequest& request) {
  if (interval <= absl::ZeroDuration()) return;
  request.mutable_sample_interval()->set_seconds(absl::IDivDuration(interval, absl::Seconds(1), &interval));
  request.mutable_sample_interval()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(interval)));
}

bool StreamPrinter::Write(const std::string& text) {
  absl::Status written = context_.out().Write(text);
  return written.ok() || Fail(std::move(written));
}

bool StreamPrinter::Count() {
  ++count_;
  return !IsComplete();
}

bool StreamPrinter::Fail(absl::Status error) {
  error_ = std::move(error);
  return false;
}

absl::Status StreamPrinter::End(const absl::Status& stream) const {
  if (!error_.ok()) return error_;
  if (!stream.ok() || IsComplete() || context_.cancellation().cancelled()) return stream;
  // The call ended with OK although neither the printer nor the user had ended it.
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

bool DeviceStates::IsQuiet(const Known& device) const {
  if (device.state != v1::Device::STATE_FRESH) return true;
  if (device.is_board_alone) return context_.Now() - listed_at_ > kBoardPeriod;
  return context_.Now() - device.heard > device.patience;
}

bool DeviceStates::List(TelemetryClient& client, std::map<std::string, v1::Device>& listed) const {
  const auto response = client.ListDevices({});
  if (!response.ok()) return false;
  for (const v1::Device& device : response->devices()) {
    if (IsChosen(devices_, device.name())) listed.emplace(device.name(), device);
  }
  return true;
}

DeviceStates::Known& DeviceStates::Adopt(const v1::Device& device) {
  Known& known = known_[device.name()];
  known.state = device.state();
  known.is_board_alone = IsBoardAlone(device);
  known.patience = std::max(kIntervalsUntilStale * ToDuration(device.interval()), interval_ + kPeriod);
  return known;
}

void DeviceStates::Learn(TelemetryClient& client) {
  std::map<std::string, v1::Device> listed;
  is_begun_ = List(client, listed);
  listed_at_ = context_.Now();
  for (const auto& [name, device] : listed) Adopt(device);
}

void DeviceStates::Received(const std::string& device, absl::Duration age) {
  Known& known = known_[device];
  known.heard = context_.Now() - age;
  known.is_board_alone = false;  // it may have another firmware now
}

void DeviceStates::Check(TelemetryClient& client) {
  const auto is_quiet = [this](const auto& entry) { return IsQuiet(entry.second); };
  if (is_begun_ && std::ranges::none_of(known_, is_quiet)) return;
  std::map<std::string, v1::Device> listed;
  if (!List(client, listed)) return;
  is_begun_ = true;
  listed_at_ = context_.Now();
  for (const auto& [name, device] : listed) {
    const Known before = known_[name];
    NoteChange(name, before, Adopt(device));
  }
  std::erase_if(known_, [&](const auto& entry) {
    const bool is_gone = !listed.contains(entry.first);
    if (is_gone && entry.second.state != v1::Device::STATE_UNSPECIFIED)
      context_.Note(absl::StrCat(entry.first, " is no longer listed"));
    return is_gone;
  });
}

bool DeviceStates::AreBoardsAlone() const {
  return !known_.empty() && std::ranges::all_of(known_, [](const auto& entry) { return entry.second.is_board_alone; });
}

void DeviceStates::NoteChange(const std::string& name, const Known& before, const Known& now) {
  if (now.state == before.state) return;
  if (now.state == v1::Device::STATE_STALE) {
    const std::string age = absl::FormatDuration(absl::Trunc(context_.Now() - now.heard, absl::Seconds(1)));
    const bool is_heard = now.heard != absl::InfinitePast();
    context_.Note(
        absl::StrCat(name, " is stale: ", is_heard ? "its newest snapshot is " + age + " old" : "it does not answer"));
  } else if (now.state == v1::Device::STATE_AWAY) {
    context_.Note(NotAnsweredText(name));
  } else if (now.state == v1::Device::STATE_FRESH && before.state != v1::Device::STATE_UNSPECIFIED) {
    context_.Note(absl::StrCat(name, " answers again"));
  }
}

Reconnection::Reconnection(CommandContext& context, Options options)
    : Reconnection([&context](const std::string& line) { context.Note(line); },
                   [&context](absl::Duration delay) { return context.Wait(delay); },
                   {.is_loss = std::move(options.is_loss),
                    .has_new_credentials = [&context] { return context.HasNewCredentials(); },
                    .waits_for_first = options.waits_for_first,
                    .steady_after = options.steady_after}) {}

bool Reconnection::MayPass(const absl::Status& ended) const {
  return MayOpenAgain(ended, {.was_open = was_open_,
                              .waits_for_first = options_.waits_for_first,
                              .starting_for = is_lost_ ? std::optional(waited_) : std::nullopt,
                              .has_new_credentials = options_.has_new_credentials()});
}

bool Reconnection::Again(const absl::Status& ended) {
  const bool may_open = was_open_ || options_.waits_for_first;
  // Errors that are not the daemon's are those of the output.
  const bool is_passing = IsRemote(ended) && MayPass(ended);
  if (!may_open || !(is_passing || options_.is_loss(ended))) return false;
  if (!is_lost_) {
    is_lost_ = true;
    if (messages_ >= options_.steady_after) delay_ = kDelayMin;
    messages_ = 0;
    for (auto& [device, seen] : seen_) seen.has_gap = true;
    note_(absl::StrCat(ended.message(), "; connecting again"));
  }
  if (!IsStarting(ended)) waited_ = absl::ZeroDuration();
  return WaitFor(RetryAfter(ended).value_or(absl::ZeroDuration()));
}

bool Reconnection::WaitFor(absl::Duration at_least) {
  const absl::Duration delay = std::max(delay_, at_least);
  waited_ += delay;
  delay_ = std::min(2 * delay_, kDelayMax);
  return !wait_(delay);
}

absl::StatusOr<std::unique_ptr<TelemetryClient>> Reconnection::Connect(CommandContext& context) {
  for (;;) {
    auto client = context.Connect();
    if (client.ok() || !MayPass(client.status()) || !WaitFor(absl::ZeroDuration())) return client;
  }
}

void Reconnection::Opened() {
  was_open_ = true;
  if (!is_lost_) return;
  is_lost_ = false;
  note_("connected again");
}

void Reconnection::Received() {
  Opened();
  messages_ = std::min(messages_ + 1, options_.steady_after);
}

bool Reconnection::Received(const v1::Snapshot& snapshot) {
  Received();
  const auto [entry, is_new] = seen_.try_emplace(snapshot.device());
  Seen& seen = entry->second;
  const Seen now{snapshot.boot_id(), snapshot.snapshot_id(), ToTime(snapshot.host_time())};
  // A new stream begins with the newest snapshot, which may have been printed before.
  if (!is_new && seen.boot_id == now.boot_id && seen.snapshot_id == now.snapshot_id) return false;
  if (!is_new) NoteGap(snapshot, seen);
  seen = now;
  return true;
}

// The delays go on growing for a connection that brings no more than this.
void Reconnection::Received(const v1::Resumed& resumed) {
  Opened();
  for (auto& [device, seen] : seen_) {
    if (resumed.device().empty() || resumed.device() == device) seen.has_gap = false;
  }
}

void Reconnection::Received(const v1::Gap& gap) {
  Opened();
  if (gap.reason() == v1::Gap::REASON_GONE) note_(absl::StrCat(gap.device(), " is no longer there, or not visible"));
  if (gap.reason() == v1::Gap::REASON_APPEARED) note_(absl::StrCat(gap.device(), " has appeared"));
  for (auto& [device, seen] : seen_) {
    if (gap.device().empty() || gap.device() == device) seen.has_gap = true;
  }
}

void Reconnection::NoteGap(const v1::Snapshot& snapshot, const Seen& before) {
  if (snapshot.boot_id() != before.boot_id) {
    note_(absl::StrCat(snapshot.device(), " has restarted: boot ", BootIdText(snapshot.boot_id()), " after ",
                       BootIdText(before.boot_id), "; its counts start from 0 again"));
  } else if (before.has_gap) {
    note_(absl::StrCat(snapshot.device(), ": no updates from ", TimeText(before.host_time), " to ",
                       TimeText(ToTime(snapshot.host_time())), ", snapshots ", before.snapshot_id, " to ",
                       snapshot.snapshot_id(), "; no counts are lost"));
  }
}

}  // namespace sideband::client
