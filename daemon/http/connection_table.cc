// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/connection_table.h"

#include <algorithm>

namespace sideband::daemon {

template <typename Matches>
std::optional<ConnectionTable::Id> ConnectionTable::Oldest(Matches matches) const {
  const Entries::value_type* oldest = nullptr;
  for (const auto& candidate : entries_) {
    if (!matches(candidate.second)) continue;
    if (oldest == nullptr || candidate.second.since < oldest->second.since) oldest = &candidate;
  }
  if (oldest == nullptr) return std::nullopt;
  return oldest->first;
}

size_t ConnectionTable::CountOf(const Holder& holder) const {
  return std::count_if(entries_.begin(), entries_.end(),
                       [&](const auto& item) { return item.second.is_known && item.second.holder == holder; });
}

ConnectionTable::Verdict ConnectionTable::Add(Id id) {
  Verdict verdict;
  if (handshakes() >= limits_.handshakes_max) {
    verdict.evicted = Oldest([](const Entry& entry) { return !entry.is_known && !entry.is_speaking; });
    if (!verdict.evicted) verdict.evicted = Oldest([](const Entry& entry) { return !entry.is_known; });
    if (verdict.evicted) Remove(*verdict.evicted);
  }
  entries_[id].since = ++now_;
  return verdict;
}

std::optional<ConnectionTable::Id> ConnectionTable::LongestIdle(const Holder& holder) const {
  return Oldest([&](const Entry& entry) { return entry.is_known && !entry.is_busy && entry.holder == holder; });
}

std::optional<ConnectionTable::Id> ConnectionTable::MostDispensable() const {
  const auto is_idle = [](const Entry& entry) { return entry.is_known && !entry.is_busy; };
  const auto is_nobodys = [](const Entry& entry) { return entry.is_known && entry.holder.is_address; };
  auto id = Oldest([&](const Entry& entry) { return is_nobodys(entry) && is_idle(entry); });
  // A first request takes milliseconds: what has been at it for longest is no scraper that is about to show who it is.
  if (!id) id = Oldest(is_nobodys);
  return id ? id : Oldest(is_idle);
}

ConnectionTable::Verdict ConnectionTable::Replace(Id id, std::optional<Id> evicted) {
  if (!evicted) {
    Remove(id);
    return {.admitted = false};
  }
  const bool is_busy = entries_.at(*evicted).is_busy;
  Remove(*evicted);
  return {.evicted = evicted, .evicted_is_busy = is_busy};
}

ConnectionTable::Verdict ConnectionTable::Admit(Id id, const Holder& holder) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {.admitted = false};
  Verdict verdict;
  const bool own_are_full = CountOf(holder) >= limits_.per_identity_max;
  if (own_are_full || known_ >= limits_.known_max) {
    verdict = Replace(id, own_are_full ? LongestIdle(holder) : MostDispensable());
    if (!verdict.admitted) return verdict;
  }
  found->second = {.is_known = true, .since = ++now_, .holder = holder};
  ++known_;
  return verdict;
}

ConnectionTable::Verdict ConnectionTable::Recount(Id id, const Holder& holder) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {.admitted = false};
  Verdict verdict;
  if (CountOf(holder) >= limits_.per_identity_max) {
    verdict = Replace(id, LongestIdle(holder));
    if (!verdict.admitted) return verdict;
  }
  found->second.holder = holder;
  return verdict;
}

void ConnectionTable::SetSpeaking(Id id) {
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.is_speaking = true;
}

void ConnectionTable::SetBusy(Id id, bool busy) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  found->second.is_busy = busy;
  found->second.since = ++now_;
}

void ConnectionTable::Remove(Id id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  if (found->second.is_known) --known_;
  entries_.erase(found);
}

}  // namespace sideband::daemon
