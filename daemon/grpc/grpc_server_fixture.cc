// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server_fixture.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/client_callback.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

// A call of either kind; gRPC's generic unary call takes one message only.
class Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawAnswer Run(grpc::GenericStub& stub, const std::string& path, const grpc::ByteBuffer& request,
                const std::vector<std::string>& authorization) {
    for (const std::string& field : authorization) context_.AddMetadata("authorization", field);
    stub.PrepareBidiStreamingCall(&context_, path, {}, this);
    StartWriteLast(&request, {});
    StartRead(&response_);
    StartCall();
    WaitUntil(done_, "the end of the call of " + path);
    for (const auto& [name, value] : context_.GetServerTrailingMetadata()) {
      answer_.trailers.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
    }
    return std::move(answer_);
  }

 private:
  void OnReadDone(bool good) override {
    if (!good) return;
    answer_.responses.push_back(TextOf(response_));
    StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    answer_.status = status;
    done_.Notify();
  }

  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  RawAnswer answer_;
  absl::Notification done_;
};

}  // namespace

grpc::ByteBuffer BytesOf(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string TextOf(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!bytes.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

RawAnswer RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                  const grpc::ByteBuffer& request, const std::vector<std::string>& authorization) {
  grpc::GenericStub stub(channel);
  return Call().Run(stub, path, request, authorization);
}

using sideband::v1::SubscribeRequest;
using sideband::v1::Telemetry;

SubscribeRequest EndlessRequest(const std::string& device, const std::string& vm) {
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_STREAM);
  request.mutable_filter()->set_device(device);
  request.mutable_filter()->set_vm(vm);
  return request;
}

GrpcServerFixture::GrpcServerFixture() {
  options_.config.listener = {.listen = {"127.0.0.1", 0}, .tls = ca_.Server()};
  options_.config.reflection = true;
  world_.Publish(0, 1);
}

void GrpcServerFixture::StartWith(Reader& reader) {
  auto server = GrpcServer::Start(options_, reader, *metrics_);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
}

std::shared_ptr<grpc::Channel> GrpcServerFixture::Channel(const std::string& alternative_names,
                                                          const grpc::ChannelArguments& arguments) const {
  grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(ca_.ca_file())};
  if (!alternative_names.empty()) {
    const CertificateFiles files = ca_.Issue("client", alternative_names);
    tls.pem_private_key = *ReadFile(files.key_file);
    tls.pem_cert_chain = *ReadFile(files.cert_file);
  }
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->port()), grpc::SslCredentials(tls), arguments);
}

std::unique_ptr<Telemetry::Stub> GrpcServerFixture::As(const std::string& who) const {
  return Telemetry::NewStub(Channel("URI:spiffe://example.org/" + who));
}

grpc::Status GrpcServerFixture::GetSnapshot(Telemetry::Stub& stub, const std::string& vm,
                                            sideband::v1::GetSnapshotResponse& response) {
  grpc::ClientContext context;
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_vm(vm);
  return stub.GetSnapshot(&context, request, &response);
}

}  // namespace sideband::daemon
