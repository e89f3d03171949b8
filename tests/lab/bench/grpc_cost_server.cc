// SPDX-License-Identifier: Apache-2.0
//
// A server for grpc_cost.py: the daemon's gRPC server over a MetricsWorld, or a bare one that sends the same bytes.
//   grpc_cost_server KIND FOLDER [--tenants N] [--contexts N] [--events N]
// KIND is `sideband`, `bare`, or `constant`: a bare one that serialises a constant message at each call. Puts ca.pem
// and each tenant's tN.pem and tN.key into FOLDER and prints "PORT BYTES-OF-AN-ANSWER". Then each line of stdin is a
// command: `rate N` publishes N snapshots a second from then on; `used` prints the processor time of the process, that
// of `sideband` without the thread that makes up the snapshots, in seconds. Ends with stdin.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_log.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.grpc.pb.h"
#include "tests/lab/bench/measurement.h"
#include "tests/lab/bench/metrics_world.h"

namespace sideband::bench {
namespace {

using RawTelemetry = v1::Telemetry::WithRawCallbackMethod_GetSnapshot<
    v1::Telemetry::WithRawCallbackMethod_Subscribe<v1::Telemetry::Service>>;

// The least that a C++ gRPC server can do for the same bytes: GetSnapshot and Subscribe answered with constant buffers,
// without identities, limits, audit or a gate. Thread-safe. The server must be shut down before it is destroyed.
class BareTelemetry final : public RawTelemetry {
 public:
  BareTelemetry(grpc::ByteBuffer answer, grpc::ByteBuffer update);

  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  // Begins with one update.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Subscribe(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  void SendUpdate() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class UpdateStream;

  const grpc::ByteBuffer answer_, update_;
  absl::Mutex mu_;
  std::set<UpdateStream*> streams_ ABSL_GUARDED_BY(mu_);
};

// The usual server: GetSnapshot answered with a constant message, which gRPC serialises at each call. Thread-safe.
class ConstantTelemetry final : public v1::Telemetry::CallbackService {
 public:
  explicit ConstantTelemetry(v1::GetSnapshotResponse answer) : answer_(std::move(answer)) {}

  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* context, const v1::GetSnapshotRequest* request,
                                        v1::GetSnapshotResponse* response) override;

 private:
  const v1::GetSnapshotResponse answer_;
};

// Deletes itself when gRPC has finished the call.
class BareTelemetry::UpdateStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit UpdateStream(BareTelemetry& all) : all_(all) {}

  void Send() {
    absl::MutexLock lock(&mu_);
    if (is_writing_ || is_over_) return;
    is_writing_ = true;
    buffer_ = all_.update_;
    StartWrite(&buffer_);
  }
  void OnWriteDone(bool is_good) override {
    absl::MutexLock lock(&mu_);
    is_writing_ = false;
    buffer_.Clear();
    if (!is_good) End();
  }
  void OnCancel() override {
    absl::MutexLock lock(&mu_);
    End();
  }
  void OnDone() override {
    {
      absl::MutexLock lock(&all_.mu_);
      all_.streams_.erase(this);
    }
    delete this;
  }

 private:
  void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!std::exchange(is_over_, true)) Finish(grpc::Status::CANCELLED);
  }

  BareTelemetry& all_;
  grpc::ByteBuffer buffer_;
  absl::Mutex mu_;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
};

BareTelemetry::BareTelemetry(grpc::ByteBuffer answer, grpc::ByteBuffer update)
    : answer_(std::move(answer)), update_(std::move(update)) {}

