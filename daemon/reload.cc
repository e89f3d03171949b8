// SPDX-License-Identifier: Apache-2.0
#include "daemon/reload.h"

#include <malloc.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/authz/absent_names.h"
#include "daemon/config/bmc_config.h"
#include "daemon/config/device_config.h"
#include "daemon/config/listener_config.h"
#include "daemon/startup.h"
#include "proto/base/errors.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/envelope/keys.h"
#include "proto/exchange/exchanger.h"

namespace sideband::daemon {
namespace {

// A path that could not be read is empty: its error was already reported at the configuration key.
void CheckTls(const ListenerConfig& listener, ErrorList& errors) {
  const TlsServerConfig& tls = listener.tls;
  const bool has_authority = tls.client_auth == ClientAuth::kNone || !tls.client_ca_file.empty();
  const bool is_readable = !tls.cert_file.empty() && !tls.key_file.empty() && has_authority;
  if (listener.on_network && is_readable) CheckTlsFiles(tls, errors);
}

bool HaveSameTls(const ListenerConfig& a, const ListenerConfig& b) {
  return a.on_network && b.on_network && a.tls == b.tls;
}

std::vector<std::string> DeviceNames(const Config& config) {
  std::vector<std::string> names;
  for (const DeviceConfig& device : config.devices) names.push_back(device.name);
  for (const BmcConfig& bmc : config.bmcs) {
    for (const BmcDevice& device : bmc.devices) names.push_back(device.name);
  }
  return names;
}

// A grant of a device that is not configured is a typing error. Which devices a BMC has is known only later. Devices
// that are no BMC's may have VMs of other tenants, of which a board's power and activity tell.
void CheckDeviceGrants(const Policy& policy, const Config& config, ErrorList& errors) {
  const std::vector<std::string> names = DeviceNames(config);
  const auto may_be_discovered = [&](const std::string& name) {
    return std::ranges::any_of(config.bmcs, [&](const BmcConfig& bmc) { return IsDiscoveredName(bmc, name); });
  };
  const auto is_of_bmc = [&](const std::string& name) {
    return may_be_discovered(name) || std::ranges::any_of(config.bmcs, [&](const BmcConfig& bmc) {
             return std::ranges::count(bmc.devices, name, &BmcDevice::name) > 0;
           });
  };
  for (const Tenant& tenant : policy.tenants()) {
    for (const PartitionGrant& grant : tenant.partitions) {
      if (std::ranges::count(names, grant.device) > 0 || may_be_discovered(grant.device)) continue;
      errors.Add(absl::InvalidArgumentError(absl::StrCat(policy.path(), ":", grant.line, ": device '", grant.device,
                                                         "' is not configured", DidYouMean(grant.device, names))));
    }
    for (const DeviceGrant& grant : tenant.devices) {
      if (is_of_bmc(grant.device)) continue;
      const std::string where = absl::StrCat(policy.path(), ":", grant.line, ": device '", grant.device, "' ");
      const bool is_known = std::ranges::count(names, grant.device) > 0;
      errors.Add(absl::InvalidArgumentError(
          is_known ? absl::StrCat(where, "is not behind a BMC: grant its VMs or partitions")
                   : absl::StrCat(where, "is not configured", DidYouMean(grant.device, names))));
    }
  }
}

absl::Status ShuttingDown() { return absl::UnavailableError("shutting down"); }

std::vector<PlacedEvent> EventsOf(const RatioConfig& ratios) {
  std::vector<PlacedEvent> events;
  for (const RatioEvent& event : ratios.events) events.push_back({event.name, event.place});
  return events;
}

// Returns the events that `in_force` does not name. An event that has disappeared from the devices since it was
// accepted must not block other changes.
std::vector<PlacedEvent> NewEvents(const RatioConfig& wanted, const RatioConfig& in_force) {
  std::set<std::string> known;
  for (const RatioEvent& event : in_force.events) known.insert(event.name);
  std::vector<PlacedEvent> events = EventsOf(wanted);
  std::erase_if(events, [&](const PlacedEvent& event) { return known.contains(event.name); });
  return events;
}

struct Setting {
  const char* name;
  bool (*is_equal)(const Config& a, const Config& b);
};

bool HaveSameAddress(const ListenerConfig& a, const ListenerConfig& b) {
  return a.on_network == b.on_network && a.listen == b.listen;
}

bool HaveSameKeys(const Config& a, const Config& b) {
  return std::ranges::equal(a.vm_keys, b.vm_keys, [](const VmKeyConfig& one, const VmKeyConfig& other) {
    return one.vm == other.vm && one.key_file == other.key_file;
  });
}

// Compares the token settings with `is_equal` if both configurations have tokens; otherwise returns true, since the
// setting "tokens" covers that difference.
template <typename Equal>
bool AreEqualTokens(const Config& a, const Config& b, Equal is_equal) {
  return !a.tokens || !b.tokens || is_equal(*a.tokens, *b.tokens);
}

constexpr Setting kSettings[] = {
    {"grpc.listen", [](const Config& a, const Config& b) { return HaveSameAddress(a.grpc.listener, b.grpc.listener); }},
    {"grpc.tls_server_config",
     [](const Config& a, const Config& b) { return a.grpc.listener.tls == b.grpc.listener.tls; }},
    {"grpc.unix_socket",
     [](const Config& a, const Config& b) { return a.grpc.listener.unix_socket == b.grpc.listener.unix_socket; }},
    {"grpc.reflection", [](const Config& a, const Config& b) { return a.grpc.reflection == b.grpc.reflection; }},
    {"grpc.max_connection_age",
     [](const Config& a, const Config& b) {
       return a.grpc.listener.max_connection_age == b.grpc.listener.max_connection_age;
     }},
    {"http.listen", [](const Config& a, const Config& b) { return HaveSameAddress(a.http.listener, b.http.listener); }},
    {"http.tls_server_config",
     [](const Config& a, const Config& b) { return a.http.listener.tls == b.http.listener.tls; }},
    {"http.unix_socket",
     [](const Config& a, const Config& b) { return a.http.listener.unix_socket == b.http.listener.unix_socket; }},
    {"http.redfish", [](const Config& a, const Config& b) { return a.http.redfish == b.http.redfish; }},
    {"http.max_connection_age",
     [](const Config& a, const Config& b) {
       return a.http.listener.max_connection_age == b.http.listener.max_connection_age;
     }},
    {"local_operators", [](const Config& a, const Config& b) { return a.local_operators == b.local_operators; }},
    {"log.format", [](const Config& a, const Config& b) { return a.log.format == b.log.format; }},
    {"marks", [](const Config& a, const Config& b) { return a.marks == b.marks; }},
    {"quotas", [](const Config& a, const Config& b) { return a.quotas == b.quotas; }},
    {"tokens", [](const Config& a, const Config& b) { return a.tokens.has_value() == b.tokens.has_value(); }},
    {"tokens.audience",
     [](const Config& a, const Config& b) {
       return AreEqualTokens(a, b, [](const auto& one, const auto& other) { return one.audience == other.audience; });
     }},
    {"tokens.issuer",
     [](const Config& a, const Config& b) {
       return AreEqualTokens(a, b, [](const auto& one, const auto& other) { return one.issuer == other.issuer; });
     }},
    {"sealing.vm_keys", HaveSameKeys},
    {"sealing.exchange", [](const Config& a, const Config& b) { return a.sealing_file == b.sealing_file; }},
    {"audit", [](const Config& a, const Config& b) { return a.audit == b.audit; }},
    {"state_dir", [](const Config& a, const Config& b) { return a.state_dir == b.state_dir; }},
    {"ports_file", [](const Config& a, const Config& b) { return a.ports_file == b.ports_file; }},
};

}  // namespace

StartupFiles ReadStartupFiles(const std::string& config_file, ErrorList& errors) {
  StartupFiles files{.config = LoadConfig(config_file, errors)};
  const Config& config = files.config;
  if (!config.policy_file.empty()) files.policy = LoadPolicy(config.policy_file, errors);
  if (files.policy != nullptr) CheckDeviceGrants(*files.policy, config, errors);
  const bool has_keys = config.tokens && !config.tokens->jwks_file.empty();
  if (has_keys) files.keys = LoadKeySet(config.tokens->jwks_file, errors);
  CheckTls(config.grpc.listener, errors);
  // Otherwise the same errors would be reported twice.
  if (!HaveSameTls(config.grpc.listener, config.http.listener)) CheckTls(config.http.listener, errors);
  for (const VmKeyConfig& key : config.vm_keys) {
    if (!key.key_file.empty()) errors.Add(envelope::LoadStaticKey(key.key_file).status());
  }
  for (const BmcConfig& bmc : config.bmcs) {
    if (!bmc.ca_file.empty()) errors.Add(LoadCertificates(bmc.ca_file).status());
  }
  if (!config.sealing_file.empty()) errors.Add(exchange::SealingRules::Load(config.sealing_file).status());
  return files;
}

void ReloadRequests::Ask(Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (!is_closed_) waiting_.push_back(std::exchange(done, nullptr));
  }
  if (done != nullptr) return done(ShuttingDown());
  wake_();
}

