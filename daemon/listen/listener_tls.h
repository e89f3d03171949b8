// SPDX-License-Identifier: Apache-2.0
//
// The current certificates of a listener. A changed file reloads all of them; a set takes effect as a whole or not at
// all.
//   const TlsServerConfig& wanted = config.http.listener.tls;
//   SIDEBAND_ASSIGN_OR_RETURN(const auto tls,
//                             ListenerTls::Create("http", wanted, ApplicationProtocol::kAny, metrics));
//   SSL_new(tls->Current().context.get());  // for each new connection
//   tls->Check();                           // every second
//
// A set that is inconsistent, unreadable or being written leaves the previous one in force. The failure is logged and
// counted once, and every Check() retries.
#ifndef SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_
#define SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"
#include "daemon/listen/tls_context.h"
#include "daemon/metrics/serving_metrics.h"

namespace sideband::daemon {

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
