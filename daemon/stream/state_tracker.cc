// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/state_tracker.h"

#include "absl/hash/hash.h"
#include "daemon/view/state_items.h"

namespace sideband::daemon {
namespace {

using sideband::v1::StateChange;
using sideband::v1::StateItem;

// A sum over all items: their order does not matter.
uint64_t PartOf(const std::pair<std::string, int>& key, uint64_t content) {
  return absl::HashOf(key.first, key.second, content);
}

}  // namespace

// Of several items of one identity, the first that was not visited yet.
StateTracker::Sent& StateTracker::SentOf(Items& items, const StateItem& item, Key& key) {
  key = {IdentityOf(item).SerializeAsString(), 0};
  for (;; ++key.second) {
    Sent& sent = items[key];
    if (sent.visit == visit_) continue;
    sent.visit = visit_;
    return sent;
  }
}

void StateTracker::Set(const Key& key, uint64_t content, Sent& sent) {
  if (sent.round != 0) digest_ -= PartOf(key, sent.content);
  digest_ += PartOf(key, content);
  sent.content = content;
  sent.round = round_;
}

StateChange StateTracker::Next(const std::string& device, const std::vector<StateItem>& present) {
  StateChange change;
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    const uint64_t content = absl::HashOf(item.SerializeAsString());
    if (sent.round != 0 && sent.content == content) continue;
    Set(key, content, sent);
    *change.add_items() = item;
    // What follows was not visited: what is gone is found at a later call.
    if (change.items_size() == kItemsMax) return change;
  }
  AddGone(items, change);
  if (items.empty()) devices_.erase(device);
  return change;
}

StateChange StateTracker::Repeat(const std::string& device, const std::vector<StateItem>& present) {
  StateChange change;
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    if (sent.round == round_ || sent.round == 0 || sent.content != absl::HashOf(item.SerializeAsString())) continue;
    sent.round = round_;
    *change.add_items() = item;
    if (change.items_size() == kItemsMax) break;
  }
  return change;
}

void StateTracker::AddGone(Items& items, StateChange& change) {
  for (auto at = items.begin(); at != items.end() && change.items_size() < kItemsMax;) {
    if (at->second.visit == visit_) {
      ++at;
      continue;
    }
    if (at->second.round != 0) {
      digest_ -= PartOf(at->first, at->second.content);
      StateItem& gone = *change.add_items();
      gone.ParseFromString(at->first.first);
      gone.set_gone(true);
    }
    at = items.erase(at);
  }
}

void StateTracker::Adopt(const std::string& device, const std::vector<StateItem>& present) {
  ++visit_;
  Items& items = devices_[device];
  for (const StateItem& item : present) {
    Key key;
    Sent& sent = SentOf(items, item, key);
    Set(key, absl::HashOf(item.SerializeAsString()), sent);
  }
}

void StateTracker::Clear() {
  devices_.clear();
  digest_ = 0;
}

}  // namespace sideband::daemon
