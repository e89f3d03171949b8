// SPDX-License-Identifier: Apache-2.0
//
// How many connections each server may have, and which it keeps at its limits: a new connection evicts the one that has
// been idle longest. A scraper that connects once a minute is thus never locked out by idle connections.
//   const ConnectionBudget budget = BudgetConnections(FileLimit(), config.devices.size());
//   http.connections_max = budget.http;
//   const auto verdict = table.Admit(id, {.name = "spiffe://example.org/prometheus"});
//   if (verdict.evicted) Close(*verdict.evicted);
//   if (!verdict.admitted) Close(id);
#ifndef SIDEBAND_DAEMON_LISTEN_CONNECTION_TABLE_H_
#define SIDEBAND_DAEMON_LISTEN_CONNECTION_TABLE_H_

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/identity/identity.h"

namespace sideband::daemon {

// The maximum numbers of connections of each server, after their handshake and in it.
struct ConnectionBudget {
  size_t http = 0;
  size_t http_handshakes = 0;
  size_t grpc = 0;  // three descriptors each; one in the handshake
  size_t grpc_handshakes = 0;
  size_t per_identity = 0;  // in each server
};

// At most 512 connections, of these 64 per identity, and 128 handshakes, in each server. Less where the process limit
// `files` does not suffice for them, the devices and the daemon's own descriptors. At least 4, 2 and 2: a limit that is
// far too low shows at accept.
ConnectionBudget BudgetConnections(size_t files, size_t devices);

// The process's limit of descriptors (RLIMIT_NOFILE).
size_t FileLimit();

// Connections in their handshake are counted apart from known ones, those after it. Of the known ones, those that have
// not shown an identity are evicted first: a peer without a certificate or token cannot cost another peer its place,
// also where both come from one address.
//
// Not thread-safe. Evicted and rejected connections leave the table at once; the caller closes them.
class ConnectionTable {
 public:
  using Id = uint64_t;

  struct Limits {
    size_t handshakes_max = 0;  // evicted at the limit: the oldest silent one, else the oldest
    size_t known_max = 0;       // after it; evicted: without an identity, even if busy; else the longest idle
    // Known ones of one holder. Evicted: its own longest idle; of an address, the first that came.
    size_t per_identity_max = 0;
  };
  // The holder for which a connection counts: an identity, or the peer's address until an identity is shown.
  struct Holder {
    std::string name;
    bool is_address = false;

    bool operator==(const Holder&) const = default;
  };
  struct Verdict {
    bool admitted = true;
    std::optional<Id> evicted;
    bool evicted_is_busy = false;
  };

  explicit ConnectionTable(Limits limits) : limits_(limits) {}

  // Adds a connection in its handshake. Always admitted; may evict.
  Verdict Add(Id id);
  // The peer has sent its first bytes.
  void SetSpeaking(Id id);
  // The handshake is complete: the connection becomes known, and idle. Rejected where every connection that it could
  // evict is busy, and where `id` is no longer in the table.
  Verdict Admit(Id id, const Holder& holder);
  // A request has shown the identity of the connection, which counted for another holder. At the new holder's limit,
  // its longest idle connection is evicted; rejected where all of them are busy.
  Verdict Recount(Id id, const Holder& holder);
  // Evicts the first busy connection of the address for which `id` counts, if it came before `id`; nullopt where there
  // is none, and where `id` has shown an identity. For use when the address has used up its streams.
  std::optional<Id> TakeOlderOfAddress(Id id);
  // Whether a request is being answered.
  void SetBusy(Id id, bool busy);
  // A part of a request has arrived: evicted only where no connection is idle. Ends with SetBusy.
  void SetArriving(Id id);
  // Evicts the oldest silent handshake, else the longest idle connection; nullopt where there is neither. For use when
  // descriptors are exhausted.
  std::optional<Id> TakeLongestIdle();
  void Remove(Id id);

  size_t handshakes() const { return entries_.size() - known_; }
  size_t known() const { return known_; }

 private:
  struct Entry {
    bool is_speaking = false;
    bool is_known = false;
    bool is_busy = false;
    bool is_arriving = false;
    uint64_t since = 0;     // order of the last change of state: larger is later
    uint64_t admitted = 0;  // likewise of the end of the handshake
    Holder holder;
  };
  using Entries = std::map<Id, Entry>;

  // The connection with the smallest number of those that match.
  template <typename Matches>
  std::optional<Id> Oldest(Matches matches, uint64_t Entry::*number = &Entry::since) const;
  static bool IsIdle(const Entry& entry) { return entry.is_known && !entry.is_busy && !entry.is_arriving; }
  static bool IsArriving(const Entry& entry) { return entry.is_known && !entry.is_busy && entry.is_arriving; }
  size_t CountOf(const Holder& holder) const;
  // The holder's longest idle connection, else the one whose request has been arriving for longest.
  std::optional<Id> LongestIdle(const Holder& holder) const;
  // The connection of the holder's own to evict.
  std::optional<Id> OwnDispensable(const Holder& holder) const;
  // The connection to evict of all: the longest idle without an identity, else the longest busy without an identity,
  // else the longest idle, else the one whose request has been arriving for longest.
  std::optional<Id> MostDispensable() const;
  // Replaces `evicted` by `id`; removes and rejects `id` where `evicted` is nullopt.
  Verdict Replace(Id id, std::optional<Id> evicted);

  const Limits limits_;
  Entries entries_;
  size_t known_ = 0;
  uint64_t now_ = 0;
};

// "address " and the peer's address group.
std::string AddressName(const boost::asio::ip::address& address);

// The names in the certificate; the address where there are none.
ConnectionTable::Holder HolderOf(const SubjectNames& names, const std::string& address);

// Maps an address to the group that counts as one peer, since a peer can choose any address of its group.
// IPv4: the address itself, also in its IPv4-mapped IPv6 form. IPv6: the first 64 bits, the size of the smallest
// network that is assigned.
std::string AddressGroup(const boost::asio::ip::address& address);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_CONNECTION_TABLE_H_
