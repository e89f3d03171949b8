// SPDX-License-Identifier: Apache-2.0
//
// The HTTP resources of sidebandd: /metrics, /audit, /-/healthy, /-/ready and the status page at /. See README.md.
//   Site site(reader, *metrics, clock);
//   const HttpHandler handler = [&site](const HttpRequest& request) { return site.Handle(request); };
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, HttpServer::Start(options, handler, *metrics));
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
#include "daemon/base/clock.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/http/http_message.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// Thread-safe. The constructor's arguments must outlive it.
class Site {
 public:
  // Returns the lines of the audit log after the sequence `after`, at most `bytes_max` bytes. Must be thread-safe.
  using AuditLogReader = std::function<absl::StatusOr<std::string>(uint64_t after, size_t bytes_max)>;

  // Without `audit_log`, /audit is 404.
  Site(Reader& reader, SelfMetrics& metrics, const Clock& clock, AuditLogReader audit_log = nullptr)
      : reader_(reader), metrics_(metrics), clock_(clock), audit_log_(std::move(audit_log)) {}

  // 405 for methods other than GET and HEAD. The answer to HEAD has its body; the server omits it.
  HttpResponse Handle(const HttpRequest& request);
  // Prepares the expositions ahead of the scrapes. To be called after each publication, on a thread of its own: see
  // ExpositionCache::Refresh.
  void RefreshExpositions();

 private:
  HttpResponse Answer(const HttpRequest& request, absl::string_view path);
  HttpResponse Unauthenticated(const absl::Status& why) const;
  // The paths that require an authenticated caller, and are audited.
  HttpResponse Data(const HttpRequest& request, absl::string_view path, const Caller& caller);
  HttpResponse AuditLog(const HttpRequest& request, const Caller& caller);
  HttpResponse Metrics(const HttpRequest& request, const Caller& caller);
  HttpResponse Ready(const HttpRequest& request, absl::string_view path);
  HttpResponse ReadyFor(const Caller& caller);
  // For callers that see no device.
  HttpResponse ReadyForAnybody() const;
  // Records a request in the audit log.
  void Audit(const HttpRequest& request, absl::string_view path, const absl::StatusOr<Caller>& caller,
             const absl::Status& outcome);

  Reader& reader_;
  SelfMetrics& metrics_;
  const Clock& clock_;
  const AuditLogReader audit_log_;
  ExpositionCache expositions_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SITE_H_
