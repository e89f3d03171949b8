// SPDX-License-Identifier: Apache-2.0
//
// sidebandd: the composition root. Run() creates all objects in the order of their dependencies and stops them in
// reverse order.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/bmc/bmc_set.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/device_clocks.h"
#include "daemon/collector/routers.h"
#include "daemon/config/config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/mark_book.h"
#include "daemon/counting/settings_file.h"
#include "daemon/device_set.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/http/status_page.h"
#include "daemon/identity/token_verifier.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/throttle.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/reload.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/service.h"
#include "daemon/snapshot/store.h"
#include "daemon/startup.h"
#include "daemon/transport/bus_transport.h"
#include "daemon/view/admin.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/telemetry_queries.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/version.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/messages.h"

namespace sideband::daemon {
namespace {

// Time for open gRPC streams to end at shutdown.
constexpr absl::Duration kDrain = absl::Seconds(3);
// Interval of the checks for changed certificate files and of the updates of gRPC's health, which reports stale
// devices.
constexpr absl::Duration kCheck = absl::Seconds(1);
// The maximum delay until a step of the wall clock is detected.
constexpr absl::Duration kClockCheck = absl::Seconds(1);

std::vector<VmKeyFile> KeyFiles(const Config& config) {
  std::vector<VmKeyFile> files;
  for (const VmKeyConfig& key : config.vm_keys) files.push_back({key.vm, key.key_file});
  return files;
}

// nullptr without a sealing file.
absl::StatusOr<std::unique_ptr<ExchangeBook>> LoadExchanges(const Config& config, const Clock& clock) {
  if (config.sealing_file.empty()) return nullptr;
  SIDEBAND_ASSIGN_OR_RETURN(exchange::SealingRules rules, exchange::SealingRules::Load(config.sealing_file));
  SIDEBAND_ASSIGN_OR_RETURN(const exchange::Sha384Digest measurement, exchange::MeasureThisProgram());
  return std::make_unique<ExchangeBook>(std::move(rules), measurement, clock);
}

// Describes the addresses of a listener for the log. Unix sockets do not use TLS.
std::string Places(const ListenerConfig& listener, uint16_t port, absl::string_view with_tls, absl::string_view plain) {
  if (!listener.on_network) return absl::StrCat(plain, " on ", listener.unix_socket);
  const std::string on_network = absl::StrCat(with_tls, " on port ", port);
  if (listener.unix_socket.empty()) return on_network;
  return absl::StrCat(on_network, " and ", with_tls == plain ? "" : absl::StrCat(plain, " on "), listener.unix_socket);
}

std::unique_ptr<TokenVerifier> MakeTokenVerifier(const Config& config, const Clock& clock) {
  if (!config.tokens) return nullptr;
  return std::make_unique<TokenVerifier>(
      TokenExpectations{.audience = config.tokens->audience, .issuer = config.tokens->issuer}, clock);
}

// The documented defaults must equal the servers' own.
static_assert(QuotaConfig().calls_per_second == RequestQuota::Limits().per_second &&
              QuotaConfig().burst == RequestQuota::Limits().burst &&
              QuotaConfig().calls_under_way == CallsUnderWay::Limits().calls_max &&
              QuotaConfig().bytes_under_way == CallsUnderWay::Limits().bytes_max &&
              QuotaConfig().bytes_under_way == CallsUnderWay::Limits().all_bytes_max &&
              QuotaConfig().streams == kStreamsPerIdentityMax);

// A client above this multiple of its quota is throttled; between the quota and this multiple its calls are rejected.
constexpr double kThrottleFactor = 4;
// The limit of one holder, over all of its HTTP connections: far above what scrapers and open pages ask. The burst is
// for clients that read all of Redfish.
constexpr TokenRate kHttpRequests = {.burst = 500, .per_second = 50};
// HTTP/2 frames allowed per call. The lower bounds below are HolderThrottle's defaults.
constexpr double kFramesPerCall = 10;

Gate::Options GateOptions(const Config& config, const ConnectionBudget& budget) {
  const QuotaConfig& quotas = config.quotas;
  return {.connections_max = budget.grpc,
          .handshakes_max = budget.grpc_handshakes,
          .connections_per_identity_max = budget.per_identity,
          .throttle = {.streams = {.burst = kThrottleFactor * quotas.burst,
                                   .per_second = kThrottleFactor * quotas.calls_per_second},
                       .frames = {.burst = std::max(8000.0, kFramesPerCall * kThrottleFactor * quotas.burst),
                                  .per_second =
                                      std::max(4000.0, kFramesPerCall * kThrottleFactor * quotas.calls_per_second)}},
          .limits = {.age_max = config.grpc.listener.max_connection_age}};
}

GrpcServer::Options GrpcOptions(const Config& config, const ConnectionBudget& budget, int inherited_socket,
                                const Answerers& parts) {
  const QuotaConfig& quotas = config.quotas;
  Gate::Options gate = GateOptions(config, budget);
  gate.inherited_socket = inherited_socket;
  return {.config = config.grpc,
          .local_operators = config.local_operators,
          .streams_per_identity_max = quotas.streams,
          .requests = {.per_second = quotas.calls_per_second, .burst = quotas.burst},
          .under_way = {.calls_max = quotas.calls_under_way,
                        .bytes_max = quotas.bytes_under_way,
                        .all_bytes_max = quotas.bytes_under_way},
          .parts = parts,
          .gate = std::move(gate)};
}

HttpServer::Options HttpOptions(const Config& config, const ConnectionBudget& budget, int inherited_socket,
                                WorkQueue& work, HolderThrottle& throttle) {
  return {.listener = config.http.listener,
          .local_operators = config.local_operators,
          .inherited_socket = inherited_socket,
          .connections_max = budget.http,
          .handshakes_max = budget.http_handshakes,
          .connections_per_identity_max = budget.per_identity,
          .limits = {.age_max = config.http.listener.max_connection_age},
          .work = &work,
          .throttle = &throttle};
}

// The files that outlast the daemon.
struct StateFiles {
  explicit StateFiles(const std::string& in) : folder(in), creations(in), settings(in) {}
  const std::string folder;
  CreationFile creations;
  SettingsFiles settings;
};

// Returns nullptr if no state folder is available. A configured folder that cannot be used is an error.
absl::StatusOr<std::unique_ptr<StateFiles>> OpenStateFiles(const Config& config) {
  auto folder = OpenStateFolder(config.state_dir, std::getenv);
  if (folder.ok()) return std::make_unique<StateFiles>(*folder);
  if (!config.state_dir.empty()) return folder.status();
  spdlog::info("created times and callers' settings are not kept across restarts: {}",
               std::string(folder.status().message()));
  return nullptr;
}

// The service manager's sockets, each for a listener that the configuration has on the network.
absl::StatusOr<InheritedSockets> TakeSockets(const Config& config) {
  SIDEBAND_ASSIGN_OR_RETURN(const InheritedSockets sockets, TakeInheritedSockets());
  const bool is_unexpected = (sockets.http >= 0 && !config.http.listener.on_network) ||
                             (sockets.grpc >= 0 && !config.grpc.listener.on_network);
  if (is_unexpected) {
    return absl::InvalidArgumentError(
        "the service manager passes a socket for a listener that has no tls_server_config in the configuration");
  }
  if (sockets.http >= 0) spdlog::info("http: listens on the service manager's socket, not on `listen`");
  if (sockets.grpc >= 0) spdlog::info("grpc: listens on the service manager's socket, not on `listen`");
  return sockets;
}

std::string Counted(size_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

std::string SourcesOf(const Config& config) {
  if (config.bmcs.empty()) return Counted(config.devices.size(), "device", "devices");
  const std::string bmcs = Counted(config.bmcs.size(), "BMC", "BMCs");
  if (config.devices.empty()) return bmcs;
  return absl::StrCat(Counted(config.devices.size(), "device", "devices"), " and ", bmcs);
}

std::string DescribeDevices(const Store& store, const Reader& reader) {
  return absl::StrCat(reader.FreshDevices(), " of ", store.devices()->size(), " devices fresh");
}

// Until SIGTERM or SIGINT: reloads, follows what changes by itself, and tells the service manager how the service is.
void Serve(Signals& signals, ServiceManager& manager, Keeper& keeper, const std::function<void()>& reload,
           const std::function<void()>& follow, const std::function<std::string()>& status) {
  manager.Ready(status());
  while (true) {
    const int signal = signals.WaitFor(keeper.interval());
    if (signal == SIGTERM || signal == SIGINT) return manager.Stopping();
    keeper.Check();
    follow();
    manager.SetStatus(status());
    if (signal != SIGHUP) continue;
    manager.Reloading();
    reload();
    manager.Ready(status());
  }
}

absl::Status Run(const std::string& config_file, StartupFiles files, Signals& signals) {
  const Config& config = files.config;
  StartLog(config.log, kProgram);
  ServiceManager manager;
  SIDEBAND_ASSIGN_OR_RETURN(const InheritedSockets sockets, TakeSockets(config));

  // Keys, the daemon's own metrics, and the log of accesses.
  const SystemClock clock;
  EpochSource epochs(clock, SystemRandom16);
  SIDEBAND_ASSIGN_OR_RETURN(const auto sealers, SealerSet::Load(KeyFiles(config), epochs));
  SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<ExchangeBook> exchanges, LoadExchanges(config, clock));
  SIDEBAND_ASSIGN_OR_RETURN(const auto metrics,
                            SelfMetrics::Create({.version = kVersion, .revision = BuildRevision()}));
  metrics->ConfigReloaded(true);
  SIDEBAND_ASSIGN_OR_RETURN(const Audit audit,
                            StartAudit(config.audit, absl::StrCat(kProgram, " ", kVersion), clock, *metrics));

  // Stores of what devices report, and who may see it.
  SystemI2cDev i2c_dev;
  Store store({});
  BoardStore boards;
  KeptHistory history(config.history, store, boards, *metrics);
  PolicyHolder policy(std::move(files.policy), std::move(files.keys));
  const std::unique_ptr<TokenVerifier> tokens = MakeTokenVerifier(config, clock);
  Reader reader(store, policy, clock, *audit.sink, tokens.get());
  const HistoryReader past(reader, store, history.get());
  AbsentNameNotice notice(
      reader, NamesToLookFor(config), [](const std::string& line) { spdlog::warn("{}", line); },
      [](const std::string& line) { spdlog::error("{}", line); });

  // Queries and changes that callers ask for.
  SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<StateFiles> state, OpenStateFiles(config));
  ConfidentialityBook confidential(*sealers, exchanges.get(), policy);
  CountingBook counting(state ? &state->settings : nullptr);
  counting.Replace(config.counting);
  const CountingQueries counting_queries(reader, counting);
  ReloadRequests reloads([] { Signals::Raise(SIGHUP); });
  BusDirectory buses;
  TriggerRouter triggers(buses);
  DaemonSealer daemon_sealer(exchanges.get());
  SealRouter seals(buses, store);
  SealerChoice guest_sealer(daemon_sealer, seals);
  const ExchangeQueries exchange_queries(reader, guest_sealer);
  const Admin admin({.reader = reader,
                     .trigger = std::bind_front(&TriggerRouter::Trigger, &triggers),
                     .rotate_keys = std::bind_front(&ExchangeQueries::Rotate, &exchange_queries),
                     .reload = std::bind_front(&ReloadRequests::Ask, &reloads)});
  PeekRouter peeks(buses, store, *metrics, clock);
  RotationRouter rotations(buses, store);
  const PeekReader live(reader, peeks);
  MarkRouter mark_router(buses, store, *metrics);
  MarkBook mark_book(std::random_device{}(), {.per_second = config.marks.per_vm_per_second, .kept = config.marks.kept});
  const MarkQueries marks(reader, mark_book, mark_router);
  LineBook lines;
  const SensorQueries sensors(reader, boards);
  const SensorHistoryReader past_sensors(sensors, history.sensors());

