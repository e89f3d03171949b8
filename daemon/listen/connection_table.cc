// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/connection_table.h"

#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::daemon {
namespace {

constexpr size_t kConnectionsMax = 512, kHandshakesMax = 128, kPerIdentityMax = 64;
// The daemon's own: standard streams, listeners, event queues of Asio and gRPC, the audit log, a file being read, and a
// reserve.
constexpr size_t kOwnFiles = 28;
// A bus and its capture file.
constexpr size_t kFilesPerDevice = 2;
constexpr size_t kFilesPerGrpcConnection = 3;
// The descriptors of all connections at the limits above.
constexpr size_t kFilesOfAll =
    kConnectionsMax + kHandshakesMax + kFilesPerGrpcConnection * kConnectionsMax + kHandshakesMax;

// `of` scaled down by the ratio of the available to the needed descriptors.
size_t Share(size_t of, size_t files, size_t at_least) {
  return std::max(at_least, files >= kFilesOfAll ? of : of * files / kFilesOfAll);
}

}  // namespace

ConnectionBudget BudgetConnections(size_t files, size_t devices) {
  const size_t taken = kOwnFiles + kFilesPerDevice * devices;
  const size_t left = files > taken ? files - taken : 0;
  ConnectionBudget budget{.http = Share(kConnectionsMax, left, 4),
                          .http_handshakes = Share(kHandshakesMax, left, 2),
                          .grpc = Share(kConnectionsMax, left, 4),
                          .grpc_handshakes = Share(kHandshakesMax, left, 2)};
  // At most half of the connections, so that one identity cannot take them all.
  budget.per_identity = std::clamp<size_t>(budget.http / 2, 2, kPerIdentityMax);
  return budget;
}

size_t FileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur;
}

template <typename Matches>
std::optional<ConnectionTable::Id> ConnectionTable::Oldest(Matches matches, uint64_t Entry::*number) const {
  const Entries::value_type* oldest = nullptr;
  for (const auto& candidate : entries_) {
    if (!matches(candidate.second)) continue;
    if (oldest == nullptr || candidate.second.*number < oldest->second.*number) oldest = &candidate;
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
    // Silent peers first, then the oldest handshake.
    verdict.evicted = Oldest([](const Entry& entry) { return !entry.is_known && !entry.is_speaking; });
    if (!verdict.evicted) verdict.evicted = Oldest([](const Entry& entry) { return !entry.is_known; });
    if (verdict.evicted) Remove(*verdict.evicted);
  }
  // A counter instead of a clock: only the order matters.
  entries_[id].since = ++now_;
  return verdict;
}

std::optional<ConnectionTable::Id> ConnectionTable::LongestIdle(const Holder& holder) const {
  const auto id = Oldest([&](const Entry& entry) { return IsIdle(entry) && entry.holder == holder; });
  return id ? id : Oldest([&](const Entry& entry) { return IsArriving(entry) && entry.holder == holder; });
}

std::optional<ConnectionTable::Id> ConnectionTable::OwnDispensable(const Holder& holder) const {
  if (!holder.is_address) return LongestIdle(holder);
  // Many callers may share an address. One that is about to show a token must not wait for those that show none,
  // whatever they do: the last that came have not had the time yet.
  return Oldest([&](const Entry& entry) { return entry.is_known && entry.holder == holder; }, &Entry::admitted);
}

std::optional<ConnectionTable::Id> ConnectionTable::MostDispensable() const {
  const auto is_nobodys = [](const Entry& entry) { return entry.is_known && entry.holder.is_address; };
  auto id = Oldest([&](const Entry& entry) { return is_nobodys(entry) && IsIdle(entry); });
  // A first request takes milliseconds. The connection that has been busy for longest is not a scraper about to show
  // its identity.
  if (!id) id = Oldest(is_nobodys);
  if (!id) id = Oldest(IsIdle);
  // Never a connection of a known holder that is being answered: its caller would lose an answer.
  return id ? id : Oldest(IsArriving);
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
  // Evicted while its handshake was being completed.
  if (found == entries_.end()) return {.admitted = false};
  Verdict verdict;
  // A holder at its limit evicts its own connections only.
  const bool own_are_full = CountOf(holder) >= limits_.per_identity_max;
  if (own_are_full || known_ >= limits_.known_max) {
    verdict = Replace(id, own_are_full ? OwnDispensable(holder) : MostDispensable());
    if (!verdict.admitted) return verdict;
  }
  // A map keeps `found` valid while another entry is erased.
  found->second = {.is_known = true, .since = ++now_, .admitted = now_, .holder = holder};
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

std::optional<ConnectionTable::Id> ConnectionTable::TakeOlderOfAddress(Id id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || !found->second.holder.is_address) return std::nullopt;
  const Entry& self = found->second;
  const auto is_older = [&](const Entry& entry) {
    return entry.is_busy && entry.holder == self.holder && entry.admitted < self.admitted;
  };
  const auto older = Oldest(is_older, &Entry::admitted);
  if (older) Remove(*older);
  return older;
}

void ConnectionTable::SetSpeaking(Id id) {
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.is_speaking = true;
}

void ConnectionTable::SetBusy(Id id, bool busy) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  // Restarts `since`: idle time counts from the end of the last answer.
  found->second.is_busy = busy;
  found->second.is_arriving = false;
  found->second.since = ++now_;
}

void ConnectionTable::SetArriving(Id id) {
  const auto found = entries_.find(id);
  // Keeps `since` of the first call, so that single bytes do not postpone the eviction.
  if (found == entries_.end() || found->second.is_arriving) return;
  found->second.is_arriving = true;
  found->second.since = ++now_;
}

std::optional<ConnectionTable::Id> ConnectionTable::TakeLongestIdle() {
  // A silent peer in its handshake goes before an idle connection.
  auto id = Oldest([](const Entry& entry) { return !entry.is_known && !entry.is_speaking; });
  if (!id) id = Oldest(IsIdle);
  if (id) Remove(*id);
  return id;
}

void ConnectionTable::Remove(Id id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  if (found->second.is_known) --known_;
  entries_.erase(found);
}

std::string AddressName(const boost::asio::ip::address& address) {
  return absl::StrCat("address ", AddressGroup(address));
}

ConnectionTable::Holder HolderOf(const SubjectNames& names, const std::string& address) {
  // `address` is the result of AddressName().
  if (names.uris.empty() && names.dns_names.empty()) return {.name = address, .is_address = true};
  // The prefix keeps names of certificates apart from those of addresses and local users.
  return {.name =
              absl::StrCat("certificate ", absl::StrJoin(names.uris, " "), " ", absl::StrJoin(names.dns_names, " "))};
}

namespace ip = boost::asio::ip;

std::string AddressGroup(const ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6).to_string();
  ip::address_v6::bytes_type bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  // The new address has no scope id: link-local peers of all interfaces share a group.
  return ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace sideband::daemon
