// SPDX-License-Identifier: Apache-2.0
//
// sidebandd: the composition root. Everything is made here, in the order in which it depends on each other, and stopped
// in the opposite order.
#include <malloc.h>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/api/absent_name_notice.h"
#include "daemon/api/reader.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_log.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/key_set.h"
#include "daemon/authz/policy.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/authz/token_verifier.h"
#include "daemon/base/clock.h"
#include "daemon/base/periodic_thread.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/config/config.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/history/history.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/store/publication_thread.h"
#include "daemon/store/store.h"
#include "daemon/transport/capturing_transport.h"
#include "daemon/transport/i2c_dev.h"
#include "daemon/transport/i2c_dev_transport.h"
#include "daemon/transport/unix_bus_transport.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/usage_error.h"
#include "proto/smbus/bus_name.h"

namespace sideband::daemon {
namespace {

constexpr char kProgram[] = "sidebandd";
constexpr char kVersion[] = "0.1.0";
constexpr absl::Duration kDrain = absl::Seconds(3);
// How long new certificates may lie there before they are taken.
constexpr absl::Duration kCertificateCheck = absl::Seconds(1);

// Keys lie in locked memory and in no core dump.
void ProtectSecrets() {
  constexpr size_t kSecureHeapBytes = 1 << 20, kSmallestBytes = 32;
  prctl(PR_SET_DUMPABLE, 0);
  CRYPTO_secure_malloc_init(kSecureHeapBytes, kSmallestBytes);
}

// As many connections as the system lets us have; what each peer may hold is bounded elsewhere.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Snapshots and scrapes of large devices come and go every second, on several threads. What is large goes back to the
// system at once, and threads share their heaps: the daemon stays as small as what it holds.
void KeepMemorySmall() {
  constexpr int kLargeBytes = 256 << 10, kHeaps = 2;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kHeaps);
}

void StartLog(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err};
  spdlog::set_level(kLevels[static_cast<int>(level)]);
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  spdlog::flush_on(spdlog::level::debug);
}

// Signals are taken by the main thread alone, in turn; every thread made after this has them blocked.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  int Wait() {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }

 private:
  sigset_t set_;
};

std::vector<DeviceInfo> DeviceInfos(const Config& config) {
  std::vector<DeviceInfo> devices;
  for (const DeviceConfig& device : config.devices)
    devices.push_back({device.name, device.interval, device.bus_hz, config.ratios});
  return devices;
}

std::vector<VmKeyFile> KeyFiles(const Config& config) {
  std::vector<VmKeyFile> files;
  for (const VmKeyConfig& key : config.vm_keys) files.push_back({key.vm, key.key_file});
  return files;
}

std::vector<NamedVm> VmsWithKeys(const Config& config) {
  std::vector<NamedVm> vms;
  for (const VmKeyConfig& key : config.vm_keys) vms.push_back({key.vm, key.place});
  return vms;
}

std::unique_ptr<Transport> MakeTransport(const smbus::BusName& bus, I2cDev& i2c_dev) {
  switch (bus.kind) {
    case smbus::BusName::Kind::kUnix:
      return std::make_unique<UnixBusTransport>(bus.path, UnixBusTransport::Options{});
    case smbus::BusName::Kind::kI2c:
      return std::make_unique<I2cDevTransport>(bus.path, i2c_dev, I2cDevTransport::Options{});
  }
  return nullptr;
}

// `transport`, or where the device's traffic is to be kept, what does so before it.
absl::StatusOr<std::unique_ptr<Transport>> Captured(const DeviceConfig& device, std::unique_ptr<Transport> transport,
                                                    const Clock& clock) {
  if (device.capture_file.empty()) return transport;
  SIDEBAND_ASSIGN_OR_RETURN(auto capturing,
                            CapturingTransport::Create(std::move(transport), device.capture_file, clock,
                                                       [name = device.name](const absl::Status& status) {
                                                         spdlog::warn("device {}: capture ended: {}", name,
                                                                      std::string(status.message()));
                                                       }));
  spdlog::warn("device {}: what passes the bus is kept in the clear in {}", device.name, device.capture_file);
  return capturing;
}

