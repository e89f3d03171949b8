// SPDX-License-Identifier: Apache-2.0
#include "client/cli/reconnection.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/message_text.h"
#include "client/lib/rpc_status.h"
#include "proto/base/boot_id.h"

namespace sideband::client {

bool Reconnection::IsLoss(const absl::Status& status) {
  return IsRemote(status) && (absl::IsUnavailable(status) || absl::IsCancelled(status));
}

bool Reconnection::Again(const absl::Status& ended) {
  const bool may_be_starting = is_lost_ && absl::IsNotFound(ended) && waited_ < kNamesPatience;
  const bool may_open = was_open_ || options_.waits_for_first;
  if (!may_open || !(options_.is_loss(ended) || may_be_starting)) return false;
  if (!is_lost_) {
    is_lost_ = true;
    waited_ = absl::ZeroDuration();
    if (messages_ >= options_.steady_after) delay_ = kDelayMin;
    messages_ = 0;
    for (auto& [device, seen] : seen_) seen.has_gap = true;
    note_(absl::StrCat(ended.message(), "; connecting again"));
  }
  const absl::Duration delay = delay_;
  waited_ += delay;
  delay_ = std::min(2 * delay_, kDelayMax);
  return !wait_(delay);
}

void Reconnection::Received() {
  was_open_ = true;
  messages_ = std::min(messages_ + 1, options_.steady_after);
  if (!is_lost_) return;
  is_lost_ = false;
  note_("connected again");
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

void Reconnection::Received(const v1::Resumed& resumed) {
  Received();
  for (auto& [device, seen] : seen_) {
    if (resumed.device().empty() || resumed.device() == device) seen.has_gap = false;
  }
}

void Reconnection::Received(const v1::Gap& gap) {
  Received();
  if (gap.reason() == v1::Gap::REASON_GONE) note_(absl::StrCat(gap.device(), " is no longer there, or not visible"));
  if (gap.reason() == v1::Gap::REASON_APPEARED) note_(absl::StrCat(gap.device(), " has appeared"));
  for (auto& [device, seen] : seen_) {
    if (gap.device().empty() || gap.device() == device) seen.has_gap = true;
  }
}

void Reconnection::NoteGap(const v1::Snapshot& snapshot, const Seen& before) {
  if (snapshot.boot_id() != before.boot_id) {
    note_(absl::StrCat(snapshot.device(), " has restarted: boot ", BootIdText(snapshot.boot_id()), " after ",
                       BootIdText(before.boot_id), "; its counts begin anew"));
  } else if (before.has_gap) {
    note_(absl::StrCat(snapshot.device(), ": no updates from ", TimeText(before.host_time), " to ",
                       TimeText(ToTime(snapshot.host_time())), ", snapshots ", before.snapshot_id, " to ",
                       snapshot.snapshot_id(), "; no counts are lost"));
  }
}

}  // namespace sideband::client
