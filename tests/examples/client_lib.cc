// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/cancellation.h"
#include "client/lib/channel.h"
#include "client/lib/config.h"
#include "client/lib/credential_stamps.h"
#include "client/lib/daemon_records.h"
#include "client/lib/exchange_state.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/grpc_deadline.h"
#include "client/lib/key_exchange.h"
#include "client/lib/opener.h"
#include "client/lib/opener_state.h"
#include "client/lib/record_source.h"
#include "client/lib/rpc_status.h"
#include "client/lib/sealed_snapshot.h"
#include "client/lib/state_file.h"
#include "client/lib/state_members.h"
#include "client/lib/stream_end.h"
#include "client/lib/subscribe_call.h"
#include "client/lib/telemetry_client.h"
#include "client/lib/test_certificates.h"
#include "client/lib/token.h"
#include "client/lib/view_records.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

void UseCancellation(grpc::ClientContext& context) {
  //@ client/lib/cancellation.h
}

absl::Status UseChannel(const ClientConfig& config, Cancellation& cancellation) {
  //@ client/lib/channel.h
  return absl::OkStatus();
}

void UseFakeDaemon(const v1::ListDevicesResponse& devices, Cancellation& cancellation) {
  //@ client/lib/fake_daemon.h
}

absl::Status UseOpener(envelope::Secret static_key, const Uuid& vm, ByteSpan record) {
  //@ client/lib/opener.h
  return absl::OkStatus();
}

absl::Status UseOpenerState(const std::string& path, envelope::Secret static_key, ByteSpan record) {
  //@ client/lib/opener_state.h
  return absl::OkStatus();
}

absl::Status UseExchangeState(const std::string& path, const OpenResult& opened) {
  //@ client/lib/exchange_state.h
  return absl::OkStatus();
}

absl::Status UseStateFile(const std::string& path, const std::string& after) {
  //@ client/lib/state_file.h
  return absl::OkStatus();
}

std::optional<uint64_t> UseStateMembers(const nlohmann::json& json) {
  //@ client/lib/state_members.h
  return epoch;
}

bool Use(ByteSpan record);

void UseRecordSource(RecordSource& source, TelemetryClient& client, const envelope::GuestNonce& nonce) {
  //@ client/lib/record_source.h
}

void UseDaemonRecords(const RecordSource::Stream& stream, const std::function<bool(ByteSpan)>& on_record) {
  //@ client/lib/daemon_records.h
}

void UseViewRecords(const RecordSource::Stream& stream, const std::function<bool(ByteSpan)>& on_record,
                    const std::function<bool(absl::Duration)>& wait,
                    const std::function<void(const std::string&)>& note) {
  //@ client/lib/view_records.h
}

absl::Status UseTelemetryClient(const std::shared_ptr<grpc::Channel>& channel, Cancellation& cancellation,
                                const v1::GetSnapshotRequest& request, const v1::SubscribeRequest& subscription,
                                bool more) {
  //@ client/lib/telemetry_client.h
  return absl::OkStatus();
}

void Use(const v1::SubscribeResponse& response);

void UseSubscribeCall(const std::shared_ptr<grpc::Channel>& channel, const v1::SubscribeRequest& request,
                      Cancellation& cancellation) {
  //@ client/lib/subscribe_call.h
}

void Wait(absl::Duration time);

void UseRpcStatus(const grpc::Status& ended, grpc::ClientContext& context) {
  //@ client/lib/rpc_status.h
}

absl::Status UseStreamEnd(const absl::Status& ended, bool has_changed, absl::Duration delay) {
  //@ client/lib/stream_end.h
  return absl::OkStatus();
}

void ConnectAgain();

void UseCredentialStamps(const ClientConfig& config) {
  //@ client/lib/credential_stamps.h
}

void UseGrpcDeadline(grpc::CompletionQueue& queue, void* tag, bool ok) {
  //@ client/lib/grpc_deadline.h
}

void UseTestCertificates() {
  //@ client/lib/test_certificates.h
}

absl::Status UseToken() {
  //@ client/lib/token.h
  return absl::OkStatus();
}

absl::Status UseKeyExchange(TelemetryClient& client, const CertificateRoots& roots) {
  //@ client/lib/key_exchange.h
  return absl::OkStatus();
}

absl::Status UseSealedSnapshot(const OpenResult& opened, const exchange::GuestKeys& keys) {
  //@ client/lib/sealed_snapshot.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
