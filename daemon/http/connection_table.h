// SPDX-License-Identifier: Apache-2.0
//
// Which connections a server keeps when there are too many: whoever is new gets a place, and who has been idle longest
// gives theirs, so that a scraper which comes back once a minute is never kept out by those who only sit there.
//   const auto verdict = table.Admit(id, {.name = "spiffe://example.org/prometheus"});
//   if (verdict.evicted) Close(*verdict.evicted);
//   if (!verdict.admitted) Close(id);
//
// Connections in their handshake are counted apart from those that have it behind them, and of those the ones that have
// shown no identity yet make room first, so that nobody without a certificate or token can cost anybody else a place.
#ifndef SIDEBAND_DAEMON_HTTP_CONNECTION_TABLE_H_
#define SIDEBAND_DAEMON_HTTP_CONNECTION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sideband::daemon {

// Not thread-safe. What was evicted or not admitted is out of the table at once.
class ConnectionTable {
 public:
  using Id = uint64_t;

  struct Limits {
    size_t handshakes_max = 0;    // the oldest makes room, of those that have not said a word where there are any
    size_t known_max = 0;         // after it; those without an identity make room, busy or not, else the longest idle
    size_t per_identity_max = 0;  // of one holder; likewise, among its own
  };
  // Whose a connection counts as: an identity, or, until one is shown, the address that it comes from.
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

  // A new connection, in its handshake. Always admitted.
  Verdict Add(Id id);
  // It has begun its handshake.
  void SetSpeaking(Id id);
  // The handshake is over. Not admitted where every other connection that could make room is busy. What is no longer in
  // the table is not admitted.
  Verdict Admit(Id id, const Holder& holder);
  // A request has shown whose the connection is, which was somebody else's. Where the new holder has its share already,
  // the longest idle of its connections makes room; not admitted where none is idle.
  Verdict Recount(Id id, const Holder& holder);
  // Whether a request is under way. A connection that has been admitted is idle.
  void SetBusy(Id id, bool busy);
  void Remove(Id id);

  size_t handshakes() const { return entries_.size() - known_; }
  size_t known() const { return known_; }

 private:
  struct Entry {
    bool is_speaking = false;
    bool is_known = false;
    bool is_busy = false;
    uint64_t since = 0;  // when it came, or became idle: a larger one is later
    Holder holder;
  };
  using Entries = std::map<Id, Entry>;

  // The one with the smallest `since` of those for which `matches`.
  template <typename Matches>
  std::optional<Id> Oldest(Matches matches) const;
  size_t CountOf(const Holder& holder) const;
  std::optional<Id> LongestIdle(const Holder& holder) const;
  // Of all: the longest idle of those without an identity, else the longest busy of them, else the longest idle.
  std::optional<Id> MostDispensable() const;
  // Gives `id` the place of `evicted`, or none.
  Verdict Replace(Id id, std::optional<Id> evicted);

  const Limits limits_;
  Entries entries_;
  size_t known_ = 0;
  uint64_t now_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_CONNECTION_TABLE_H_
