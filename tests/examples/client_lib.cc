// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
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
#include "client/lib/fake_daemon.h"
#include "client/lib/key_exchange.h"
#include "client/lib/opener.h"
#include "client/lib/record_source.h"
#include "client/lib/replay_state.h"
#include "client/lib/rpc_status.h"
#include "client/lib/state_file.h"
#include "client/lib/telemetry_client.h"
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

void ConnectAgain();

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

absl::Status UseReplayState(const std::string& path, envelope::Secret static_key, ByteSpan record) {
  //@ client/lib/replay_state.h
  return absl::OkStatus();
}

absl::Status UseStateFile(const std::string& path, const std::string& after) {
  //@ client/lib/state_file.h
  return absl::OkStatus();
}

bool Use(ByteSpan record);

void UseRecordSource(TelemetryClient& client, const envelope::GuestNonce& nonce,
                     const std::function<bool(absl::Duration)>& wait,
                     const std::function<void(const std::string&)>& note) {
  //@ client/lib/record_source.h
}

absl::Status UseTelemetryClient(const std::shared_ptr<grpc::Channel>& channel, Cancellation& cancellation,
                                const v1::GetSnapshotRequest& request, const v1::SubscribeRequest& subscription,
                                bool more) {
  //@ client/lib/telemetry_client.h
  return absl::OkStatus();
}

void Wait(absl::Duration time);

void UseRpcStatus(const grpc::Status& ended, grpc::ClientContext& context) {
  //@ client/lib/rpc_status.h
}

absl::Status UseKeyExchange(TelemetryClient& client, const CertificateRoots& roots) {
  //@ client/lib/key_exchange.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
