// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/site.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/base/retry_after.h"
#include "daemon/exposition/exposition.h"
#include "daemon/http/queries.h"
#include "daemon/http/status_page.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/public_documents.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "proto/base/event_name.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

std::string JsonOf(const std::vector<TargetGroup>& groups) {
  nlohmann::json list = nlohmann::json::array();
  for (const TargetGroup& group : groups) list.push_back({{"targets", group.targets}, {"labels", group.labels}});
  // A request's host may be any bytes.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr char kVersion[] = "4.0";

HttpResponse ErrorResponse(const RedfishError& error) {
  const RedfishDocument document = DocumentOf(error.document);
  return {.status = error.http_status,
          .content_type = document.content_type,
          .fields = {{"OData-Version", kVersion}},
          .body = Body::Of(document.text)};
}

constexpr char kHtmlType[] = "text/html; charset=utf-8";
constexpr char kJsonType[] = "application/json";
// An open page requests it every few seconds.
constexpr char kPollPath[] = "/page/status";
constexpr char kRedfishPath[] = "/redfish";
constexpr char kJsonLinesType[] = "application/x-ndjson";
// Bounds what one answer holds; a client asks for more after the last line that it got.
constexpr size_t kAuditAnswerBytesMax = 1 << 20;

HttpResponse Plain(int status, std::string text) { return {.status = status, .body = Body::Of(std::move(text))}; }

HttpResponse Absent() { return Plain(404, "not found\n"); }

HttpResponse Typed(const char* type, std::string content) {
  HttpResponse response = Plain(200, std::move(content));
  response.content_type = type;
  return response;
}

int HttpStatusOf(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
      return 404;
    default:
      return 503;
  }
}

HttpResponse JsonOrError(absl::StatusOr<std::string> json) {
  if (json.ok()) return Typed(kJsonType, *std::move(json));
  return Plain(HttpStatusOf(json.status()), absl::StrCat(json.status().message(), "\n"));
}

absl::string_view PathOf(absl::string_view target) { return target.substr(0, target.find('?')); }

bool IsRead(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

bool IsOperator(const Caller& caller) { return caller.May(Resource::SelfMetrics(), Right::kRead); }

bool IsFresh(const VisibleDevice& device) { return device.state == VisibleDevice::State::kFresh; }

// The outcome that the audit log records.
absl::Status OutcomeOf(const HttpResponse& response) {
  if (response.status == 404) return NotFound();
  if (response.status == 400) return absl::InvalidArgumentError("query");
  if (response.status == 503) return absl::UnavailableError("data");
  if (response.status == 501) return absl::UnimplementedError("query");
  if (response.status == 507) return absl::ResourceExhaustedError("size");
  if (response.status == 412) return absl::FailedPreconditionError("version");
  return absl::OkStatus();
}

// The events that the names mean, if the caller may read each in some row, or may be able to: until a device has
// answered, all that a scrape can say is that the devices are down. Denied and unknown events are indistinguishable.
absl::StatusOr<std::set<std::string>> NamedEvents(const std::set<std::string>& names,
                                                  const std::vector<VisibleDevice>& devices) {
  const auto is_unknown = [](const VisibleDevice& device) { return device.view == nullptr; };
  if (names.empty() || (!devices.empty() && std::ranges::all_of(devices, is_unknown))) return names;
  std::set<std::string> visible, events;
  for (const VisibleDevice& device : devices) {
    if (is_unknown(device)) continue;
    const auto& known = device.view->topology()->catalog().events;
    for (size_t i = 0; i < known.size(); ++i) {
      if (device.view->AllEvents()[i]) visible.insert(known[i].name);
    }
  }
  for (const std::string& name : names) {
    const auto event = FindEvent(name, [&](const std::string& exact) {
      const auto found = visible.find(exact);
      return found == visible.end() ? nullptr : &*found;
    });
    if (event == nullptr) {
      const std::vector<std::string> candidates(visible.begin(), visible.end());
      return absl::NotFoundError(absl::StrCat("no such event: '", Visible(name), "'", DidYouMean(name, candidates)));
    }
    events.insert(*event);
  }
  return events;
}

// "fresh, 0.4s old"
std::string DescribeState(const VisibleDevice& device) {
  const double age = absl::ToDoubleSeconds(device.age);
  switch (device.state) {
    case VisibleDevice::State::kFresh:
      return absl::StrFormat("fresh, %.1fs old", age);
    case VisibleDevice::State::kStale:
      return absl::StrFormat("stale, %.1fs old", age);
    case VisibleDevice::State::kAway:
      return "away, no snapshot yet";
  }
  return "unknown";
}

HttpResponse ReadinessOf(const std::vector<VisibleDevice>& devices) {
  std::string lines;
  for (const VisibleDevice& device : devices) {
    absl::StrAppend(&lines, device.info->name, ": ", DescribeState(device), "\n");
  }
  return Plain(std::all_of(devices.begin(), devices.end(), IsFresh) ? 200 : 503, std::move(lines));
}

}  // namespace

