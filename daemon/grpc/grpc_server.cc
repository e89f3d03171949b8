// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <grpc/support/time.h>

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/call_limits.h"
#include "daemon/grpc/service_context.h"
#include "daemon/grpc/service_host.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/reader.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

class GrpcServer::Impl {
 public:
  Impl(Options options, std::unique_ptr<Gate> gate, std::unique_ptr<ResumeTokens> tokens, Reader& reader,
       SelfMetrics& metrics)
      : tokens_(std::move(tokens)),
        quota_(options.requests, reader.clock()),
        under_way_(options.under_way),
        bodies_(reader, metrics),
        health_(reader),
        registry_(reader, options.streams_per_identity_max),
        gate_(std::move(gate)),
        context_{reader, metrics, registry_, quota_, under_way_, bodies_, *gate_, tokens_.get(), options.parts} {}
  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Start(bool reflection);
  void Stop(absl::Duration grace);
  Gate& gate() const { return *gate_; }
  HealthReporter& health() { return health_; }

 private:
  void AuditBreach(const Credentials& peer, absl::string_view reason) const;

  // In the order of construction: context_ refers to the members above it, host_ to context_.
  const std::unique_ptr<ResumeTokens> tokens_;
  RequestQuota quota_;
  CallsUnderWay under_way_;
  SnapshotBodies bodies_;
  HealthReporter health_;
  StreamRegistry registry_;
  const std::unique_ptr<Gate> gate_;
  const ServiceContext context_;
  std::unique_ptr<ServiceHost> host_;
  absl::Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

void GrpcServer::Impl::AuditBreach(const Credentials& peer, absl::string_view reason) const {
  const Reader& reader = context_.reader;
  // A breach belongs to a connection, not to a call: the entry names the listener as the endpoint.
  const Access access{.endpoint = "grpc", .resource = std::string(reason), .note = "connection closed"};
  reader.audit().Record(AccessEntry(reader, reader.Authenticate(peer), peer, access,
                                    absl::ResourceExhaustedError("beyond the bounds of HTTP/2 (docs/listeners.md)")));
}

absl::Status GrpcServer::Impl::Start(bool reflection) {
  host_ = ServiceHost::Create(context_, reflection);
  if (host_ == nullptr) return absl::UnavailableError("grpc: the server cannot be started");
  health_.Add(host_->health());
  // After the host is complete: connections that wait already arrive at once.
  gate_->Start([this](int fd) { host_->Serve(fd); },
               [this](const Credentials& peer, absl::string_view reason) { AuditBreach(peer, reason); });
  return absl::OkStatus();
}

void GrpcServer::Impl::Stop(absl::Duration grace) {
  absl::MutexLock lock(&stop_mu_);
  if (std::exchange(stopped_, true)) return;
  // First: a connection that is attached after the shutdown of gRPC would be lost.
  gate_->StopAccepting();
  // Ends the streams with UNAVAILABLE; gRPC would cancel them at the deadline.
  registry_.Stop();
  // `health_` must not touch the health service once the server is shut down.
  health_.RemoveAll();
  if (host_ != nullptr) {
    host_->MarkUnhealthy();
    host_->Stop(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(absl::ToInt64Nanoseconds(grace), GPR_TIMESPAN)));
  }
  // Last: the gate still carries the final bytes of answers to the clients.
  gate_->Stop();
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(Options options, Reader& reader, SelfMetrics& metrics) {
  options.gate.listener = options.config.listener;
  options.gate.local_operators = options.local_operators;
  SIDEBAND_ASSIGN_OR_RETURN(auto gate, Gate::Listen(options.gate, reader.clock(), metrics));
  SIDEBAND_ASSIGN_OR_RETURN(auto tokens, ResumeTokens::Create());
  const bool reflection = options.config.reflection;
  auto impl = std::make_unique<Impl>(std::move(options), std::move(gate), std::move(tokens), reader, metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Start(reflection));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->gate().port(); }
void GrpcServer::CheckCertificates() { impl_->gate().CheckCertificates(); }
void GrpcServer::ReloadCertificates() { impl_->gate().ReloadCertificates(); }
void GrpcServer::Post(std::function<void()> task) { impl_->gate().Post(std::move(task)); }
void GrpcServer::UpdateHealth() { impl_->health().Update(); }
void GrpcServer::Stop(absl::Duration grace) { impl_->Stop(grace); }

HealthReporter::HealthReporter(Reader& reader) : reader_(reader) { reader_.AddListener(*this); }

HealthReporter::~HealthReporter() { reader_.RemoveListener(*this); }

void HealthReporter::Report(grpc::HealthCheckServiceInterface& service) const {
  for (const char* name : kHealthServices) service.SetServingStatus(name, is_serving_);
}

void HealthReporter::Add(grpc::HealthCheckServiceInterface& service) {
  absl::MutexLock lock(&mu_);
  services_.push_back(&service);
  Report(service);
}

void HealthReporter::RemoveAll() {
  absl::MutexLock lock(&mu_);
  services_.clear();
}

void HealthReporter::Update() {
  absl::MutexLock lock(&mu_);
  // Under the lock to the end: transitions are reported in order, and none after RemoveAll().
  const bool is_serving = reader_.FreshDevices() > 0;
  // Reports transitions only.
  if (is_serving_.exchange(is_serving) == is_serving) return;
  for (grpc::HealthCheckServiceInterface* service : services_) Report(*service);
}

void HealthReporter::OnUpdate() {
  // Called at each publication, on a collector's thread: takes the lock only while NOT_SERVING. The periodic Update()
  // detects the opposite transition.
  if (!is_serving_) Update();
}

}  // namespace sideband::daemon
