// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/listener_tls.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <utility>

#include "daemon/listen/tls_context.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Compares the contents. Keys are comparable as pointers: TlsFiles shares one object for equal keys.
bool AreSame(const TlsFiles& a, const TlsFiles& b) {
  return a.certificates() == b.certificates() && a.key() == b.key() && a.client_ca() == b.client_ca();
}

}  // namespace

ListenerTls::ListenerTls(std::string listener, TlsServerConfig config, ApplicationProtocol protocol,
                         ListenerMetrics& metrics)
    : listener_(std::move(listener)), config_(std::move(config)), protocol_(protocol), metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<ListenerTls>> ListenerTls::Create(std::string listener, TlsServerConfig config,
                                                                 ApplicationProtocol protocol,
                                                                 ListenerMetrics& metrics) {
  std::unique_ptr<ListenerTls> tls(new ListenerTls(std::move(listener), std::move(config), protocol, metrics));
  absl::MutexLock lock(&tls->check_mu_);
  // Before loading: a change during the load then shows at the first Check().
  tls->seen_ = tls->Look();
  SIDEBAND_ASSIGN_OR_RETURN(auto files, TlsFiles::Load(tls->config_));
  const absl::Status usable = CheckHandshake(*files, tls->config_);
  SIDEBAND_RETURN_IF_ERROR(tls->Take(std::move(files)));
  tls->TellIfUnusable(usable);
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
  // The files changed while they were read, so the result may mix old and new contents. The next Check() retries.
  if (Look() != stamps) return;
  // A failure is reported once per content of the files.
  const bool is_new = std::exchange(seen_, stamps) != stamps;
  if (!files.ok()) return Refuse(files.status(), is_new);
  // A certificate that no client can use must not replace one that works.
  const absl::Status usable = CheckHandshake(**files, config_);
  if (!usable.ok() && CheckHandshake(*Current().files, config_).ok()) return Refuse(usable, is_new);
  if (AreSame(**files, *Current().files)) {
    if (!last_error_.empty()) spdlog::info("{}: the certificates are valid again", listener_);
  } else {
    const absl::Status taken = Take(*std::move(files));
    if (!taken.ok()) return Refuse(taken, is_new);
    spdlog::info("{}: new certificates are in force, until {}", listener_,
                 absl::FormatTime(absl::RFC3339_sec, Current().files->not_after(), absl::UTCTimeZone()));
    TellIfUnusable(usable);
  }
  last_error_.clear();
  metrics_.TlsReload(listener_, true);
}

absl::Status ListenerTls::Take(std::unique_ptr<const TlsFiles> files) {
  SIDEBAND_ASSIGN_OR_RETURN(TlsContext context, MakeTlsContext(*files, config_, protocol_));
  metrics_.TlsCertificate(listener_, files->not_after());
  absl::MutexLock lock(&mu_);
  current_ = {std::move(files), std::move(context), current_.version + 1};
  // After current_: a caller that sees the new version finds its files, or newer ones.
  version_.store(current_.version);
  return absl::OkStatus();
}

// The daemon goes on, since a renewal takes effect without a restart, and other listeners have other files.
void ListenerTls::TellIfUnusable(const absl::Status& usable) const {
  if (usable.ok()) return;
  spdlog::error("{}: {}; no client can connect until the file is replaced", listener_, std::string(usable.message()));
}

void ListenerTls::Refuse(const absl::Status& status, bool is_new) {
  std::string error(status.message());
  // The same error on unchanged files is logged and counted once.
  if (!is_new && error == last_error_) return;
  spdlog::error("{}: {}; the old certificates stay in force", listener_, error);
  metrics_.TlsReload(listener_, false);
  last_error_ = std::move(error);
}

}  // namespace sideband::daemon
