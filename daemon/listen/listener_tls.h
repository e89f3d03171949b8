// SPDX-License-Identifier: Apache-2.0
//
// TLS of a listener: the context that its connections are made from, and its current certificates. A changed file
// reloads all of them; a set takes effect as a whole or not at all.
//   const TlsServerConfig& wanted = config.http.listener.tls;
//   SIDEBAND_ASSIGN_OR_RETURN(const auto tls,
//                             ListenerTls::Create("http", wanted, ApplicationProtocol::kAny, metrics));
//   SSL_new(tls->Current().context.get());  // for each new connection
//   tls->Check();                           // every second
#ifndef SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_
#define SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_

#include <openssl/types.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/config/listener_config.h"
#include "daemon/metrics/area_metrics.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

// Shared by the listener and its connections.
using TlsContext = std::shared_ptr<SSL_CTX>;

// kHttp2: an ALPN offer without "h2" fails the handshake. OpenSSL does not call the selection for a client without
// ALPN, so the caller must check SSL_get0_alpn_selected() afterwards. kAny: ALPN offers are ignored.
enum class ApplicationProtocol { kAny, kHttp2 };

// The context of every listener: client verification as configured, TLS 1.3 unless 1.2 is allowed, no session
// resumption, a bound on KeyUpdates.
// INVALID_ARGUMENT naming the faulty file; RESOURCE_EXHAUSTED if memory is exhausted. `files` must have been loaded
// from `config`. The context shares the private key of `files`, without a copy.
absl::StatusOr<TlsContext> MakeTlsContext(const TlsFiles& files, const TlsServerConfig& config,
                                          ApplicationProtocol protocol);

// The verification of clients in every handshake, and whenever they are verified again: OpenSSL's, and no signing
// certificate identifies a client.
int VerifyClient(int good, X509_STORE_CTX* verified);

// The reason in metrics, the log and the audit log.
inline constexpr char kKeyUpdatesBreach[] = "tls_key_updates";

// A bound on the KeyUpdates of TLS 1.3 that a peer sends. OpenSSL has none, and each costs a derivation of keys: a
// burst of 20 MB would hold up a thread for seconds. EndAtKeyUpdates is called before SSL_new, HasTooManyKeyUpdates
// after each read.

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

// Says by a handshake in memory whether clients can connect with these files now: TLS libraries say so only to the
// client that fails.
// FAILED_PRECONDITION in one line, "FILE: why no client can use it": the server certificate has expired or is not valid
// yet, has no name, is not one of servers, or its key is of a kind that clients do not know. By the system clock, as
// TLS's own check. Its issuer is not judged: which CA clients trust is not known here. `files` must have been loaded
// from `config`.
absl::Status CheckHandshake(const TlsFiles& files, const TlsServerConfig& config);

// Adds the errors of each listener on the network of `config` whose files can be loaded.
void CheckHandshakes(const Config& config, ErrorList& errors);

// The certificates in force. A set that is inconsistent, unreadable or being written leaves the previous one in force.
// The failure is logged and counted once, and every Check() retries.
//
// Thread-safe.
class ListenerTls {
 public:
  struct Loaded {
    std::shared_ptr<const TlsFiles> files;  // shared with their users
    TlsContext context;                     // made from `files`
    uint64_t version = 0;                   // 1, 2, 3, …; changes with the files
  };

  // The error of TlsFiles::Load. `listener` is the listener's name in metrics and the log. `metrics` must outlive this
  // object.
  static absl::StatusOr<std::unique_ptr<ListenerTls>> Create(std::string listener, TlsServerConfig config,
                                                             ApplicationProtocol protocol, ListenerMetrics& metrics);

  const std::string& listener() const { return listener_; }
  const TlsServerConfig& config() const { return config_; }
  Loaded Current() const ABSL_LOCKS_EXCLUDED(mu_);
  // Current().version, without taking the lock.
  uint64_t version() const { return version_.load(); }

  // Reloads the files if one of them looks changed, or if the last load failed.
  void Check() ABSL_LOCKS_EXCLUDED(check_mu_, mu_);
  // Reloads the files unconditionally.
  void Reload() ABSL_LOCKS_EXCLUDED(check_mu_, mu_);

 private:
  // The attributes that change when a file, or a link to it, is written or replaced.
  struct Stamp {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size = 0;
    absl::Time modified;
    absl::Time changed;
    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::array<Stamp, 3>;

  ListenerTls(std::string listener, TlsServerConfig config, ApplicationProtocol protocol, ListenerMetrics& metrics);

  static Stamp StampOf(const std::string& path);
  Stamps Look() const;
  void Read(const Stamps& stamps) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);
  absl::Status Take(std::unique_ptr<const TlsFiles> files) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);
  void TellIfUnusable(const absl::Status& usable) const;
  void Refuse(const absl::Status& status, bool is_new) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);

  const std::string listener_;
  const TlsServerConfig config_;
  const ApplicationProtocol protocol_;
  ListenerMetrics& metrics_;

  // Serializes the loads.
  absl::Mutex check_mu_;
  Stamps seen_ ABSL_GUARDED_BY(check_mu_);
  std::string last_error_ ABSL_GUARDED_BY(check_mu_);  // empty after a successful load

  mutable absl::Mutex mu_;
  Loaded current_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> version_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_
