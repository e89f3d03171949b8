// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/bus/bus_command.h"
#include "client/bus/command_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/wire.h"
#include "client/cpp/client_state.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_values.h"
#include "client/cpp/subscription.h"
#include "client/demo/child_process.h"
#include "client/demo/demo_site.h"
#include "client/demo/number_checks.h"
#include "client/lib/cancellation.h"
#include "client/lib/channel.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/opener.h"
#include "client/lib/record_source.h"
#include "client/lib/register_counters.h"
#include "client/lib/register_page.h"
#include "client/lib/replay_state.h"
#include "client/lib/rpc_status.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_frame.h"
#include "sideband/change.h"
#include "sideband/client.h"
#include "sideband/device.h"
#include "sideband/error.h"
#include "sideband/history.h"
#include "sideband/marks.h"
#include "sideband/rates.h"
#include "sideband/sensors.h"
#include "sideband/snapshot.h"
#include "sideband/stream.h"
#include "sideband/time.h"
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

absl::Status UseRecordSource(TelemetryClient& client, const CertificateRoots& roots,
                             const std::function<bool(absl::Duration)>& wait,
                             const std::function<void(const std::string&)>& note) {
  //@ client/lib/record_source.h
  return absl::OkStatus();
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

void RunKernel();

absl::Status UseRegisterCounters(RegisterPage& page) {
  //@ client/lib/register_counters.h
  return absl::OkStatus();
}

absl::Status UseRegisterPage() {
  //@ client/lib/register_page.h
  return absl::OkStatus();
}

void Use(mailbox::Opcode opcode);

std::string TempArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string TempData(const mailbox::CommandWord& command, uint32_t value);

void UseCommandText(const mailbox::CommandWord& command, const DataRegisters& in) {
  using mailbox::Opcode;
  //@ client/bus/command_text.h
}

void Print(const std::string& text);

void UseMailboxFollower(WireMessage& message, uint8_t pec, bool is_pointer, std::vector<std::string>& notes) {
  //@ client/bus/mailbox_follower.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

absl::Status UseChildProcess(const std::string& path, const std::string& log_path) {
  //@ client/demo/child_process.h
  return absl::OkStatus();
}

absl::Status Show(const std::string& folder);

absl::Status UseDemoSite() {
  //@ client/demo/demo_site.h
  return absl::OkStatus();
}

absl::StatusOr<std::string> Probe();

absl::Status UseNumberChecks() {
  //@ client/demo/number_checks.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client

// The public headers' examples are a program's, outside of the library's namespaces.

namespace program {

int UseClient() {
  //@ client/cpp/include/sideband/client.h
  return 0;
}

int UseStream(const sideband::Client& client) {
  //@ client/cpp/include/sideband/stream.h
  return 0;
}

int UseError(const sideband::Client& client) {
  //@ client/cpp/include/sideband/error.h
  return 0;
}

int UseHistory(const sideband::Client& client) {
  //@ client/cpp/include/sideband/history.h
  return 0;
}

int UseSensors(const sideband::Client& client) {
  //@ client/cpp/include/sideband/sensors.h
  return 0;
}

int UseMarks(const sideband::Client& client) {
  //@ client/cpp/include/sideband/marks.h
  return 0;
}

void UseDevice(const sideband::Result<std::vector<sideband::Device>>& devices) {
  //@ client/cpp/include/sideband/device.h
}

void UseSnapshot(const sideband::Snapshot& snapshot) {
  //@ client/cpp/include/sideband/snapshot.h
}

void UseRates(const sideband::Snapshot& earlier, const sideband::Snapshot& later) {
  //@ client/cpp/include/sideband/rates.h
}

void UseChange(const sideband::Change& change) {
  //@ client/cpp/include/sideband/change.h
}

void UseTime() {
  //@ client/cpp/include/sideband/time.h
}

}  // namespace program

namespace sideband::library {
namespace {

void Use(const v1::SubscribeResponse& response);
void Use(const StreamItem& item);
void Wait(absl::Duration delay);
void Report(const Gap& gap);
void ReadAgain();

Result<Time> UseSnapshotValues(const absl::StatusOr<v1::GetSnapshotResponse>& response) {
  //@ client/cpp/snapshot_values.h
  return Time();
}

void UseStreamValues(const v1::SubscribeResponse& response) {
  //@ client/cpp/stream_values.h
}

void UseSubscription(const StreamOptions& options, Subscription::Environment environment) {
  //@ client/cpp/subscription.h
}

absl::Status UseClientState(const client::ClientConfig& config, const v1::MarkRequest& request) {
  //@ client/cpp/client_state.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::library
