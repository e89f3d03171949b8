// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/timestamp.pb.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/audit_text.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/command.h"
#include "client/cli/command_line.h"
#include "client/cli/device_choice.h"
#include "client/cli/device_states.h"
#include "client/cli/empty_notes.h"
#include "client/cli/exchange_options.h"
#include "client/cli/exit_code.h"
#include "client/cli/handshake_cause.h"
#include "client/cli/hosts.h"
#include "client/cli/interrupt.h"
#include "client/cli/name_pattern.h"
#include "client/cli/only_device.h"
#include "client/cli/options.h"
#include "client/cli/output.h"
#include "client/cli/past_options.h"
#include "client/cli/reconnection.h"
#include "client/cli/sealed_options.h"
#include "client/cli/sealed_stream.h"
#include "client/cli/selection.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/cli/terminal.h"
#include "client/cli/time_column.h"
#include "client/cli/watch_lines.h"
#include "client/counting/counting_command.h"
#include "client/export/export_command.h"
#include "client/export/guest_export.h"
#include "client/export/guest_exposition.h"
#include "client/export/loopback_server.h"
#include "client/hpc/hpc_command.h"
#include "client/lib/cancellation.h"
#include "client/lib/telemetry_client.h"
#include "client/marks/mark_commands.h"
#include "client/rotation/rotation_command.h"
#include "client/rotation/rotation_request.h"
#include "client/sensors/sensor_commands.h"
#include "client/sensors/sensor_text.h"
#include "client/top/a_site.h"
#include "client/top/board.h"
#include "client/top/feed.h"
#include "client/top/full_screen.h"
#include "client/top/layout.h"
#include "client/top/minute.h"
#include "client/top/model.h"
#include "client/top/rows.h"
#include "client/top/signals.h"
#include "client/top/terminal_screen.h"
#include "client/top/terminal_type.h"
#include "client/top/view.h"
#include "proto/audit/chain.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/registers/event_list.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

void UseAuditText(Output& out, const ChainVerifier& chain, const AuditLine& line, const TableStyle& style) {
  //@ client/cli/audit_text.h
}

void UseBuiltinCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/cli/builtin_commands.h
}

absl::Status UseHandshakeCause(const ClientConfig& config) {
  //@ client/cli/handshake_cause.h
  return absl::OkStatus();
}

namespace command {
//@ client/cli/command.h
}  // namespace command

bool Use(const OpenedRecord& record);

absl::Status UseSealedStream(envelope::Secret static_key, CommandContext& context) {
  //@ client/cli/sealed_stream.h
}

absl::Status UseSealedOptions(CLI::App& app, CommandContext& context, SealedOptions& sealed_,
                              const std::function<bool(const OpenedRecord&)>& on_record) {
  //@ client/cli/sealed_options.h
}

std::vector<std::unique_ptr<Command>> AllCommands();

void UseCommandLine() {
  //@ client/cli/command_line.h
}

v1::ListScopesRequest RequestFor(const std::string& device);
void Print(const v1::Scope& scope);

absl::Status UseDeviceChoice(const std::vector<std::string>& devices, TelemetryClient& client) {
  //@ client/cli/device_choice.h
  return absl::OkStatus();
}

absl::Status UseOnlyDevice(const std::string& device_, const std::string& vm_,
                           const std::unique_ptr<TelemetryClient>& client) {
  //@ client/cli/only_device.h
  return absl::OkStatus();
}

void UseEmptyNotes(const Selection& selection, const v1::GetSnapshotResponse& narrowed,
                   const std::unique_ptr<TelemetryClient>& client, CommandContext& context) {
  //@ client/cli/empty_notes.h
}

int UseExitCode() {
  //@ client/cli/exit_code.h
}

absl::Status Ask(TelemetryClient& client);

absl::Status UseHosts(CommandContext& context) {
  //@ client/cli/hosts.h
}

void UseInterruptWatcher(Cancellation& cancellation) {
  //@ client/cli/interrupt.h
}

void UseNamePattern() {
  //@ client/cli/name_pattern.h
}

absl::Status Stream(TelemetryClient& client, const std::function<void(const v1::Snapshot&)>& on_snapshot);

absl::Status UseReconnection(CommandContext& context) {
  //@ client/cli/reconnection.h
}

void Print(const v1::Snapshot& snapshot);
void Print(const v1::StateChange& change);

absl::Status UseSelection(const FilterOptions& options, TelemetryClient& client, v1::GetSnapshotRequest& request,
                          v1::Snapshot& snapshot) {
  //@ client/cli/selection.h
  return absl::OkStatus();
}

