// SPDX-License-Identifier: Apache-2.0
//
// What sidebandd answers over HTTP: /metrics, /-/healthy, /-/ready and the status page at /. See README.md.
//   Site site(reader, *metrics, clock);
//   HttpServer::Start(options, [&site](const HttpRequest& request) { return site.Handle(request); });
#ifndef SIDEBAND_DAEMON_HTTP_SITE_H_
#define SIDEBAND_DAEMON_HTTP_SITE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
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
  Site(Reader& reader, SelfMetrics& metrics, const Clock& clock) : reader_(reader), metrics_(metrics), clock_(clock) {}

  // Any method but GET and HEAD is 405; the server leaves out the body of an answer to HEAD.
  HttpResponse Handle(const HttpRequest& request);

 private:
  HttpResponse Answer(const HttpRequest& request, absl::string_view path);
  HttpResponse Nobody(const absl::Status& why) const;
  // What is somebody's: the paths that the audit log tells of.
  HttpResponse Data(const HttpRequest& request, absl::string_view path, const Caller& caller);
  HttpResponse Metrics(const HttpRequest& request, const Caller& caller);
  HttpResponse Ready(const HttpRequest& request);

  Reader& reader_;
  SelfMetrics& metrics_;
  const Clock& clock_;
  ExpositionCache expositions_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SITE_H_