std::vector<ReloadRequests::Done> ReloadRequests::Take() {
  absl::MutexLock lock(&mu_);
  return std::exchange(waiting_, {});
}

void ReloadRequests::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  for (const Done& done : Take()) done(ShuttingDown());
}

AbsentNameNotice::Names NamesToLookFor(const Config& config) {
  AbsentNameNotice::Names names{.events = EventsOf(config.ratios)};
  for (const VmKeyConfig& key : config.vm_keys) names.vms.push_back({key.vm, key.place});
  return names;
}

void Reloader::RecordPolicy(const absl::Status& status) const {
  parts_.reader.audit().Record(
      {.kind = AuditKind::kPolicy,
       .resource = in_force_.policy_file,
       .reason = status.ok() ? "in force" : absl::StrCat("the old one stays in force: ", status.message()),
       .policy_version = parts_.policy.Current().version});
}

void Reloader::RecordStart() const { RecordPolicy(absl::OkStatus()); }

bool Reloader::AddsDevices(const Config& wanted) const {
  return !std::ranges::all_of(wanted.devices, [&](const DeviceConfig& device) {
    return std::ranges::any_of(in_force_.devices, [&](const DeviceConfig& known) { return known.bus == device.bus; });
  });
}

void Reloader::CheckNames(const StartupFiles& files, ErrorList& errors) const {
  // The events and VMs of an unread device are unknown. The notice checks the names once all devices were read.
  if (AddsDevices(files.config)) return;
  const auto topologies = parts_.reader.FreshTopologies();
  if (!topologies) return;
  const auto in_force = parts_.policy.Current().policy;
  for (const std::string& absent : NewAbsentNames(*files.policy, *in_force, *topologies)) {
    errors.Add(absl::InvalidArgumentError(absent));
  }
  const auto new_events = NewEvents(files.config.ratios, in_force_.ratios);
  for (const std::string& absent : AbsentEvents(new_events, *files.policy, *topologies)) {
    errors.Add(absl::InvalidArgumentError(absent));
  }
  if (!errors.empty()) return;
  for (const std::string& absent : AbsentNames(*files.policy, *topologies)) spdlog::warn("reload: {}", absent);
}

