// SPDX-License-Identifier: Apache-2.0
//
// A bound on the KeyUpdates of TLS 1.3 that a peer sends. OpenSSL has none, and each costs a derivation of keys: a
// burst of 20 MB would hold up a thread for seconds.
//   EndAtKeyUpdates(*context);               // before SSL_new
//   if (HasTooManyKeyUpdates(ssl)) Refuse(kKeyUpdatesBreach);   // after each read
#ifndef SIDEBAND_DAEMON_LISTEN_KEY_UPDATES_H_
#define SIDEBAND_DAEMON_LISTEN_KEY_UPDATES_H_

#include <openssl/types.h>

#include <array>
#include <cstddef>

#include "absl/time/time.h"

namespace sideband::daemon {

// The reason in metrics, the log and the audit log.
inline constexpr char kKeyUpdatesBreach[] = "tls_key_updates";

// The KeyUpdates of one connection. Not thread-safe.
class KeyUpdates {
 public:
  static constexpr size_t kMax = 10;
  static constexpr absl::Duration kWithin = absl::Minutes(1);

  // One more at `now`, which does not decrease.
  void Add(absl::Duration now);
  // kMax of them came within kWithin at some time.
  bool are_too_many() const { return are_too_many_; }

 private:
  std::array<absl::Duration, kMax> times_;  // a ring: of the newest kMax
  size_t count_ = 0;
  bool are_too_many_ = false;
};

// Counts the KeyUpdates of all connections that are made from the context. After too many a connection reads no more,
// as if the peer had closed its direction.
void EndAtKeyUpdates(SSL_CTX& context);
bool HasTooManyKeyUpdates(const SSL* ssl);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_KEY_UPDATES_H_
