// SPDX-License-Identifier: Apache-2.0
#include "client/cli/reconnection.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "client/lib/rpc_status.h"
#include "proto/base/text.h"

namespace sideband::client {

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