void TargetList::Replace(const Groups& groups) {
  std::optional<std::string> json;
  if (groups) json = JsonOf(*groups);
  absl::MutexLock lock(&mu_);
  json_ = std::move(json);
}

std::string TargetList::Json(const std::string& host) const {
  absl::MutexLock lock(&mu_);
  if (json_) return *json_;
  return JsonOf(host.empty() ? std::vector<TargetGroup>() : std::vector<TargetGroup>{{.targets = {host}}});
}

bool PollAudit::IsDue(const std::string& identity, absl::Duration now) {
  absl::MutexLock lock(&mu_);
  if (last_.size() >= kIdentitiesMax && !last_.contains(identity)) last_.clear();
  const auto [last, is_new] = last_.try_emplace(identity, now);
  if (!is_new && now - last->second < kInterval) return false;
  last->second = now;
  return true;
}

std::optional<std::string> BearerTokenOf(const HttpRequest& request) {
  const std::optional<std::string>& bearer = request.credentials.bearer_token;
  if (!request.session_token) return bearer;
  if (bearer && *bearer != *request.session_token) return "";
  return request.session_token;
}

absl::StatusOr<RedfishDocument> CheckedVersion(const HttpRequest& request, absl::StatusOr<RedfishDocument> answer) {
  if (request.odata_version.empty() || request.odata_version == kVersion) return answer;
  return absl::FailedPreconditionError("");
}

HttpResponse RedfishResponse(absl::StatusOr<RedfishDocument> answer, absl::string_view path) {
  if (!answer.ok()) return ErrorResponse(RedfishErrorOf(answer.status(), path));
  HttpResponse response = {.content_type = std::move(answer->content_type),
                           .fields = {{"OData-Version", kVersion}, {"Allow", "GET, HEAD"}},
                           .body = Body::Of(std::move(answer->text))};
  if (!answer->schema.empty()) {
    response.fields.emplace_back("Link", absl::StrCat("<", answer->schema, ">; rel=describedby"));
  }
  return response;
}

HttpResponse RedfishBusyResponse(int64_t retry_after_s) { return ErrorResponse(RedfishBusyError(retry_after_s)); }

// The server adds the field Allow.
HttpResponse RedfishMethodResponse() { return ErrorResponse(RedfishMethodError()); }

const Site::Data Site::kData[] = {
    {"/", &Site::Page, std::nullopt},
    {"/audit", &Site::AuditLog, WorkQueue::Lane::kQueries},
    {"/metrics", &Site::Metrics, WorkQueue::Lane::kScrapes},
    {"/page/history", &Site::PageHistory, WorkQueue::Lane::kHistories},
    {kPollPath, &Site::PageStatus, WorkQueue::Lane::kQueries},
    {"/sd", &Site::Targets, std::nullopt},
};

const Site::Data* Site::FindData(absl::string_view path) {
  const auto found = std::ranges::find(kData, path, &Data::path);
  return found == std::end(kData) ? nullptr : &*found;
}

// The path as a metric label. Unknown paths share one label, since clients could otherwise create any number of series.
absl::string_view Site::KnownPath(absl::string_view path) const {
  if (const Data* data = FindData(path)) return data->path;
  if (IsRedfish(path)) return kRedfishPath;
  for (const absl::string_view probe : {"/-/healthy", "/-/ready"}) {
    if (path == probe) return probe;
  }
  return "other";
}

HttpResponse Site::Handle(const HttpRequest& request) {
  const absl::Duration start = clock_.Steady();
  const absl::string_view path = PathOf(request.target);
  HttpResponse response = Answer(request, path);
  // An answer that is made later is counted then.
  if (response.work == nullptr) metrics_.HttpRequest(KnownPath(path), response.status, clock_.Steady() - start);
  return response;
}

void Site::RefreshExpositions() {
  expositions_.Refresh(reader_.CurrentPolicy().version,
                       [this](const Caller& caller) { return reader_.DevicesToScrape(caller); });
}

HttpResponse Site::Answer(const HttpRequest& request, absl::string_view path) {
  if (IsRedfish(path)) return Redfish(request, path);
  if (!IsRead(request)) return Plain(405, "only GET and HEAD are answered\n");
  // Probes may come without an identity, and this answer tells nothing about a device.
  if (path == "/-/healthy") return Plain(200, "healthy\n");
  if (path == "/-/ready") return Ready(request, path);
  const Data* data = FindData(path);
  if (data == nullptr) return Absent();
  const auto caller = reader_.Authenticate(request.credentials);
  if (!caller.ok() || !data->lane) return AnswerAs(request, *data, caller);
  // A selection is rendered for each request; everything, once for each snapshot.
  const bool is_selection = data->lane == WorkQueue::Lane::kScrapes && absl::StrContains(request.target, '?');
  return Later(request, data->path, *caller, is_selection ? WorkQueue::Lane::kQueries : *data->lane,
               [this, request, data](const absl::StatusOr<Caller>& now) { return AnswerAs(request, *data, now); });
}

