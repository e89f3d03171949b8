// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/site.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/http/status_page.h"

namespace sideband::daemon {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kHtmlType[] = "text/html; charset=utf-8";

HttpResponse Plain(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

absl::string_view PathOf(absl::string_view target) { return target.substr(0, target.find('?')); }

// For metrics: whatever a client makes up must not become a label.
absl::string_view KnownPath(absl::string_view path) {
  for (const absl::string_view known : {"/metrics", "/-/healthy", "/-/ready", "/"}) {
    if (path == known) return known;
  }
  return "other";
}

bool IsFresh(const VisibleDevice& device) { return device.state == VisibleDevice::State::kFresh; }

HttpResponse ReadyFor(const std::vector<VisibleDevice>& devices) {
  std::string lines;
  for (const VisibleDevice& device : devices) {
    absl::StrAppend(&lines, device.info->name, ": ", DescribeState(device), "\n");
  }
  return Plain(std::all_of(devices.begin(), devices.end(), IsFresh) ? 200 : 503, std::move(lines));
}

}  // namespace

HttpResponse Site::Handle(const HttpRequest& request) {
  const absl::Duration start = clock_.Steady();
  const absl::string_view path = PathOf(request.target);
  HttpResponse response = request.method == "GET" || request.method == "HEAD"
                              ? Answer(request, path)
                              : Plain(405, "only GET and HEAD are answered\n");
  metrics_.HttpRequest(KnownPath(path), response.status, clock_.Steady() - start);
  return response;
}

HttpResponse Site::Answer(const HttpRequest& request, absl::string_view path) {
  if (path == "/-/healthy") return Plain(200, "healthy\n");
  if (path == "/-/ready") return Ready(request);
  if (path != "/metrics" && path != "/") return Plain(404, "not found\n");
  const auto caller = reader_.Authenticate(request.credentials);
  if (!caller.ok()) return Nobody(caller.status());
  if (path == "/metrics") return Metrics(*caller);
  HttpResponse page = Plain(200, StatusPage(reader_.Devices(*caller)));
  page.content_type = kHtmlType;
  return page;
}

// The same words whatever the reason is.
HttpResponse Site::Nobody(const absl::Status& why) {
  const bool may_show_a_token = reader_.takes_tokens() && absl::IsUnauthenticated(why);
  return Plain(may_show_a_token ? 401 : 403, "the caller's identity is not in the policy\n");
}

HttpResponse Site::Metrics(const Caller& caller) {
  const absl::Duration start = clock_.Steady();
  const bool with_own = caller.May(Resource::SelfMetrics(), Right::kRead);
  HttpResponse response{.content_type = kMetricsType};
  response.body = expositions_.Render(caller, reader_.Devices(caller), with_own ? metrics_.Serialize() : std::string());
  metrics_.RenderDuration(clock_.Steady() - start);
  return response;
}

HttpResponse Site::Ready(const HttpRequest& request) {
  if (const auto caller = reader_.Identify(request.credentials)) {
    const std::vector<VisibleDevice> devices = reader_.Devices(*caller);
    if (!devices.empty()) return ReadyFor(devices);
  }
  // To those who see no device: one word about all of them.
  const bool ready = reader_.FreshDevices() == reader_.store().devices().size();
  return Plain(ready ? 200 : 503, ready ? "ready\n" : "not ready\n");
}

}  // namespace sideband::daemon