std::string Render(const v1::SubscribeResponse& response);

absl::Status UseStreamPrinter(CommandContext& context, uint64_t count_max,
                              const std::unique_ptr<TelemetryClient>& client, const v1::SubscribeRequest& request) {
  //@ client/cli/stream.h
}

void UseTable(Output& out, const TableStyle& style) {
  //@ client/cli/table.h
}

void UseTimeColumn(absl::Time first, absl::Time last, absl::Time time, Table& table, const TableStyle& style) {
  //@ client/cli/time_column.h
}

void SetTime(absl::Time from, google::protobuf::Timestamp& to);

class PastCommand {
  absl::Status UsePastOptions(CLI::App& app, CommandContext& context, v1::GetHistoryRequest& request) {
    //@ client/cli/past_options.h
    return absl::OkStatus();
  }

  PastOptions past_;
};

bool Print(const v1::SubscribeResponse& response);

void UseDeviceStates(CommandContext& context, TelemetryClient& client, const v1::SubscribeRequest& request) {
  //@ client/cli/device_states.h
}

void Fit(size_t columns);

void UseTerminal() {
  //@ client/cli/terminal.h
}

void UseWatchLines(CommandContext& context, Output& out, const TableStyle& style, const v1::Snapshot& snapshot,
                   size_t terminal_rows) {
  //@ client/cli/watch_lines.h
}

absl::Status UseExchangeOptions(CLI::App& app, CLI::Option* const key_file, TelemetryClient& client,
                                const std::string& vm_) {
  ExchangeOptions exchange_;
  //@ client/cli/exchange_options.h
  return absl::OkStatus();
}

void UseSensorCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/sensors/sensor_commands.h
}

void UseSensorText(const v1::GetSensorsResponse* response, const TableStyle& style, CommandContext& context) {
  //@ client/sensors/sensor_text.h
}

void UseMarkCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/marks/mark_commands.h
}

absl::Status UseRotationRequest(v1::SetRotationRequest& request) {
  //@ client/rotation/rotation_request.h
  return absl::OkStatus();
}

absl::Status UseCountingChange(CLI::App& app, const v1::GetCountingResponse& actual) {
  //@ client/counting/counting_command.h
  return absl::OkStatus();
}

void UseGuestExposition(const OpenedRecord& record, const GuestNames& names, std::string& out) {
  //@ client/export/guest_exposition.h
}

void Answer(const std::string& text);

void UseGuestExport(const GuestNames& names, const OpenedRecord& record) {
  //@ client/export/guest_export.h
}

std::string Metrics();

absl::Status UseLoopbackServer() {
  //@ client/export/loopback_server.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client

namespace sideband::client::top {
namespace {

void Draw(double value);
void Draw(const Line& line);
void Show(const std::string& name, v1::Device::State state);
void Resize();
void Refuse();
void Press(const Key& key);

void UseASite(Model& model, absl::Time now) {
  //@ client/top/a_site.h
}

absl::Status UseFeed(CommandContext& context, Wake& wake, std::vector<Row>& rows, const RowOptions& options,
                     absl::Time now) {
  //@ client/top/feed.h
  return absl::OkStatus();
}

absl::Status UseFullScreen(CommandContext& context, const std::string& address, const std::string& event,
                           Signals& signals, Wake& wake, std::unique_ptr<Feeds> feeds,
                           std::unique_ptr<TerminalScreen> terminal) {
  //@ client/top/full_screen.h
}

void UseLayout(const Frame& frame) {
  //@ client/top/layout.h
}

void UseMinute(absl::Time now, absl::Duration interval) {
  //@ client/top/minute.h
}

void UseBoard(const v1::GetSensorsResponse& response, Row& row) {
  //@ client/top/board.h
}

void UseModel(const v1::Snapshot& snapshot, absl::Time now) {
  //@ client/top/model.h
}

void UseRows(const Model& model, absl::Time now) {
  //@ client/top/rows.h
}

void UseSignals() {
  //@ client/top/signals.h
}

absl::Status UseTerminalScreen(CommandContext& context, const Frame& frame) {
  //@ client/top/terminal_screen.h
  return absl::OkStatus();
}

void UseTerminalType() {
  //@ client/top/terminal_type.h
}

void UseView(const Key& key, const Model& model, size_t page, absl::Time now, const std::vector<std::string>& events) {
  //@ client/top/view.h
}

}  // namespace
}  // namespace sideband::client::top