HttpResponse Site::AnswerAs(const HttpRequest& request, const Data& data, const absl::StatusOr<Caller>& caller) {
  HttpResponse response = caller.ok() ? (this->*data.answer)(request, *caller) : Unauthenticated(caller.status());
  // Lets the server count the connection for the identity.
  if (caller.ok()) response.identity = caller->principal.identity;
  const bool is_poll = data.path == kPollPath && caller.ok();
  if (!is_poll || poll_audit_.IsDue(response.identity, clock_.Steady()))
    Audit(request, data.path, caller, OutcomeOf(response));
  return response;
}

HttpResponse Site::Later(const HttpRequest& request, absl::string_view path, const Caller& caller, WorkQueue::Lane lane,
                         std::function<HttpResponse(const absl::StatusOr<Caller>&)> make) {
  const absl::Duration start = clock_.Steady();
  auto work = std::make_shared<HttpWork>();
  work->lane = lane;
  work->is_operator = IsOperator(caller);
  work->make = [this, request, path, caller, start, make = std::move(make)](const absl::Status& may) {
    HttpResponse response =
        may.ok() ? make(reader_.Authenticate(request.credentials)) : TooMuch(request, path, caller, may);
    metrics_.HttpRequest(path, response.status, clock_.Steady() - start);
    return response;
  };
  return {.identity = caller.principal.identity, .work = std::move(work)};
}

HttpResponse Site::TooMuch(const HttpRequest& request, absl::string_view path, const Caller& caller,
                           const absl::Status& why) {
  const int64_t retry_after_s =
      absl::ToInt64Seconds(absl::Ceil(RetryAfter(why).value_or(absl::Seconds(1)), absl::Seconds(1)));
  HttpResponse response =
      path == kRedfishPath ? RedfishBusyResponse(retry_after_s) : Plain(429, absl::StrCat(why.message(), "\n"));
  response.fields.emplace_back("Retry-After", absl::StrCat(retry_after_s));
  response.identity = caller.principal.identity;
  // A flood must not push older entries out of the log.
  if (refusal_audit_.IsDue(response.identity, clock_.Steady())) Audit(request, path, caller, why);
  return response;
}

bool Site::IsRedfish(absl::string_view path) const {
  return sources_.redfish != nullptr && (path == kRedfishPath || absl::StartsWith(path, "/redfish/"));
}

HttpResponse Site::Redfish(HttpRequest request, absl::string_view path) {
  if (!IsRead(request)) return RedfishMethodResponse();
  const auto target = ParseRedfishTarget(request.target);
  if (target.ok() && IsPublic(*target)) return RedfishResponse(CheckedVersion(request, PublicDocument(*target)), path);
  request.credentials.bearer_token = BearerTokenOf(request);
  const auto caller = reader_.Authenticate(request.credentials);
  if (!caller.ok() || !target.ok()) return RedfishAs(request, path, target, caller);
  return Later(request, kRedfishPath, *caller, WorkQueue::Lane::kQueries,
               [this, request, target](const absl::StatusOr<Caller>& now) {
                 return RedfishAs(request, PathOf(request.target), target, now);
               });
}

HttpResponse Site::RedfishAs(const HttpRequest& request, absl::string_view path,
                             const absl::StatusOr<RedfishTarget>& target, const absl::StatusOr<Caller>& caller) {
  const auto answer = [&]() -> absl::StatusOr<RedfishDocument> {
    if (!caller.ok())
      return MayShowToken(caller.status()) ? absl::UnauthenticatedError("") : absl::PermissionDeniedError("");
    return target.ok() ? CheckedVersion(request, sources_.redfish->Get(*caller, *target)) : target.status();
  };
  HttpResponse response = RedfishResponse(answer(), path);
  if (caller.ok()) response.identity = caller->principal.identity;
  // Paths of clients' choice are in the entry's resource.
  Audit(request, kRedfishPath, caller, OutcomeOf(response));
  return response;
}

void Site::Audit(const HttpRequest& request, absl::string_view path, const absl::StatusOr<Caller>& caller,
                 const absl::Status& outcome) {
  const Access access{absl::StrCat(request.method, " ", path), request.target};
  reader_.audit().Record(AccessEntry(reader_, caller, request.credentials, access, outcome));
}

bool Site::MayShowToken(const absl::Status& why) const {
  return reader_.takes_tokens() && absl::IsUnauthenticated(why);
}

