// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

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
#include "client/cli/command.h"
#include "client/cli/console.h"
#include "client/cli/counting_command.h"
#include "client/cli/empty_notes.h"
#include "client/cli/export_command.h"
#include "client/cli/hosts.h"
#include "client/cli/loopback_server.h"
#include "client/cli/options.h"
#include "client/cli/rotation_command.h"
#include "client/cli/sealed_stream.h"
#include "client/cli/sensor_commands.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/cli/watch_lines.h"
#include "client/lib/cancellation.h"
#include "client/lib/telemetry_client.h"
#include "client/top/a_site.h"
#include "client/top/feed.h"
#include "client/top/layout.h"
#include "client/top/model.h"
#include "client/top/rows.h"
#include "client/top/terminal_screen.h"
#include "client/top/view.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

namespace command {
//@ client/cli/command.h
}  // namespace command

bool Use(const OpenedRecord& record);

absl::Status UseSealedStream(CLI::App& app, CommandContext& context, SealedOptions& sealed_) {
  //@ client/cli/sealed_stream.h
}

std::vector<std::unique_ptr<Command>> AllCommands();

void UseCommandLine() {
  //@ client/cli/cli.h
}

void UseEmptyNotes(const Selection& selection, const v1::GetSnapshotResponse& narrowed,
                   const std::unique_ptr<TelemetryClient>& client, CommandContext& context) {
  //@ client/cli/empty_notes.h
}

absl::Status Ask(TelemetryClient& client);

absl::Status UseHosts(CommandContext& context) {
  //@ client/cli/hosts.h
}

std::string Render(const v1::SubscribeResponse& response);

absl::Status UseStreamPrinter(CommandContext& context, uint64_t count_max,
                              const std::unique_ptr<TelemetryClient>& client, const v1::SubscribeRequest& request) {
  //@ client/cli/stream.h
}

void UseTable(Output& out, const TableStyle& style) {
  //@ client/cli/table.h
}

void SetTime(absl::Time from, google::protobuf::Timestamp& to);

class PastCommand {
  absl::Status UsePastOptions(CLI::App& app, CommandContext& context, v1::GetHistoryRequest& request) {
    //@ client/cli/options.h
    return absl::OkStatus();
  }

  PastOptions past_;
};

void Fit(size_t columns);

void UseConsole(Cancellation& cancellation) {
  //@ client/cli/console.h
}

void UseWatchLines(CommandContext& context, Output& out, const TableStyle& style, const v1::Snapshot& snapshot,
                   size_t terminal_rows) {
  //@ client/cli/watch_lines.h
}

absl::Status UseCountingChange(CLI::App& app, const v1::GetCountingResponse& actual) {
  //@ client/cli/counting_command.h
  return absl::OkStatus();
}

absl::Status UseRotationRequest(v1::SetRotationRequest& request) {
  //@ client/cli/rotation_command.h
  return absl::OkStatus();
}

void UseSensorText(const v1::GetSensorsResponse* response, const TableStyle& style, CommandContext& context) {
  //@ client/cli/sensor_commands.h
}

void Answer(const std::string& text);

void UseGuestExport(const GuestNames& names, const OpenedRecord& record) {
  //@ client/cli/export_command.h
}

std::string Metrics();

absl::Status UseLoopbackServer() {
  //@ client/cli/loopback_server.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client

namespace sideband::client::top {
namespace {

void Draw(const Line& line);
void Show(const std::string& name, v1::Device::State state);
void Refuse();
class Wake {
 public:
  void Set();
};
void Press(const Key& key);

void UseASite(Model& model, absl::Time now) {
  //@ client/top/a_site.h
}

absl::Status UseFeed(CommandContext& context, Wake& wake, std::vector<Row>& rows, const RowOptions& options,
                     absl::Time now) {
  //@ client/top/feed.h
  return absl::OkStatus();
}

void UseLayout(const Frame& frame) {
  //@ client/top/layout.h
}

void UseModel(const v1::Snapshot& snapshot, absl::Time now) {
  //@ client/top/model.h
}

void UseRows(const Model& model, absl::Time now) {
  //@ client/top/rows.h
}

absl::Status UseTerminalScreen(CommandContext& context, const Frame& frame) {
  //@ client/top/terminal_screen.h
  return absl::OkStatus();
}

void UseView(const Key& key, const Model& model, size_t page, absl::Time now, const std::vector<std::string>& events) {
  //@ client/top/view.h
}

}  // namespace
}  // namespace sideband::client::top
