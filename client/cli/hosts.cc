// SPDX-License-Identifier: Apache-2.0
#include "client/cli/hosts.h"

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// Each has a connection and a thread of its own.
constexpr size_t kHostsMax = 256;

}  // namespace

absl::StatusOr<std::vector<Host>> HostsOf(const CommandContext& context) {
  SIDEBAND_ASSIGN_OR_RETURN(const ClientConfig config, context.Config());
  const std::vector<std::string> addresses = AddressesOf(config);
  if (addresses.size() > kHostsMax) {
    return absl::InvalidArgumentError(absl::StrCat("address: ", addresses.size(), " daemons are given; at most ",
                                                   kHostsMax, " can be asked at once"));
  }
  std::vector<Host> hosts;
  if (addresses.size() < 2) {
    hosts.push_back({"", context});
    return hosts;
  }
  for (const std::string& address : addresses) hosts.push_back({address, context.For(address)});
  return hosts;
}

absl::Status AskEach(std::vector<Host>& hosts,
                     const std::function<void(size_t, std::unique_ptr<TelemetryClient>)>& ask) {
  // Before the threads, which must inherit the signals that this blocks.
  std::vector<std::unique_ptr<TelemetryClient>> clients;
  for (Host& host : hosts) {
    SIDEBAND_ASSIGN_OR_RETURN(clients.emplace_back(), host.context.Connect());
  }
  std::vector<std::thread> threads;
  for (size_t i = 1; i < hosts.size(); ++i) threads.emplace_back([&, i] { ask(i, std::move(clients[i])); });
  ask(0, std::move(clients[0]));
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

absl::Status HostErrors::Add(Host& host, const absl::Status& ended) {
  if (!ended.ok() && (host.name.empty() || !IsRemote(ended))) return ended;
  const absl::Status explained = host.context.Explain(ended);  // without the lock: it may connect
  std::string message(explained.message());
  if (!absl::StartsWith(message, host.name)) message = absl::StrCat(host.name, ": ", message);
  const absl::MutexLock lock(&mu_);
  if (explained.ok()) {
    has_answer_ = true;
  } else if (absl::IsNotFound(explained)) {
    not_found_.push_back(message);
  } else {
    has_error_ = true;
    context_.Note(message);
  }
  return absl::OkStatus();
}

absl::Status HostErrors::Result() {
  const absl::MutexLock lock(&mu_);
  if (!has_answer_) {
    for (const std::string& message : not_found_) context_.Note(message);
  }
  const bool is_missing = !has_answer_ && !not_found_.empty();
  return has_error_ || is_missing ? WithExitCode(absl::UnavailableError(""), 1) : absl::OkStatus();
}

std::string WithHostColumn(const std::string& csv, const std::string& value) {
  if (value.empty()) return csv;
  constexpr char kLineEnd[] = "\r\n";  // no field has one: control characters are escaped
  const std::string field(absl::StripSuffix(CsvLine({value}), kLineEnd));
  std::string text;
  for (const absl::string_view line : absl::StrSplit(csv, kLineEnd, absl::SkipEmpty())) {
    absl::StrAppend(&text, field, ",", line, kLineEnd);
  }
  return text;
}

std::string WithHostMember(const std::string& object, const std::string& host) {
  if (host.empty()) return object;
  // A path of a socket need not be UTF-8.
  const std::string name = nlohmann::json(host).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // An object that cannot be converted may be empty (formats.cc).
  return absl::StrCat("{\"host\": ", name, ",", absl::StripPrefix(object, "{"));
}

std::string HostsJson(const std::vector<std::string>& objects, bool are_several) {
  if (!are_several) return absl::StrJoin(objects, "");
  const auto without_line_end = [](std::string* out, const std::string& object) {
    absl::StrAppend(out, absl::StripSuffix(object, "\n"));
  };
  return absl::StrCat("{\"hosts\": [", absl::StrJoin(objects, ",\n", without_line_end), "]}\n");
}

std::string NameAtHost(const std::string& host, const std::string& device) {
  return absl::StrCat(host, host.empty() ? "" : "  ", device);
}

}  // namespace sideband::client
