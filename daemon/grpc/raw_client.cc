// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/raw_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/client_callback.h>

#include <utility>

#include "absl/synchronization/notification.h"
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

}  // namespace sideband::daemon