  // Devices, as the configuration has them and its reloads change them.
  DeviceSet devices(
      {.store = store,
       .boards = boards,
       .history = history,
       .counting = counting,
       .marks = mark_book,
       .metrics = *metrics,
       .clock = clock,
       .make_transport = [&](const DeviceConfig& device) { return MakeDeviceTransport(device, i2c_dev, clock); },
       .make_collector =
           [&](size_t id, DeviceTransport to) {
             return std::make_unique<CollectorThread>(
                 id, std::move(to.transport), to.address,
                 CollectorContext{store, *sealers, confidential, policy, *audit.sink, *metrics, clock,
                                  state ? &state->creations : nullptr, &counting, &buses, &mark_book, &lines,
                                  exchanges.get(), &boards});
           }});
  SIDEBAND_ASSIGN_OR_RETURN(DeviceSet::Prepared prepared, devices.Prepare(config.devices));
  BmcSet bmcs({.store = store,
               .boards = boards,
               .metrics = *metrics,
               .clock = clock,
               .state_folder = state ? state->folder : ""});
  bmcs.Configure(config.bmcs);
  devices.Apply(JoinDevices(config.devices, bmcs.Devices()), CommonOf(config), std::move(prepared));
  TargetList targets(config.targets);
  Reloader reloader({.config_file = config_file,
                     .reader = reader,
                     .policy = policy,
                     .devices = devices,
                     .bmcs = bmcs,
                     .counting = counting,
                     .history = history,
                     .targets = targets,
                     .notice = notice,
                     .metrics = *metrics},
                    config);
  reloader.RecordStart();