absl::Status WritePorts(const std::string& path, uint16_t grpc_port, uint16_t http_port) {
  if (path.empty()) return absl::OkStatus();
  const std::string partial = path + ".partial";
  std::ofstream(partial) << "grpc: " << grpc_port << "\nhttp: " << http_port << "\n";
  // Renamed, so that whoever waits for the file never reads half of it.
  if (std::rename(partial.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

// Where a listener is found, for the log; there is no TLS on a Unix socket.
std::string Places(const ListenerConfig& listener, uint16_t port, absl::string_view with_tls, absl::string_view plain) {
  if (!listener.on_network) return absl::StrCat(plain, " on ", listener.unix_socket);
  const std::string on_network = absl::StrCat(with_tls, " on port ", port);
  if (listener.unix_socket.empty()) return on_network;
  return absl::StrCat(on_network, " and ", with_tls == plain ? "" : absl::StrCat(plain, " on "), listener.unix_socket);
}

// What decides who may see what, as the files say it now.
struct Rules {
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const KeySet> keys;  // nullptr where tokens are not configured
};

absl::StatusOr<Rules> LoadRules(const Config& config) {
  Rules rules;
  SIDEBAND_ASSIGN_OR_RETURN(rules.policy, LoadPolicy(config.policy_file));
  if (!config.tokens) return rules;
  SIDEBAND_ASSIGN_OR_RETURN(rules.keys, LoadKeySet(config.tokens->jwks_file));
  return rules;
}

// LoadRules, and a look at the devices, which at start are not known yet.
absl::StatusOr<Rules> LoadRulesFor(const Config& config, const Reader& reader) {
  SIDEBAND_ASSIGN_OR_RETURN(Rules rules, LoadRules(config));
  if (const auto topologies = reader.FreshTopologies()) {
    SIDEBAND_RETURN_IF_ERROR(CheckNamesExist(*rules.policy, *topologies));
  }
  return rules;
}

// Where what is decided is told, and the files behind it; without a file, nowhere.
struct Audit {
  std::unique_ptr<AuditFiles> files;
  std::unique_ptr<AuditSink> sink = std::make_unique<NullAuditSink>();
};

void ReportAuditLog(const absl::Status& status) {
  if (status.ok()) return spdlog::info("audit: the log is written again");
  spdlog::error("audit: entries are being lost: {}", std::string(status.message()));
}

absl::StatusOr<Audit> StartAudit(const AuditConfig& config, const Clock& clock, SelfMetrics& metrics) {
  Audit audit;
  if (config.file.empty()) return audit;
  SIDEBAND_ASSIGN_OR_RETURN(audit.files, AuditFiles::Open({config.file, config.max_bytes, config.files}));
  AuditLog::Options options{.greeting = absl::StrCat(kProgram, " ", kVersion), .on_change = ReportAuditLog};
  SIDEBAND_ASSIGN_OR_RETURN(audit.sink,
                            AuditLog::Start(std::move(options), audit.files->end(), *audit.files, clock, metrics));
  return audit;
}

// Nothing to read without a file.
Site::AuditLogReader LogReader(const Audit& audit) {
  if (audit.files == nullptr) return nullptr;
  return [&files = *audit.files](uint64_t after, size_t bytes_max) { return files.ReadAfter(after, bytes_max); };
}

// What became of reading the policy file.
void RecordPolicy(AuditSink& audit, const Config& config, const absl::Status& status, uint64_t version_in_force) {
  audit.Record({.kind = AuditKind::kPolicy,
                .resource = config.policy_file,
                .reason = status.ok() ? "in force" : absl::StrCat("the old one stays in force: ", status.message()),
                .policy_version = version_in_force});
}

// All or nothing: what cannot be loaded leaves the policy and the keys that are in force.
void Reload(const Config& config, const Reader& reader, SelfMetrics& metrics) {
  auto rules = LoadRulesFor(config, reader);
  metrics.ConfigReloaded(rules.ok());
  if (rules.ok()) reader.policy().Replace(std::move(rules->policy), std::move(rules->keys));
  const uint64_t version = reader.policy().Current().version;
  RecordPolicy(reader.audit(), config, rules.status(), version);
  if (rules.ok()) return spdlog::info("reload: policy version {} is in force", version);
  spdlog::error("reload: {}; the old policy stays in force", std::string(rules.status().message()));
}

std::unique_ptr<TokenVerifier> MakeTokenVerifier(const Config& config, const Clock& clock) {
  if (!config.tokens) return nullptr;
  return std::make_unique<TokenVerifier>(
      TokenExpectations{.audience = config.tokens->audience, .issuer = config.tokens->issuer}, clock);
}

absl::StatusOr<std::vector<std::unique_ptr<CollectorThread>>> MakeCollectors(const Config& config, I2cDev& i2c_dev,
                                                                             Store& store, SealerSet& sealers,
                                                                             SelfMetrics& metrics, const Clock& clock) {
  std::vector<std::unique_ptr<CollectorThread>> collectors;
  for (size_t i = 0; i < config.devices.size(); ++i) {
    SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName bus, smbus::ParseBusName(config.devices[i].bus));
    SIDEBAND_ASSIGN_OR_RETURN(auto transport, Captured(config.devices[i], MakeTransport(bus, i2c_dev), clock));
    collectors.push_back(
        std::make_unique<CollectorThread>(i, std::move(transport), bus.address, store, sealers, metrics, clock));
  }
  return collectors;
}

// The store's history for as long as this lives; none where the configuration says so.
class KeptHistory {
 public:
  KeptHistory(const HistoryConfig& config, Store& store, SelfMetrics& metrics) : store_(store) {
    if (config.max_bytes > 0) history_.emplace(History::Options{.max_bytes = config.max_bytes}, store.devices().size());
    if (history_) store.AddListener(*history_);
    metrics.SetUpdate([this](SelfMetrics& of) { Tell(of); });
  }
  ~KeptHistory() {
    if (history_) store_.RemoveListener(*history_);
  }

  // nullptr: none is kept.
  const History* get() const { return history_ ? &*history_ : nullptr; }

 private:
  void Tell(SelfMetrics& metrics) const {
    metrics.HistoryHeld(history_ ? history_->bytes() : 0, history_ ? history_->max_bytes() : 0);
    for (size_t i = 0; history_ && i < store_.devices().size(); ++i) {
      metrics.HistorySpan(store_.devices()[i].name, history_->Span(i));
    }
  }

  Store& store_;
  std::optional<History> history_;
};

absl::Status Run(const std::string& config_file, Signals& signals) {
  SIDEBAND_ASSIGN_OR_RETURN(const Config config, LoadConfig(config_file));
  StartLog(config.log_level);
  SIDEBAND_ASSIGN_OR_RETURN(Rules rules, LoadRules(config));
  const SystemClock clock;
  EpochSource epochs(clock, SystemRandom16);
  SIDEBAND_ASSIGN_OR_RETURN(const auto sealers, SealerSet::Load(KeyFiles(config), epochs));
  SIDEBAND_ASSIGN_OR_RETURN(const auto metrics, SelfMetrics::Create({.version = kVersion}));
  metrics->ConfigReloaded(true);

  SIDEBAND_ASSIGN_OR_RETURN(const Audit audit, StartAudit(config.audit, clock, *metrics));

  SystemI2cDev i2c_dev;
  Store store(DeviceInfos(config));
  const KeptHistory history(config.history, store, *metrics);
  PolicyHolder policy(std::move(rules.policy), std::move(rules.keys));
  RecordPolicy(*audit.sink, config, absl::OkStatus(), policy.Current().version);
  const std::unique_ptr<TokenVerifier> tokens = MakeTokenVerifier(config, clock);
  Reader reader(store, policy, clock, *audit.sink, tokens.get());
  const AbsentNameNotice notice(reader, VmsWithKeys(config), [](const std::string& line) { spdlog::warn("{}", line); });
  Site site(reader, *metrics, clock, LogReader(audit));
  SIDEBAND_ASSIGN_OR_RETURN(const auto collectors, MakeCollectors(config, i2c_dev, store, *sealers, *metrics, clock));
  SIDEBAND_ASSIGN_OR_RETURN(const auto http,
                            HttpServer::Start(
                                {.listener = config.http, .local_operators = config.local_operators},
                                [&site](const HttpRequest& request) { return site.Handle(request); }, *metrics));
  SIDEBAND_ASSIGN_OR_RETURN(
      const auto grpc,
      GrpcServer::Start({.config = config.grpc, .local_operators = config.local_operators, .history = history.get()},
                        reader, *metrics));
  SIDEBAND_RETURN_IF_ERROR(WritePorts(config.ports_file, grpc->port(), http->port()));
  spdlog::info("sidebandd {}: {}, {}, {} devices", kVersion, Places(config.grpc.listener, grpc->port(), "gRPC", "gRPC"),
               Places(config.http, http->port(), "HTTPS", "HTTP"), config.devices.size());
  if (config.audit.file.empty()) spdlog::warn("no audit log is configured: who sees what is not kept");
  PeriodicThread certificates(kCertificateCheck, [&] {
    http->CheckCertificates();
    grpc->CheckCertificates();
  });
  certificates.Start();
  PublicationThread expositions(store, [&site] { site.RefreshExpositions(); });
  expositions.Start();
  for (const auto& collector : collectors) collector->Start();

  while (signals.Wait() == SIGHUP) {
    Reload(config, reader, *metrics);
    http->ReloadCertificates();
    grpc->ReloadCertificates();
  }

  spdlog::info("stopping");
  certificates.Stop();
  expositions.Stop();
  for (const auto& collector : collectors) collector->RequestStop();
  http->Stop();
  grpc->Stop(kDrain);
  for (const auto& collector : collectors) collector->Stop();
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Out-of-band performance telemetry for shared accelerators: reads devices over their management bus and "
      "serves operators and tenants over gRPC and HTTPS, each exactly what is theirs.",
      kProgram);
  std::string config_file;
  app.add_option("--config", config_file, "configuration (YAML)")->required();
  app.set_version_flag("--version", absl::StrCat(kProgram, " ", kVersion));
  app.footer("SIGHUP reloads the policy, the keys of tokens and the certificates; SIGTERM drains and stops.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return ReportAndExitCode(kProgram, UsageError(app, error));
  }
  KeepMemorySmall();
  ProtectSecrets();
  RaiseFileLimit();
  Signals signals;
  return ReportAndExitCode(kProgram, Run(config_file, signals));
}

}  // namespace
}  // namespace sideband::daemon

int main(int argc, char** argv) { return sideband::daemon::Main(argc, argv); }
