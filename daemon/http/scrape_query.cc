// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/scrape_query.h"

#include <boost/url/parse.hpp>
#include <boost/url/src.hpp>  // header-only: there is no library to link
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::daemon {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; the query of /metrics takes event[]=NAME and scope=device, vm or context"));
}

absl::Status SelectScope(const std::string& word, ScrapeFilter& filter) {
  if (word == "device") {
    filter.devices = true;
  } else if (word == "vm") {
    filter.vms = true;
  } else if (word == "context") {
    filter.contexts = true;
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
  // Everybody writes the brackets as they are, though a query may not hold them.
  const std::string encoded = absl::StrReplaceAll(target, {{"[", "%5B"}, {"]", "%5D"}});
  const auto url = boost::urls::parse_origin_form(encoded);
  if (url.has_error()) return Malformed("malformed query");
  ScrapeFilter filter;
  bool names_scopes = false;
  for (const boost::urls::param parameter : url->params()) {
    if (parameter.key.empty() && !parameter.has_value) continue;  // "?" and "&" with nothing behind them
    absl::Status taken = Malformed("unknown parameter");
    if (parameter.key == "event[]" || parameter.key == "event") taken = SelectEvent(parameter.value, filter);
    if (parameter.key == "scope[]" || parameter.key == "scope") {
      if (!names_scopes) filter.devices = filter.vms = filter.contexts = false;
      names_scopes = true;
      taken = SelectScope(parameter.value, filter);
    }
    if (!taken.ok()) return taken;
  }
  return filter;
}

}  // namespace sideband::daemon
