// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/scrape_query.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/http/query_parameters.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; the query of /metrics takes event[]=NAME and scope=device, vm, context or host"));
}

absl::Status SelectScope(const std::string& word, ScrapeFilter& filter) {
  if (word == "device") {
    filter.devices = true;
  } else if (word == "vm") {
    filter.vms = true;
  } else if (word == "context") {
    filter.contexts = true;
  } else if (word == "host") {
    filter.hosts = true;
  } else {
    return Malformed("unknown scope");
  }
  return absl::OkStatus();
}

absl::Status SelectEvent(std::string name, ScrapeFilter& filter) {
  if (name.empty()) return Malformed("an event without a name");
  filter.events.insert(std::move(name));
  return filter.events.size() <= kScrapeEventsMax ? absl::OkStatus() : Malformed("too many events");
}

}  // namespace

absl::StatusOr<ScrapeFilter> ParseScrapeQuery(absl::string_view target) {
  const auto parameters = ParseQuery(target);
  if (!parameters.ok()) return Malformed(parameters.status().message());
  ScrapeFilter filter;
  bool names_scopes = false;
  for (const auto& [key, value] : *parameters) {
    absl::Status taken = Malformed("unknown parameter");
    if (key == "event[]" || key == "event") taken = SelectEvent(value, filter);
    if (key == "scope[]" || key == "scope") {
      // The first scope replaces the default, which is all of them.
      if (!names_scopes) filter.devices = filter.vms = filter.contexts = filter.hosts = false;
      names_scopes = true;
      taken = SelectScope(value, filter);
    }
    SIDEBAND_RETURN_IF_ERROR(taken);
  }
  return filter;
}

}  // namespace sideband::daemon