  // HTTP and gRPC.
  Pulse http_pulse(clock), grpc_pulse(clock), bmc_pulse(clock);
  PageData page_data(
      {.reader = reader, .history = past, .metrics = *metrics, .version = BuildVersion(), .boards = &boards});
  const RedfishService redfish(sensors);
  Site site(reader, *metrics, clock,
            {.audit_log = LogReader(audit),
             .page = &page_data,
             .targets = &targets,
             .boards = &boards,
             .redfish = config.http.redfish ? &redfish : nullptr});
  const ConnectionBudget budget = BudgetConnections(FileLimit(), config.devices.size() + config.bmcs.size());
  WorkQueue work({}, clock);
  HolderThrottle requests({.streams = kHttpRequests}, clock);
  SIDEBAND_ASSIGN_OR_RETURN(const auto http,
                            HttpServer::Start(
                                HttpOptions(config, budget, sockets.http, work, requests),
                                [&site](const HttpRequest& request) { return site.Handle(request); }, *metrics));
  // Work holds connections of the servers and shares of their calls: it ends before each of them is destroyed.
  const absl::Cleanup stop_work = [&] { work.Stop(); };
  SIDEBAND_ASSIGN_OR_RETURN(const auto grpc, GrpcServer::Start(GrpcOptions(config, budget, sockets.grpc,
                                                                           {.history = &past,
                                                                            .sealers = sealers.get(),
                                                                            .peeks = &live,
                                                                            .counting = &counting_queries,
                                                                            .admin = &admin,
                                                                            .rotation = &rotations,
                                                                            .marks = &marks,
                                                                            .exchanges = exchanges.get(),
                                                                            .exchange_queries = &exchange_queries,
                                                                            .sensors = &sensors,
                                                                            .sensor_history = &past_sensors,
                                                                            .work = &work}),
                                                               reader, *metrics));
  // A call that waits would keep the server from stopping.
  const absl::Cleanup answer_waiting_calls = [&] {
    reloads.Close();
    devices.RequestStop();
    work.Stop();
  };
  SIDEBAND_RETURN_IF_ERROR(WritePortsFile(config.ports_file, grpc->port(), http->port()));
  spdlog::info("sidebandd {}: {}, {}, {}", kVersion, Places(config.grpc.listener, grpc->port(), "gRPC", "gRPC"),
               Places(config.http.listener, http->port(), "HTTPS", "HTTP"), SourcesOf(config));
  if (config.audit.file.empty()) spdlog::warn("no audit log is configured: accesses are not recorded");

