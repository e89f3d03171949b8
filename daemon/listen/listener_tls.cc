// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/listener_tls.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

bool AreSame(const TlsFiles& a, const TlsFiles& b) {
  return a.certificates() == b.certificates() && a.key() == b.key() && a.client_ca() == b.client_ca();
}

}  // namespace

ListenerTls::ListenerTls(std::string listener, TlsServerConfig config, SelfMetrics& metrics)
    : listener_(std::move(listener)), config_(std::move(config)), metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<ListenerTls>> ListenerTls::Create(std::string listener, TlsServerConfig config,
                                                                 SelfMetrics& metrics) {
  std::unique_ptr<ListenerTls> tls(new ListenerTls(std::move(listener), std::move(config), metrics));
  absl::MutexLock lock(&tls->check_mu_);
  tls->seen_ = tls->Look();
  SIDEBAND_ASSIGN_OR_RETURN(auto files, TlsFiles::Load(tls->config_));
  tls->Take(std::move(files));
  return tls;
}

ListenerTls::Stamp ListenerTls::StampOf(const std::string& path) {
  struct stat file;
  if (path.empty() || stat(path.c_str(), &file) != 0) return {};
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .size = static_cast<uint64_t>(file.st_size),
          .modified = absl::TimeFromTimespec(file.st_mtim),
          .changed = absl::TimeFromTimespec(file.st_ctim)};
}

ListenerTls::Stamps ListenerTls::Look() const {
  return {StampOf(config_.cert_file), StampOf(config_.key_file), StampOf(config_.client_ca_file)};
}

ListenerTls::Loaded ListenerTls::Current() const {
  absl::MutexLock lock(&mu_);
  return current_;
}

void ListenerTls::Check() {
  absl::MutexLock lock(&check_mu_);
  const Stamps stamps = Look();
  if (stamps != seen_ || !last_error_.empty()) Read(stamps);
}

void ListenerTls::Reload() {
  absl::MutexLock lock(&check_mu_);
  Read(Look());
}

void ListenerTls::Read(const Stamps& stamps) {
  auto files = TlsFiles::Load(config_);
  // Somebody is at work on them: what was read may be half of the old and half of the new. The next look will tell.
  if (Look() != stamps) return;
  const bool is_new = std::exchange(seen_, stamps) != stamps;
  if (!files.ok()) return Refuse(files.status(), is_new);
  // One that nobody will accept must not replace one that is good.
  if ((*files)->has_expired() && !Current().files->has_expired()) {
    return Refuse(absl::FailedPreconditionError(absl::StrCat(config_.cert_file, ": has expired")), is_new);
  }
  const bool was_refused = !std::exchange(last_error_, "").empty();
  if (AreSame(**files, *Current().files)) {
    if (was_refused) spdlog::info("{}: the certificates are good again", listener_);
  } else {
    Take(*std::move(files));
    spdlog::info("{}: new certificates are in force, until {}", listener_,
                 absl::FormatTime(absl::RFC3339_sec, Current().files->not_after(), absl::UTCTimeZone()));
  }
  metrics_.TlsReload(listener_, true);
}

void ListenerTls::Take(std::unique_ptr<const TlsFiles> files) {
  metrics_.TlsCertificate(listener_, files->not_after());
  absl::MutexLock lock(&mu_);
  current_ = {std::move(files), current_.version + 1};
}

void ListenerTls::Refuse(const absl::Status& status, bool is_new) {
  std::string error(status.message());
  if (!is_new && error == last_error_) return;
  spdlog::error("{}: {}; the old certificates stay in force", listener_, error);
  metrics_.TlsReload(listener_, false);
  last_error_ = std::move(error);
}

}  // namespace sideband::daemon