grpc::ServerUnaryReactor* BareTelemetry::GetSnapshot(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* /*request*/, grpc::ByteBuffer* response) {
  *response = answer_;  // shares its slices
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BareTelemetry::Subscribe(grpc::CallbackServerContext* /*context*/,
                                                                     const grpc::ByteBuffer* /*request*/) {
  auto* const stream = new UpdateStream(*this);
  {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }
  stream->Send();
  return stream;
}

grpc::ServerUnaryReactor* ConstantTelemetry::GetSnapshot(grpc::CallbackServerContext* context,
                                                         const v1::GetSnapshotRequest* /*request*/,
                                                         v1::GetSnapshotResponse* response) {
  *response = answer_;
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

void BareTelemetry::SendUpdate() {
  absl::MutexLock lock(&mu_);
  for (UpdateStream* const stream : streams_) stream->Send();
}

struct Options {
  std::string kind, folder;
  MetricsSize size{.tenants = 10, .contexts = 3, .events = 16, .utilisations = true};
};

double ProcessSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Publishes at a rate that may change. Not thread-safe.
class Publisher {
 public:
  explicit Publisher(std::function<void()> publish) : publish_(std::move(publish)), thread_([this] { Run(); }) {}
  ~Publisher() {
    is_over_ = true;
    thread_.join();
  }

  void SetRate(int per_second) { per_second_ = per_second; }
  double used_seconds() const { return used_; }

 private:
  void Run() {
    while (!is_over_) {
      const int rate = per_second_;
      std::this_thread::sleep_for(std::chrono::milliseconds(rate > 0 ? 1000 / rate : 20));
      if (rate > 0) publish_();
      used_ = ThreadSeconds();
    }
  }

  const std::function<void()> publish_;
  std::atomic<int> per_second_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<double> used_ = 0;
  std::thread thread_;
};

// The daemon's server as it is configured by default, with an audit log on disk, and limits that are out of the way.
class SidebandServer {
 public:
  SidebandServer(MetricsWorld& world, const daemon::FakeCa& ca, daemon::SelfMetrics& metrics) {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as daemon/main.cc does
    daemon::GrpcServer::Options options;
    options.config.listener = {.listen = {"127.0.0.1", 0}, .tls = ca.Server()};
    constexpr int kUnlimited = 1'000'000;
    options.streams_per_identity_max = kUnlimited;
    options.requests = {.per_second = kUnlimited, .burst = kUnlimited};
    options.under_way = {.calls_max = kUnlimited, .bytes_max = size_t{1} << 40};
    options.gate.connections_max = options.gate.connections_per_identity_max = kUnlimited;
    options.gate.handshakes_max = kUnlimited;
    options.gate.throttle = {.streams = {kUnlimited, kUnlimited}, .frames = {kUnlimited, kUnlimited}};
    server_ = *daemon::GrpcServer::Start(options, world.reader, metrics);
  }

  uint16_t port() const { return server_->port(); }
  // The daemon does this every second.
  void Tick() {
    server_->CheckCertificates();
    server_->UpdateHealth();
  }

 private:
  std::unique_ptr<daemon::GrpcServer> server_;
};

// The answer to each tenant's GetSnapshot; all have the same size.
v1::GetSnapshotResponse AnswerOf(MetricsWorld& world) {
  v1::GetSnapshotResponse answer;
  for (const daemon::VisibleDevice& device : world.reader.Devices(world.CallerOf(0))) {
    *answer.add_snapshots() = daemon::SnapshotMessage(device, daemon::RowFilter());
  }
  return answer;
}

grpc::ByteBuffer BytesOf(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

// With the same TLS: a certificate of its clients, and the server's.
class BareServer {
 public:
  BareServer(grpc::Service& service, const daemon::FakeCa& ca) {
    const daemon::TlsServerConfig files = ca.Server();
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = *ReadFile(ca.ca_file());
    tls.pem_key_cert_pairs = {{*ReadFile(files.key_file), *ReadFile(files.cert_file)}};
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port_);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }
  ~BareServer() { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const { return port_; }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// `made_up`: whether the publisher's time is that of made-up snapshots, and not of sending.
void Obey(Publisher& publisher, bool made_up) {
  for (std::string line; std::getline(std::cin, line);) {
    int rate = 0;
    if (std::sscanf(line.c_str(), "rate %d", &rate) == 1) publisher.SetRate(rate);
    if (line == "used") std::printf("%.6f\n", ProcessSeconds() - (made_up ? publisher.used_seconds() : 0));
    std::fflush(stdout);
  }
}

void Announce(int port, const v1::GetSnapshotResponse& answer) {
  std::printf("%d %zu\n", port, answer.ByteSizeLong());
  std::fflush(stdout);
}

void RunBare(bool is_of_bytes, const v1::GetSnapshotResponse& answer, const daemon::FakeCa& ca) {
  v1::SubscribeResponse update;
  *update.mutable_update() = answer.snapshots(0);
  BareTelemetry bytes(BytesOf(answer), BytesOf(update));
  ConstantTelemetry message(answer);
  BareServer server(is_of_bytes ? static_cast<grpc::Service&>(bytes) : message, ca);
  Announce(server.port(), answer);
  Publisher publisher([&] { bytes.SendUpdate(); });
  Obey(publisher, /*made_up=*/false);
}

absl::Status Run(const Options& options) {
  const daemon::FakeCa ca("ca", options.folder);
  for (size_t t = 0; t < options.size.tenants; ++t) {
    ca.Issue(absl::StrCat("t", t), absl::StrCat("URI:spiffe://example.org/t", t));
  }
  const daemon::SystemClock clock;
  const auto metrics = *daemon::SelfMetrics::Create({.version = "bench"});
  SIDEBAND_ASSIGN_OR_RETURN(auto files, daemon::AuditFiles::Open({.path = options.folder + "/audit.jsonl"}));
  SIDEBAND_ASSIGN_OR_RETURN(auto audit, daemon::AuditLog::Start({}, files->end(), *files, clock, *metrics));
  MetricsWorld world(options.size, audit.get());
  world.Publish();
  const v1::GetSnapshotResponse answer = AnswerOf(world);
  if (options.kind != "sideband") {
    RunBare(options.kind == "bare", answer, ca);
    return absl::OkStatus();
  }
  SidebandServer server(world, ca, *metrics);
  Announce(server.port(), answer);
  std::jthread ticks([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::seconds(1))) server.Tick();
  });
  Publisher publisher([&] { world.Publish(); });
  Obey(publisher, /*made_up=*/true);
  return absl::OkStatus();
}

}  // namespace

}  // namespace sideband::bench

int main(int argc, char** argv) {
  CLI::App app("A gRPC server to measure.");
  sideband::bench::Options options;
  app.add_option("kind", options.kind)->required()->check(CLI::IsMember({"sideband", "bare", "constant"}));
  app.add_option("folder", options.folder)->required();
  app.add_option("--tenants", options.size.tenants)->capture_default_str();
  app.add_option("--contexts", options.size.contexts, "of each tenant")->capture_default_str();
  app.add_option("--events", options.size.events)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("grpc_cost_server", sideband::bench::Run(options));
}
