// SPDX-License-Identifier: Apache-2.0
#include "client/lib/telemetry_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <utility>

#include "client/lib/rpc_status.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::client {
namespace {

template <typename Response, typename Method, typename Request>
absl::StatusOr<Response> Call(Method method, const Request& request, const TelemetryClient::Options& options,
                              Cancellation& cancellation) {
  grpc::ClientContext context;
  // A time span: gRPC adds it to its monotonic clock.
  context.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(options.deadline), GPR_TIMESPAN));
  const Cancellation::Hook hook(cancellation, [&context] { context.TryCancel(); });
  Response response;
  const grpc::Status status = method(context, request, response);
  if (!status.ok()) return FromRpc(status, options.peer);
  return response;
}

// Reads until the stream ends or `on_message` returns false. `open` starts the call on the context.
template <typename Message, typename Open, typename OnMessage>
absl::Status ReadStream(Open open, OnMessage on_message, const TelemetryClient::Options& options,
                        Cancellation& cancellation) {
  grpc::ClientContext context;
  const Cancellation::Hook hook(cancellation, [&context] { context.TryCancel(); });
  const auto reader = open(context);
  bool interested = true;
  for (Message message; interested && reader->Read(&message);) interested = on_message(message);
  // Finish() would otherwise wait for the server to end the stream.
  if (!interested) context.TryCancel();
  const grpc::Status status = reader->Finish();
  // The status is then CANCELLED, which this side has caused.
  if (!interested || cancellation.cancelled()) return absl::OkStatus();
  return FromRpc(status, options.peer);
}

}  // namespace

struct TelemetryClient::Stubs {
  std::unique_ptr<v1::Telemetry::Stub> telemetry;
  std::unique_ptr<v1::Confidential::Stub> confidential;
};

TelemetryClient::TelemetryClient(const std::shared_ptr<grpc::Channel>& channel, Options options,
                                 Cancellation& cancellation)
    : options_(std::move(options)),
      cancellation_(cancellation),
      stubs_(std::make_unique<Stubs>(
          Stubs{.telemetry = v1::Telemetry::NewStub(channel), .confidential = v1::Confidential::NewStub(channel)})) {}

TelemetryClient::~TelemetryClient() = default;

absl::StatusOr<v1::ListDevicesResponse> TelemetryClient::ListDevices(const v1::ListDevicesRequest& request) {
  return Call<v1::ListDevicesResponse>(
      [this](auto& context, auto& in, auto& out) { return stubs_->telemetry->ListDevices(&context, in, &out); },
      request, options_, cancellation_);
}

absl::StatusOr<v1::ListEventsResponse> TelemetryClient::ListEvents(const v1::ListEventsRequest& request) {
  return Call<v1::ListEventsResponse>(
      [this](auto& context, auto& in, auto& out) { return stubs_->telemetry->ListEvents(&context, in, &out); }, request,
      options_, cancellation_);
}

absl::StatusOr<v1::ListScopesResponse> TelemetryClient::ListScopes(const v1::ListScopesRequest& request) {
  return Call<v1::ListScopesResponse>(
      [this](auto& context, auto& in, auto& out) { return stubs_->telemetry->ListScopes(&context, in, &out); }, request,
      options_, cancellation_);
}

absl::StatusOr<v1::GetSnapshotResponse> TelemetryClient::GetSnapshot(const v1::GetSnapshotRequest& request) {
  return Call<v1::GetSnapshotResponse>(
      [this](auto& context, auto& in, auto& out) { return stubs_->telemetry->GetSnapshot(&context, in, &out); },
      request, options_, cancellation_);
}

absl::StatusOr<v1::GetHistoryResponse> TelemetryClient::GetHistory(const v1::GetHistoryRequest& request) {
  return Call<v1::GetHistoryResponse>(
      [this](auto& context, auto& in, auto& out) { return stubs_->telemetry->GetHistory(&context, in, &out); }, request,
      options_, cancellation_);
}

absl::Status TelemetryClient::Subscribe(const v1::SubscribeRequest& request,
                                        const std::function<bool(const v1::SubscribeResponse&)>& on_response) {
  return ReadStream<v1::SubscribeResponse>(
      [&](auto& context) { return stubs_->telemetry->Subscribe(&context, request); }, on_response, options_,
      cancellation_);
}

absl::Status TelemetryClient::SubscribeSealed(const v1::SubscribeSealedRequest& request,
                                              const std::function<bool(ByteSpan record)>& on_record) {
  return ReadStream<v1::SealedRecord>(
      [&](auto& context) { return stubs_->confidential->SubscribeSealed(&context, request); },
      [&](const v1::SealedRecord& message) { return on_record(AsBytes(message.record())); }, options_, cancellation_);
}

}  // namespace sideband::client