absl::Status Reloader::Take(StartupFiles files, ReloadOutcome& outcome) {
  Config& wanted = files.config;
  const bool has_unknown_names = AddsDevices(wanted) || !parts_.reader.FreshTopologies();
  // The last step that may fail; nothing has been changed before it.
  SIDEBAND_ASSIGN_OR_RETURN(DeviceSet::Prepared prepared, parts_.devices.Prepare(wanted.devices));
  // Enabling or disabling tokens changes the listeners and therefore requires a restart.
  const bool takes_tokens = in_force_.tokens.has_value() && wanted.tokens.has_value();
  auto keys = takes_tokens ? std::move(files.keys) : parts_.policy.Current().keys;
  const std::vector<std::string> identities = IdentityChanges(*parts_.policy.Current().policy, *files.policy);
  parts_.policy.Replace(std::move(files.policy), std::move(keys));
  parts_.bmcs.Configure(wanted.bmcs);
  const auto lines =
      parts_.devices.Apply(JoinDevices(wanted.devices, parts_.bmcs.Devices()), CommonOf(wanted), std::move(prepared));
  parts_.devices.Start();
  parts_.counting.Replace(std::move(wanted.counting));
  parts_.history.Configure(wanted.history);
  parts_.targets.Replace(wanted.targets);
  SetLogLevel(wanted.log.level);
  // CheckNames() could not check the names.
  if (has_unknown_names) parts_.notice.LookAgain(NamesToLookFor(wanted));
  for (const std::string& line : identities) spdlog::info("reload: {}", line);
  for (const std::string& line : BmcChanges(in_force_.bmcs, wanted.bmcs)) spdlog::info("reload: {}", line);
  for (const std::string& line : lines) spdlog::info("reload: {}", line);
  outcome.needs_restart = RestartNeeds(in_force_, wanted);
  for (const std::string& name : outcome.needs_restart) {
    spdlog::warn("reload: {} has changed; it takes effect only after a restart", name);
  }
  // Only the applied settings: the others are compared with the running values at the next reload.
  in_force_.devices = std::move(wanted.devices);
  in_force_.bmcs = std::move(wanted.bmcs);
  in_force_.peek = wanted.peek;
  in_force_.exposition = wanted.exposition;
  in_force_.ratios = std::move(wanted.ratios);
  in_force_.policy_file = std::move(wanted.policy_file);
  in_force_.history = wanted.history;
  in_force_.log.level = wanted.log.level;
  return absl::OkStatus();
}

