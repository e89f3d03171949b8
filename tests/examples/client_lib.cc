// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
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
#include "client/bus/board_command_text.h"
#include "client/bus/bus_command.h"
#include "client/bus/command_text_row.h"
#include "client/bus/data_registers.h"
#include "client/bus/extension_command_text.h"
#include "client/bus/link_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/memory_error_text.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/stream_follower.h"
#include "client/bus/trace_run.h"
#include "client/bus/value_text.h"
#include "client/bus/wire.h"
#include "client/cpp/bounds.h"
#include "client/cpp/client_state.h"
#include "client/cpp/device_values.h"
#include "client/cpp/error_values.h"
#include "client/cpp/history_values.h"
#include "client/cpp/mark_values.h"
#include "client/cpp/scope_key.h"
#include "client/cpp/sensor_values.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_state.h"
#include "client/cpp/stream_values.h"
#include "client/cpp/subscription.h"
#include "client/demo/child_process.h"
#include "client/demo/demo_folder.h"
#include "client/demo/number_search.h"
#include "client/guest/counters.h"
#include "client/guest/fake_page.h"
#include "client/guest/gate.h"
#include "client/guest/memory_page.h"
#include "client/guest/register_page.h"
#include "client/guest/socket_page.h"
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
#include "proto/mailbox/word.h"
#include "proto/smbus/monitor_frame.h"
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

void RunKernel();

absl::Status UseCounters(RegisterPage& page) {
  //@ client/guest/counters.h
  return absl::OkStatus();
}

void UseFakePage() {
  //@ client/guest/fake_page.h
}

absl::Status UseGate(RegisterPage& page) {
  //@ client/guest/gate.h
  return absl::OkStatus();
}

absl::Status UseMemoryPage() {
  //@ client/guest/memory_page.h
  return absl::OkStatus();
}

absl::Status UseRegisterPage(RegisterPage& page) {
  //@ client/guest/register_page.h
  return absl::OkStatus();
}

absl::Status UseSocketPage() {
  //@ client/guest/socket_page.h
  return absl::OkStatus();
}

void Use(mailbox::Opcode opcode);

void UseBoardCommandText() {
  //@ client/bus/board_command_text.h
}

std::string TempArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string TempData(const mailbox::CommandWord& command, uint32_t value);

void UseCommandTextRow() {
  using mailbox::Opcode;
  //@ client/bus/command_text_row.h
}

void Print(const std::string& text);

void UseDataRegisters() {
  //@ client/bus/data_registers.h
}

void UseExtensionCommandText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/extension_command_text.h
}

void UseMailboxFollower(StreamFollower::Budget& budget, WireMessage& message, uint8_t pec, bool is_pointer,
                        std::vector<std::string>& notes) {
  //@ client/bus/mailbox_follower.h
}

void UseMemoryErrorText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/memory_error_text.h
}

void UseNvlinkText(const mailbox::CommandWord& command, const DataRegisters& in, uint32_t word) {
  //@ client/bus/link_text.h
}

void UseSmbpbiNames() {
  //@ client/bus/smbpbi_names.h
}

void UseStreamFollower(const mailbox::CommandWord& read_command, ByteSpan bytes) {
  //@ client/bus/stream_follower.h
}

void UseValueText() {
  //@ client/bus/value_text.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

absl::Status UseChildProcess(const std::string& path, const std::string& log_path) {
  //@ client/demo/child_process.h
  return absl::OkStatus();
}

absl::Status Show(const std::string& folder);

absl::Status UseDemoFolder() {
  //@ client/demo/demo_folder.h
  return absl::OkStatus();
}

absl::StatusOr<std::string> Probe();

absl::Status UseNumberSearch() {
  //@ client/demo/number_search.h
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

absl::Status UseBounds(const v1::Snapshot& message) {
  //@ client/cpp/bounds.h
  return absl::OkStatus();
}

void UseDeviceValues(const v1::ListDevicesResponse& response) {
  //@ client/cpp/device_values.h
}

void UseSnapshotValues(const v1::Snapshot& message) {
  //@ client/cpp/snapshot_values.h
}

void UseHistoryValues(const v1::GetHistoryResponse& response) {
  //@ client/cpp/history_values.h
}

void UseSensorValues(const v1::GetSensorsResponse& response) {
  //@ client/cpp/sensor_values.h
}

void UseMarkValues(const v1::MarkResponse& response) {
  //@ client/cpp/mark_values.h
}

void UseStreamValues(const v1::SubscribeResponse& response) {
  //@ client/cpp/stream_values.h
}

Result<Device> UseErrorValues(const absl::StatusOr<Device>& response) {
  //@ client/cpp/error_values.h
  return *response;
}

void UseScopeKey(const ScopeCounters& row) {
  //@ client/cpp/scope_key.h
}

void UseSubscription(const StreamOptions& options, Subscription::Environment environment) {
  //@ client/cpp/subscription.h
}

void UseStreamState(const client::ClientConfig& config, const StreamOptions& options) {
  //@ client/cpp/stream_state.h
}

absl::Status UseClientState(const client::ClientConfig& config, const v1::MarkRequest& request) {
  //@ client/cpp/client_state.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::library
