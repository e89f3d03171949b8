// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/front.h"
#include "daemon/grpc/listen_probe.h"
#include "daemon/grpc/reloading_credentials.h"
#include "daemon/grpc/service_context.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/local_listener.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr char kListener[] = "grpc";
// Who may operate the daemon are few; each has a server.
constexpr size_t kLocalUsersMax = 64;

// gRPC 1.51 cannot be told a minimum version. Its list of cipher suites, though, is for TLS 1.2 alone: with one that
// needs a pre-shared key, of which there is none, only TLS 1.3 can be agreed on. gRPC reads the variable once per
// process.
void AllowOnlyTls13() { setenv("GRPC_SSL_CIPHER_SUITES", "PSK-AES256-GCM-SHA384", /*overwrite=*/1); }

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(Options options, Reader& reader, SelfMetrics& metrics)
      : options_(std::move(options)),
        metrics_(metrics),
        quota_(options_.requests, reader.clock()),
        under_way_(options_.under_way),
        registry_(reader.store(), reader.policy(), options_.streams_per_identity_max),
        context_{reader, metrics, registry_, quota_, under_way_, options_.history} {}
  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Start();
  void Stop(absl::Duration grace);
  uint16_t port() const { return static_cast<uint16_t>(port_); }
  ListenerTls* tls() const { return tls_.get(); }

 private:
  absl::Status ListenOnNetwork();
  absl::Status ListenLocally();
  void OnLocalConnection(int fd, uint32_t user);
  void Refuse(int fd, const char* reason);
  bool HasRoomFor(uint32_t user) const { return fronts_.contains(user) || fronts_.size() < kLocalUsersMax; }
  // nullptr where gRPC could start none; the user's next connection tries again.
  Front* FrontOf(uint32_t user);
  std::vector<Front*> Fronts() const;

  const Options options_;
  SelfMetrics& metrics_;
  std::unique_ptr<ListenerTls> tls_;                      // nullptr without a network listener
  std::shared_ptr<grpc::ServerCredentials> credentials_;  // as gRPC has them
  // What the services refer to, and what refers to them.
  RequestQuota quota_;
  CallsUnderWay under_way_;
  StreamRegistry registry_;
  const ServiceContext context_;
  int port_ = 0;
  std::unique_ptr<Front> network_;  // nullptr without a network listener
  // By user: gRPC tells a call nothing of the socket it has come by, so each user has a server, whose services know.
  // The local listener's thread's, and once that has ended, the stopping one's.
  absl::flat_hash_map<uint32_t, std::unique_ptr<Front>> fronts_;
  std::unique_ptr<LocalListener> local_;  // nullptr without a Unix socket; it uses the fronts
  absl::Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

absl::Status GrpcServer::Impl::ListenOnNetwork() {
  const ListenerConfig& listener = options_.config.listener;
  SIDEBAND_ASSIGN_OR_RETURN(tls_, ListenerTls::Create(kListener, listener.tls, metrics_));
  if (listener.tls.min_version == TlsVersion::kTls13) AllowOnlyTls13();
  SIDEBAND_RETURN_IF_ERROR(ProbeListen(listener.listen));
  credentials_ = ReloadingCredentials(*tls_);
  network_ = Front::Listen(context_, listener.listen.ToString(), credentials_, port_);
  if (network_ != nullptr) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("grpc: cannot listen on ", listener.listen.ToString()));
}

absl::Status GrpcServer::Impl::ListenLocally() {
  SIDEBAND_ASSIGN_OR_RETURN(
      local_,
      LocalListener::Listen({kListener, options_.config.listener.unix_socket, options_.local_operators}, metrics_));
  local_->Start([this](int fd, const SocketPeer& peer) { OnLocalConnection(fd, peer.user); });
  return absl::OkStatus();
}

Front* GrpcServer::Impl::FrontOf(uint32_t user) {
  const auto known = fronts_.find(user);
  if (known != fronts_.end()) return known->second.get();
  ServiceContext context = context_;
  context.local_operator = user;
  std::unique_ptr<Front> front = Front::ForLocalConnections(context);
  return front == nullptr ? nullptr : fronts_.emplace(user, std::move(front)).first->second.get();
}

void GrpcServer::Impl::OnLocalConnection(int fd, uint32_t user) {
  if (!HasRoomFor(user)) return Refuse(fd, "too_many_local_users");
  Front* const front = FrontOf(user);
  if (front == nullptr) return Refuse(fd, "no_server");
  front->Serve(fd);
}

void GrpcServer::Impl::Refuse(int fd, const char* reason) {
  metrics_.ConnectionRefused(kListener, reason);
  close(fd);
}

absl::Status GrpcServer::Impl::Start() {
  const ListenerConfig& listener = options_.config.listener;
  grpc::EnableDefaultHealthCheckService(true);
  if (options_.config.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  if (listener.on_network) SIDEBAND_RETURN_IF_ERROR(ListenOnNetwork());
  if (!listener.unix_socket.empty()) SIDEBAND_RETURN_IF_ERROR(ListenLocally());
  return absl::OkStatus();
}

std::vector<Front*> GrpcServer::Impl::Fronts() const {
  std::vector<Front*> fronts;
  if (network_ != nullptr) fronts.push_back(network_.get());
  for (const auto& [user, front] : fronts_) fronts.push_back(front.get());
  return fronts;
}

void GrpcServer::Impl::Stop(absl::Duration grace) {
  absl::MutexLock lock(&stop_mu_);
  if (std::exchange(stopped_, true)) return;
  // A connection that came later would be lost.
  if (local_ != nullptr) local_->Stop();
  registry_.Stop();
  for (Front* front : Fronts()) front->SayUnhealthy();
  const gpr_timespec deadline =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(absl::ToInt64Nanoseconds(grace), GPR_TIMESPAN));
  for (Front* front : Fronts()) front->Stop(deadline);
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(Options options, Reader& reader, SelfMetrics& metrics) {
  auto impl = std::make_unique<Impl>(std::move(options), reader, metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->port(); }

void GrpcServer::CheckCertificates() {
  if (impl_->tls() != nullptr) impl_->tls()->Check();
}

void GrpcServer::ReloadCertificates() {
  if (impl_->tls() != nullptr) impl_->tls()->Reload();
}

void GrpcServer::Stop(absl::Duration grace) { impl_->Stop(grace); }

}  // namespace sideband::daemon