void Reloader::FollowBmcs() {
  if (!parts_.bmcs.TakeNews()) return;
  const std::vector<DeviceConfig> devices = JoinDevices(in_force_.devices, parts_.bmcs.Devices());
  // Devices of BMCs have no transports to prepare.
  for (const std::string& line : parts_.devices.Apply(devices, CommonOf(in_force_), {})) spdlog::info("{}", line);
}

void Reloader::Refuse(const ErrorList& errors, ReloadOutcome& outcome) const {
  RecordPolicy(errors.First());
  for (const absl::Status& error : errors.All()) {
    outcome.errors.emplace_back(error.message());
    spdlog::error("reload: {}; nothing is changed", std::string(error.message()));
  }
}

ReloadOutcome Reloader::Reload() {
  ReloadOutcome outcome;
  ErrorList errors;
  StartupFiles files = ReadStartupFiles(parts_.config_file, errors);
  if (errors.empty()) CheckNames(files, errors);
  if (errors.empty()) errors.Add(Take(std::move(files), outcome));
  // Returns the parser's memory to the system; the files may be large.
  malloc_trim(0);
  parts_.metrics.ConfigReloaded(errors.empty());
  if (!errors.empty()) {
    Refuse(errors, outcome);
    return outcome;
  }
  RecordPolicy(absl::OkStatus());
  spdlog::info("reload: policy generation {} is in force", parts_.policy.Current().version);
  return outcome;
}

std::vector<DeviceConfig> JoinDevices(std::vector<DeviceConfig> configured, const std::vector<DeviceConfig>& of_bmcs) {
  std::set<std::string> names;
  for (const DeviceConfig& device : configured) names.insert(device.name);
  for (const DeviceConfig& device : of_bmcs) {
    if (names.insert(device.name).second) configured.push_back(device);
  }
  return configured;
}

DeviceSet::Common CommonOf(const Config& config) {
  return {config.ratios.ratios, config.peek.bus_share, config.exposition.estimates};
}

std::vector<std::string> BmcChanges(const std::vector<BmcConfig>& in_force, const std::vector<BmcConfig>& wanted) {
  std::vector<std::string> lines;
  for (const BmcConfig& bmc : in_force) {
    const bool stays = std::ranges::find(wanted, bmc.name, &BmcConfig::name) != wanted.end();
    if (!stays) lines.push_back(absl::StrCat("bmc ", bmc.name, ": removed"));
  }
  for (const BmcConfig& bmc : wanted) {
    const auto before = std::ranges::find(in_force, bmc.name, &BmcConfig::name);
    const bool is_new = before == in_force.end();
    if (is_new || *before != bmc)
      lines.push_back(absl::StrCat("bmc ", bmc.name, is_new ? ": added, " : ": changed, ", bmc.url));
  }
  return lines;
}

std::vector<std::string> RestartNeeds(const Config& in_force, const Config& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, is_equal] : kSettings) {
    if (!is_equal(in_force, wanted)) names.emplace_back(name);
  }
  return names;
}

}  // namespace sideband::daemon
