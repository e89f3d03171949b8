// SPDX-License-Identifier: Apache-2.0
//
// The certificates of a listener as they are now: read again when a file changes, all or nothing.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto tls, ListenerTls::Create("http", config.http.tls, metrics));
//   tls->Current().files->certificates();   // for each new connection
//   tls->Check();                           // every second
//
// A set of files that does not belong together, cannot be read, or is being written leaves what was good in force; it
// is logged and counted once, and looked at again by every Check().
#ifndef SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_
#define SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Thread-safe.
class ListenerTls {
 public:
  struct Loaded {
    std::shared_ptr<const TlsFiles> files;  // shared with whoever is at work with them
    uint64_t version = 0;                   // 1, 2, 3, …: another one, other files
  };

  // The error is TlsFiles::Load's. `listener` is its name in metrics and the log; `metrics` must outlive this.
  static absl::StatusOr<std::unique_ptr<ListenerTls>> Create(std::string listener, TlsServerConfig config,
                                                             SelfMetrics& metrics);

  const std::string& listener() const { return listener_; }
  const TlsServerConfig& config() const { return config_; }
  Loaded Current() const ABSL_LOCKS_EXCLUDED(mu_);

  // Reads the files where one of them looks changed, or where the last reading failed.
  void Check() ABSL_LOCKS_EXCLUDED(check_mu_, mu_);
  // Reads them in any case.
  void Reload() ABSL_LOCKS_EXCLUDED(check_mu_, mu_);

 private:
  // What changes when a file is written, replaced, or a link to it is.
  struct Stamp {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size = 0;
    absl::Time modified;
    absl::Time changed;
    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::array<Stamp, 3>;

  ListenerTls(std::string listener, TlsServerConfig config, SelfMetrics& metrics);

  static Stamp StampOf(const std::string& path);
  Stamps Look() const;
  void Read(const Stamps& stamps) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);
  void Take(std::unique_ptr<const TlsFiles> files) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);
  void Refuse(const absl::Status& status, bool is_new) ABSL_EXCLUSIVE_LOCKS_REQUIRED(check_mu_);

  const std::string listener_;
  const TlsServerConfig config_;
  SelfMetrics& metrics_;

  // One reading at a time.
  absl::Mutex check_mu_;
  Stamps seen_ ABSL_GUARDED_BY(check_mu_);
  std::string last_error_ ABSL_GUARDED_BY(check_mu_);  // empty after a good reading

  mutable absl::Mutex mu_;
  Loaded current_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_LISTENER_TLS_H_
