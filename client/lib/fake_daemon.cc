// SPDX-License-Identifier: Apache-2.0
#include "client/lib/fake_daemon.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/wait_until.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::client {
namespace {

using Script = FakeDaemon::Script;
using Requests = FakeDaemon::Requests;

// Writes the messages in order; deletes itself when the stream is done.
template <typename Message>
class ScriptedStream final : public grpc::ServerWriteReactor<Message> {
 public:
  // `stays` after its last message, until the client cancels.
  ScriptedStream(const std::vector<Message>& messages, const Script& script, bool stays)
      : messages_(messages), script_(script), stays_(stays) {
    WriteNext();
  }

  void OnWriteDone(bool ok) override { ok ? WriteNext() : End(); }
  void OnCancel() override { End(); }
  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    if (next_ < messages_.size()) return this->StartWrite(&messages_[next_++]);
    if (!stays_) End();
  }

  void End() {
    // OnCancel and OnWriteDone may both end the stream, but Finish() must be called once.
    if (!ended_.exchange(true)) this->Finish(script_.status);
  }

  const std::vector<Message>& messages_;
  const Script& script_;
  const bool stays_;
  size_t next_ = 0;
  std::atomic<bool> ended_ = false;
};

class RequestLog {
 public:
  void Note(std::string Requests::*kind, const google::protobuf::Message& request) {
    absl::MutexLock lock(&mu_);
    requests_.*kind = request.ShortDebugString();
  }
  void NoteAuthorization(const grpc::CallbackServerContext& context) {
    const auto field = context.client_metadata().find("authorization");
    absl::MutexLock lock(&mu_);
    requests_.authorization =
        field == context.client_metadata().end() ? "" : std::string(field->second.data(), field->second.size());
  }
  Requests Get() const {
    absl::MutexLock lock(&mu_);
    return requests_;
  }

 private:
  mutable absl::Mutex mu_;
  Requests requests_ ABSL_GUARDED_BY(mu_);
};

class FakeTelemetry final : public v1::Telemetry::CallbackService {
 public:
  FakeTelemetry(const Script& script, RequestLog& log) : script_(script), log_(log) {}

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context, const v1::ListDevicesRequest*,
                                        v1::ListDevicesResponse* response) override {
    log_.NoteAuthorization(*context);
    *response = script_.devices;
    return End(context);
  }
  grpc::ServerUnaryReactor* ListEvents(grpc::CallbackServerContext* context, const v1::ListEventsRequest*,
                                       v1::ListEventsResponse* response) override {
    *response = script_.events;
    return End(context);
  }
  grpc::ServerUnaryReactor* ListScopes(grpc::CallbackServerContext* context, const v1::ListScopesRequest*,
                                       v1::ListScopesResponse* response) override {
    *response = script_.scopes;
    return End(context);
  }
  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* context, const v1::GetSnapshotRequest* request,
                                        v1::GetSnapshotResponse* response) override {
    log_.Note(&Requests::get_snapshot, *request);
    *response = script_.snapshots;
    return End(context, script_.get_snapshot_status);
  }
  grpc::ServerUnaryReactor* GetHistory(grpc::CallbackServerContext* context, const v1::GetHistoryRequest* request,
                                       v1::GetHistoryResponse* response) override {
    log_.Note(&Requests::get_history, *request);
    *response = script_.history;
    return End(context);
  }
  grpc::ServerUnaryReactor* Peek(grpc::CallbackServerContext* context, const v1::PeekRequest* request,
                                 v1::PeekResponse* response) override {
    log_.Note(&Requests::peek, *request);
    *response = script_.peek;
    return End(context, script_.peek_status);
  }
  grpc::ServerUnaryReactor* Mark(grpc::CallbackServerContext* context, const v1::MarkRequest*,
                                 v1::MarkResponse*) override {
    return End(context, script_.marks_status);
  }
  grpc::ServerUnaryReactor* GetSpan(grpc::CallbackServerContext* context, const v1::GetSpanRequest*,
                                    v1::GetSpanResponse*) override {
    return End(context, script_.marks_status);
  }
  grpc::ServerWriteReactor<v1::SubscribeResponse>* Subscribe(grpc::CallbackServerContext*,
                                                             const v1::SubscribeRequest* request) override {
    log_.Note(&Requests::subscribe, *request);
    const size_t stream = streams_++;
    if (stream < script_.cut_streams.size()) {
      return new ScriptedStream<v1::SubscribeResponse>(script_.cut_streams[stream], script_, /*stays=*/false);
    }
    return new ScriptedStream<v1::SubscribeResponse>(script_.updates, script_, script_.keeps_streams);
  }

 private:
  // `of_call` is the call's own status if that of all calls is OK.
  grpc::ServerUnaryReactor* End(grpc::CallbackServerContext* context, const grpc::Status& of_call = {}) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(script_.status.ok() ? of_call : script_.status);
    return reactor;
  }

  const Script& script_;
  RequestLog& log_;
  std::atomic<size_t> streams_ = 0;
};

