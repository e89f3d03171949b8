// SPDX-License-Identifier: Apache-2.0
//
// The HTTP resources of sidebandd: /metrics, /audit, /sd, /-/healthy, /-/ready, and the status page at / with its data
// below /page, and Redfish. See README.md.
//   Site site(reader, *metrics, clock, {.page = &page_data, .targets = &targets});
//   const HttpHandler handler = [&site](const HttpRequest& request) { return site.Handle(request); };
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, HttpServer::Start(options, handler, *metrics));
#ifndef SIDEBAND_DAEMON_HTTP_SITE_H_
#define SIDEBAND_DAEMON_HTTP_SITE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/http/http_exchange.h"
#include "daemon/http/status_page.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// The targets that /sd lists, in the format of Prometheus' http_sd.
//
// Thread-safe.
class TargetList {
 public:
  using Groups = std::optional<std::vector<TargetGroup>>;

  explicit TargetList(const Groups& groups) { Replace(groups); }

  void Replace(const Groups& groups) ABSL_LOCKS_EXCLUDED(mu_);
  // A list of {"targets", "labels"}. Without groups: the daemon itself, by the address under which it was requested.
  std::string Json(const std::string& host) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::optional<std::string> json_ ABSL_GUARDED_BY(mu_);
};

// Which of the polls of a page are audited: one a minute for each identity, so that a page that stays open does not
// displace the rest of the audit log.
//
// Thread-safe.
class PollAudit {
 public:
  static constexpr absl::Duration kInterval = absl::Minutes(1);
  // More identities than this within a minute are forgotten, and then audited once more.
  static constexpr size_t kIdentitiesMax = 4096;

  // Whether the last poll of the identity for which this was true is a minute ago, at `now` of the steady clock.
  bool IsDue(const std::string& identity, absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, absl::Duration> last_ ABSL_GUARDED_BY(mu_);  // by identity
};

// HTTP for the Redfish service: its documents and errors with the fields that DSP0266 demands, and its own field for
// tokens.

// That of Authorization or of X-Auth-Token. Two that differ make the caller ambiguous: they are an empty token, which
// is rejected.
std::optional<std::string> BearerTokenOf(const HttpRequest& request);

// FAILED_PRECONDITION where the request wants another version of OData than 4.0; else the answer.
absl::StatusOr<RedfishDocument> CheckedVersion(const HttpRequest& request, absl::StatusOr<RedfishDocument> answer);

// `path` is the request's; an error is described as by RedfishErrorOf.
HttpResponse RedfishResponse(absl::StatusOr<RedfishDocument> answer, absl::string_view path);
// 429.
HttpResponse RedfishBusyResponse(int64_t retry_after_s);
// 405.
HttpResponse RedfishMethodResponse();

// Thread-safe. The constructor's arguments must outlive it.
class Site {
 public:
  // Returns the lines of the audit log after the sequence `after`, at most `bytes_max` bytes. Must be thread-safe.
  using AuditLogReader = std::function<absl::StatusOr<std::string>(uint64_t after, size_t bytes_max)>;

  // The optional subjects of paths; a path without its subject is 404. They must outlive the site.
  struct Sources {
    AuditLogReader audit_log = nullptr;       // /audit
    PageData* page = nullptr;                 // /page/status and /page/history
    const TargetList* targets = nullptr;      // /sd
    const BoardStore* boards = nullptr;       // the boards' sensors in /metrics
    const RedfishService* redfish = nullptr;  // /redfish and below
  };

  Site(Reader& reader, SelfMetrics& metrics, const Clock& clock, Sources sources)
      : reader_(reader), metrics_(metrics), clock_(clock), sources_(std::move(sources)) {}

  // 405 for methods other than GET and HEAD. The answer to HEAD has its body; the server omits it. What renders the
  // data of an authenticated caller is HttpResponse::work.
  HttpResponse Handle(const HttpRequest& request);
  // Prepares the expositions ahead of the scrapes. To be called after each publication, on a thread of its own: see
  // ExpositionCache::Refresh.
  void RefreshExpositions();

 private:
  // A path that requires an authenticated caller, and is audited.
  struct Data {
    absl::string_view path;
    HttpResponse (Site::*answer)(const HttpRequest& request, const Caller& caller);
    std::optional<WorkQueue::Lane> lane;  // of callers who are no operators; nullopt: answered at once
  };
  static const Data kData[];
  static const Data* FindData(absl::string_view path);

  absl::string_view KnownPath(absl::string_view path) const;
  HttpResponse Answer(const HttpRequest& request, absl::string_view path);
  // To be made by `make` on the work queue, for the caller as authenticated then: the policy may have changed
  // meanwhile.
  HttpResponse Later(const HttpRequest& request, absl::string_view path, const Caller& caller, WorkQueue::Lane lane,
                     std::function<HttpResponse(const absl::StatusOr<Caller>&)> make);
  HttpResponse TooMuch(const HttpRequest& request, absl::string_view path, const Caller& caller,
                       const absl::Status& why);
  HttpResponse AnswerAs(const HttpRequest& request, const Data& data, const absl::StatusOr<Caller>& caller);
  bool IsRedfish(absl::string_view path) const;
  HttpResponse Redfish(HttpRequest request, absl::string_view path);
  HttpResponse RedfishAs(const HttpRequest& request, absl::string_view path,
                         const absl::StatusOr<RedfishTarget>& target, const absl::StatusOr<Caller>& caller);
  // Whether another token than the request's, or one at all, may help.
  bool MayShowToken(const absl::Status& why) const;
  HttpResponse Unauthenticated(const absl::Status& why) const;
  HttpResponse AuditLog(const HttpRequest& request, const Caller& caller);
  // The families of the boards that still answer, as far as the caller sees them.
  std::string BoardFamilies(const Caller& caller, const std::vector<VisibleDevice>& devices,
                            MetricsFormat format) const;
  HttpResponse Metrics(const HttpRequest& request, const Caller& caller);
  HttpResponse Page(const HttpRequest& request, const Caller& caller);
  HttpResponse PageHistory(const HttpRequest& request, const Caller& caller);
  HttpResponse PageStatus(const HttpRequest& request, const Caller& caller);
  HttpResponse Targets(const HttpRequest& request, const Caller& caller);
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
  const Sources sources_;
  PollAudit poll_audit_, refusal_audit_;
  ExpositionCache expositions_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SITE_H_