  // Everything runs.
  MemoryTrim memory;
  PeriodicThread checks(kCheck, [&] {
    http->CheckCertificates();
    grpc->CheckCertificates();
    grpc->UpdateHealth();
    memory.Trim(clock.Steady());
  });
  checks.Start();
  ClockWatch clock_watch(clock, [](absl::Duration by) { spdlog::warn("{}", ClockWatch::Describe(by)); });
  PeriodicThread clock_checks(kClockCheck, [&] { clock_watch.Check(); });
  clock_checks.Start();
  PublicationThread expositions(store, [&site] { site.RefreshExpositions(); });
  expositions.Start();
  // Last: whatever listens to publications is in place.
  devices.Start();
  bmcs.Start();

  Keeper keeper(manager, {{"collector", [&] { return devices.Silence(); }},
                          {"bmc", [&] { return bmc_pulse.Feel([&](auto task) { bmcs.Post(std::move(task)); }); }},
                          {"http", [&] { return http_pulse.Feel([&](auto task) { http->Post(std::move(task)); }); }},
                          {"grpc", [&] { return grpc_pulse.Feel([&](auto task) { grpc->Post(std::move(task)); }); }}});
  const auto reload = [&] {
    const auto asked = reloads.Take();
    const ReloadOutcome outcome = reloader.Reload();
    if (outcome.errors.empty()) {
      http->ReloadCertificates();
      grpc->ReloadCertificates();
    }
    for (const auto& done : asked) done(outcome);
  };
  Serve(
      signals, manager, keeper, reload, [&] { reloader.FollowBmcs(); }, [&] { return DescribeDevices(store, reader); });