class FakeConfidential final : public v1::Confidential::CallbackService {
 public:
  FakeConfidential(const Script& script, RequestLog& log) : script_(script), log_(log) {}

  grpc::ServerWriteReactor<v1::SealedRecord>* SubscribeSealed(grpc::CallbackServerContext*,
                                                              const v1::SubscribeSealedRequest* request) override {
    log_.Note(&Requests::subscribe_sealed, *request);
    return new ScriptedStream<v1::SealedRecord>(script_.records, script_, script_.keeps_streams);
  }

 private:
  const Script& script_;
  RequestLog& log_;
};

}  // namespace

struct FakeDaemon::Impl {
  explicit Impl(Script given) : script(std::move(given)), telemetry(script, log), confidential(script, log) {}

  // Clients read without end.
  const TimeLimit limit{"the end of a client of the fake daemon", absl::Minutes(4)};
  const Script script;
  RequestLog log;
  FakeTelemetry telemetry;
  FakeConfidential confidential;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

FakeDaemon::FakeDaemon(Script script, std::shared_ptr<grpc::ServerCredentials> credentials)
    : impl_(std::make_unique<Impl>(std::move(script))) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", std::move(credentials), &impl_->port);
  builder.RegisterService(&impl_->telemetry);
  builder.RegisterService(&impl_->confidential);
  impl_->server = builder.BuildAndStart();
  impl_->server->GetHealthCheckService()->SetServingStatus("", impl_->script.serving);
}

FakeDaemon::~FakeDaemon() { impl_->server->Shutdown(std::chrono::system_clock::now()); }

std::string FakeDaemon::address() const { return absl::StrCat("127.0.0.1:", impl_->port); }

std::shared_ptr<grpc::Channel> FakeDaemon::Channel() const {
  return grpc::CreateChannel(address(), grpc::InsecureChannelCredentials());
}

FakeDaemon::Requests FakeDaemon::requests() const { return impl_->log.Get(); }

TestCertificates TestCertificates::WriteTo(const std::string& folder, const std::string& server_names) {
  const auto ca = ThrowawayCa::Create(folder);
  if (!ca.ok() || !(*ca)->Issue("server", server_names).ok() ||
      !(*ca)->Issue("client", "URI:spiffe://test/client").ok()) {
    std::abort();
  }
  return {.ca_file = (*ca)->ca_file(),
          .server_cert_file = (*ca)->CertFile("server"),
          .server_key_file = (*ca)->KeyFile("server"),
          .client_cert_file = (*ca)->CertFile("client"),
          .client_key_file = (*ca)->KeyFile("client")};
}

std::shared_ptr<grpc::ServerCredentials> TestCertificates::ServerOnlyTls() const {
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back({*ReadFile(server_key_file), *ReadFile(server_cert_file)});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> TestCertificates::MutualTls() const {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = *ReadFile(ca_file);
  options.pem_key_cert_pairs.push_back({*ReadFile(server_key_file), *ReadFile(server_cert_file)});
  return grpc::SslServerCredentials(options);
}

}  // namespace sideband::client
