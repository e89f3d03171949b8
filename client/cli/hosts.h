// SPDX-License-Identifier: Apache-2.0
//
// The daemons of a command that asks several: `--address a:9878,b:9878`.
//   SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
//   std::vector<absl::Status> ended(hosts.size());
//   SIDEBAND_RETURN_IF_ERROR(AskEach(hosts, [&](size_t i, auto client) { ended[i] = Ask(*client); }));
//   HostErrors errors(context);
//   for (size_t i = 0; i < hosts.size(); ++i) SIDEBAND_RETURN_IF_ERROR(errors.Add(hosts[i], ended[i]));
//   return errors.Result();
#ifndef SIDEBAND_CLIENT_CLI_HOSTS_H_
#define SIDEBAND_CLIENT_CLI_HOSTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"
#include "client/lib/telemetry_client.h"

namespace sideband::client {

struct Host {
  std::string name;  // the address; empty if there is only one daemon: no output names it
  CommandContext context;
};

// One for each address of the configuration, at least one; INVALID_ARGUMENT for more than 256. Their contexts use what
// `context` uses.
absl::StatusOr<std::vector<Host>> HostsOf(const CommandContext& context);

// Connects to each host in turn, then calls `ask` with its index and its client; for several, each on a thread of its
// own, so that one that does not answer delays no other. Returns when all have returned, or the error of a connection.
absl::Status AskEach(std::vector<Host>& hosts,
                     const std::function<void(size_t, std::unique_ptr<TelemetryClient>)>& ask);

// Collects how asking each host has ended. A host that fails is noted, and does not hide the others. Thread-safe; the
// context must outlive it.
class HostErrors {
 public:
  explicit HostErrors(CommandContext& context) : context_(context) {}

  // Takes how asking the host has ended. Returns an error that ends the command: that of the only daemon, and one that
  // is not a daemon's, such as a missing file.
  absl::Status Add(Host& host, const absl::Status& ended) ABSL_LOCKS_EXCLUDED(mu_);
  // OK, or an error that has been noted, with exit status 1. NOT_FOUND is an error only if no host has answered: a
  // name is on one of several hosts.
  absl::Status Result() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  CommandContext& context_;
  absl::Mutex mu_;
  bool has_answer_ ABSL_GUARDED_BY(mu_) = false;
  bool has_error_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> not_found_ ABSL_GUARDED_BY(mu_);  // messages
};

// Lines of CSV with one more column at their beginning; `value` is "host" for the titles. Unchanged if it is empty.
std::string WithHostColumn(const std::string& csv, const std::string& value);

// A JSON object, which is not empty, with the member `host` at its beginning. Unchanged if `host` is empty.
std::string WithHostMember(const std::string& object, const std::string& host);

// Objects of several hosts as one: {"hosts": [...]}. The object of the only daemon is unchanged.
std::string HostsJson(const std::vector<std::string>& objects, bool are_several);

// The name of a device in headings: after that of its host, if there are several.
std::string NameAtHost(const std::string& host, const std::string& device);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_HOSTS_H_
