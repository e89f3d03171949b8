// SPDX-License-Identifier: Apache-2.0
//
// What sidebandd answers over HTTP: /metrics, /audit, /-/healthy, /-/ready and the status page at /. See README.md.
//   Site site(reader, *metrics, clock);
//   HttpServer::Start(options, [&site](const HttpRequest& request) { return site.Handle(request); });
#ifndef SIDEBAND_DAEMON_HTTP_SITE_H_
#define SIDEBAND_DAEMON_HTTP_SITE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/api/reader.h"
#include "daemon/base/clock.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/http/http_message.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Thread-safe. The constructor's arguments must outlive it.
class Site {
 public:
  // Lines of the audit log after a sequence, at most so many bytes. Thread-safe.
  using AuditLogReader = std::function<absl::StatusOr<std::string>(uint64_t after, size_t bytes_max)>;

  // Without `audit_log` there is nothing at /audit.
  Site(Reader& reader, SelfMetrics& metrics, const Clock& clock, AuditLogReader audit_log = nullptr)
      : reader_(reader), metrics_(metrics), clock_(clock), audit_log_(std::move(audit_log)) {}

  // Any method but GET and HEAD is 405; the server leaves out the body of an answer to HEAD.
  HttpResponse Handle(const HttpRequest& request);
  // After each publication, on a thread of its own: see ExpositionCache::Refresh.
  void RefreshExpositions();

 private:
  HttpResponse Answer(const HttpRequest& request, absl::string_view path);
  HttpResponse Nobody(const absl::Status& why) const;
  // What is somebody's: the paths that the audit log tells of.
  HttpResponse Data(const HttpRequest& request, absl::string_view path, const Caller& caller);
  HttpResponse AuditLog(const HttpRequest& request, const Caller& caller);
  HttpResponse Metrics(const HttpRequest& request, const Caller& caller);
  HttpResponse Ready(const HttpRequest& request, absl::string_view path);
  HttpResponse ReadyFor(const Caller& caller);
  HttpResponse ReadyForAnybody() const;
  // The audit log.
  void Tell(const HttpRequest& request, absl::string_view path, const absl::StatusOr<Caller>& caller,
            const absl::Status& outcome);

  Reader& reader_;
  SelfMetrics& metrics_;
  const Clock& clock_;
  const AuditLogReader audit_log_;
  ExpositionCache expositions_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SITE_H_