  spdlog::info("stopping");
  reloads.Close();
  checks.Stop();
  clock_checks.Stop();
  expositions.Stop();
  // The collectors end while the servers drain.
  devices.RequestStop();
  http->Stop();
  grpc->Stop(kDrain);
  devices.Stop();
  bmcs.Stop();
  return absl::OkStatus();
}

int ReportGood(const std::string& config_file) {
  const std::string line = absl::StrCat(config_file, ": valid, with all files that it names\n");
  return std::fputs(line.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

// Asks each BMC once, and prints what it has. Returns the program's exit code.
int ReportBmcs(const std::vector<BmcConfig>& bmcs) {
  const SystemClock clock;
  ErrorList errors;
  if (bmcs.empty()) errors.Add(absl::InvalidArgumentError("--probe: the configuration has no BMC"));
  for (const BmcConfig& bmc : bmcs) {
    const auto report = ProbeBmc(bmc, clock);
    errors.Add(report.status());
    if (report.ok()) errors.Add(PrintText(*report));
  }
  return errors.empty() ? 0 : ReportAndExitCode(kProgram, errors);
}

int Main(int argc, char** argv) {
  Flags flags;
  const std::unique_ptr<CLI::App> app = MakeCommandLine(flags);
  const auto is_answered = ParseCommandLine(*app, {argv + 1, argv + argc}, PrintText);
  if (!is_answered.ok() || *is_answered) return ReportAndExitCode(kProgram, is_answered.status());
  // Before the first key is read, which must be neither swapped nor in a core dump.
  PrepareProcess();
  AbortWhenOutOfMemory(kProgram);
  ErrorList errors;
  StartupFiles files = ReadStartupFiles(flags.config_file, errors);
  // A start logs these: the files may be about to be renewed.
  if (flags.check) CheckHandshakes(files.config, errors);
  if (!errors.empty()) return ReportAndExitCode(kProgram, errors);
  if (flags.probe) return ReportBmcs(files.config.bmcs);
  if (flags.check) return ReportGood(flags.config_file);
  Signals signals;
  return ReportAndExitCode(kProgram, Run(flags.config_file, std::move(files), signals));
}

}  // namespace
}  // namespace sideband::daemon

int main(int argc, char** argv) {
  // Debian's Abseil is built to look for cycles of locks at each lock. That is for tests; here it would cost some
  // percent of each call, and a lock of its own for all threads.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return sideband::RunProgram(sideband::daemon::kProgram, [&] { return sideband::daemon::Main(argc, argv); });
}