// One message for every reason. 401 invites a token where tokens are configured and none or a bad one was sent.
HttpResponse Site::Unauthenticated(const absl::Status& why) const {
  return Plain(MayShowToken(why) ? 401 : 403, "the caller has no valid credentials, or is not in the policy\n");
}

// The same for every caller: what it shows is in /page/status.
HttpResponse Site::Page(const HttpRequest&, const Caller&) {
  HttpResponse page = Typed(kHtmlType, std::string(StatusPage()));
  page.content_security_policy = std::string(StatusPagePolicy());
  return page;
}

HttpResponse Site::PageStatus(const HttpRequest&, const Caller& caller) {
  if (sources_.page == nullptr) return Absent();
  HttpResponse response{.content_type = kJsonType};
  response.body = sources_.page->Status(caller);
  return response;
}

HttpResponse Site::PageHistory(const HttpRequest& request, const Caller& caller) {
  if (sources_.page == nullptr) return Absent();
  const auto query = ParseHistoryQuery(request.target, clock_.Now());
  return JsonOrError(query.ok() ? sources_.page->History(caller, *query) : query.status());
}

// The hosts of a fleet are the operators' knowledge.
HttpResponse Site::Targets(const HttpRequest& request, const Caller& caller) {
  if (sources_.targets == nullptr || !IsOperator(caller)) return Absent();
  return Typed(kJsonType, sources_.targets->Json(request.host));
}

// Callers without the right receive the answer of an absent path.
HttpResponse Site::AuditLog(const HttpRequest& request, const Caller& caller) {
  if (!sources_.audit_log || !caller.May(Resource::AuditLog(), Right::kRead)) return Absent();
  const auto after = ParseAuditQuery(request.target);
  if (!after.ok()) return Plain(400, absl::StrCat(after.status().message(), "\n"));
  auto lines = sources_.audit_log(*after, kAuditAnswerBytesMax);
  if (!lines.ok()) return Plain(503, "the audit log cannot be read now\n");
  return Typed(kJsonLinesType, *std::move(lines));
}

std::string Site::BoardFamilies(const Caller& caller, const std::vector<VisibleDevice>& devices,
                                MetricsFormat format) const {
  if (sources_.boards == nullptr) return "";
  const absl::Duration now = clock_.Steady();
  return BoardFamiliesText(format, VisibleBoards(*sources_.boards, reader_.tenures(), caller, devices, now), now);
}

HttpResponse Site::Metrics(const HttpRequest& request, const Caller& caller) {
  const absl::Duration start = clock_.Steady();
  auto filter = ParseScrapeQuery(request.target);
  if (!filter.ok()) return Plain(400, absl::StrCat(filter.status().message(), "\n"));
  const std::vector<VisibleDevice> devices = reader_.DevicesToScrape(caller);
  auto events = NamedEvents(filter->events, devices);
  if (!events.ok()) return Plain(404, absl::StrCat(events.status().message(), "\n"));
  filter->events = *std::move(events);
  const ScrapeRequest scrape{FormatFor(request.accept), AcceptsGzip(request.accept_encoding), *filter};
  // Sensors and the daemon's own metrics are not events: a query that selects events or scopes excludes them.
  const auto others = [&] {
    std::string text = BoardFamilies(caller, devices, scrape.format);
    if (IsOperator(caller)) text += metrics_.Serialize(scrape.format);
    return text;
  };
  HttpResponse response{.content_type = std::string(ContentTypeOf(scrape.format)),
                        .content_encoding = scrape.gzip ? "gzip" : ""};
  response.body = expositions_.Scrape(caller, devices, scrape, filter->SelectsEverything() ? others() : std::string());
  metrics_.RenderDuration(clock_.Steady() - start);
  return response;
}

// Anonymous callers are answered. A bad token is rejected and audited as on other paths, since its verification costs
// the same.
HttpResponse Site::Ready(const HttpRequest& request, absl::string_view path) {
  const auto caller = reader_.Authenticate(request.credentials);
  if (!request.credentials.bearer_token) return caller.ok() ? ReadyFor(*caller) : ReadyForAnybody();
  if (!caller.ok()) {
    Audit(request, path, caller, caller.status());
    return Unauthenticated(caller.status());
  }
  HttpResponse response = ReadyFor(*caller);
  response.identity = caller->principal.identity;
  return response;
}

HttpResponse Site::ReadyFor(const Caller& caller) {
  const std::vector<VisibleDevice> devices = reader_.Devices(caller);
  return devices.empty() ? ReadyForAnybody() : ReadinessOf(devices);
}

// For callers that see no device: one word about all devices.
HttpResponse Site::ReadyForAnybody() const {
  const bool ready = reader_.AllFresh();
  return Plain(ready ? 200 : 503, ready ? "ready\n" : "not ready\n");
}

}  // namespace sideband::daemon
