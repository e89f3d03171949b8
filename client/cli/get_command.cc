// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/empty_notes.h"
#include "client/cli/history_render.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/past_options.h"
#include "client/cli/render.h"
#include "client/cli/selection.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class GetCommand final : public Command {
 public:
  std::string name() const override { return "get"; }
  std::string description() const override { return "Print the newest counters, or past ones"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    CLI::Option* const since = past_.AddTo(app);
    app.add_flag("--bounds", has_bounds_, "Print the lower and the upper bound of each estimate, too")->excludes(since);
    format_.AddTo(app);
    app.footer(
        "With --since, a rate is the mean from one point to the next.\n"
        "Examples:\n"
        "  sideband get --vm vm1\n"
        "  sideband get --device gpu0 --event sm_active_cycles --event 'dram_*' --format json\n"
        "  sideband get --vm vm1 --event sm_active_cycles --since 5m --step 10s");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
    const auto selection = Selection::Resolve(filter_, *client);
    if (!selection.ok()) return ExplainNotFound(selection.status(), filter_, *client);
    const absl::Status status =
        past_.is_wanted() ? RunHistory(*selection, *client, context) : RunSnapshot(*selection, *client, context);
    return ExplainNotFound(status, filter_, *client);
  }

 private:
  absl::Status RunSnapshot(const Selection& selection, TelemetryClient& client, CommandContext& context) const {
    v1::GetSnapshotRequest request;
    *request.mutable_filter() = selection.filter();
    SIDEBAND_ASSIGN_OR_RETURN(auto response, client.GetSnapshot(request));
    if (response.snapshots().empty()) SIDEBAND_RETURN_IF_ERROR(CheckAnswered(filter_.devices, client));
    selection.Narrow(response);
    NoteEmptySnapshot(selection, response, client, context);
    for (const std::string& note : StaleNotes(response)) context.Note(note);
    if (format_.json()) return context.out().Write(ToJson(response));
    const Bounds bounds = has_bounds_ ? Bounds::kShown : Bounds::kHidden;
    if (!format_.csv()) {
      return context.out().Write(SnapshotTables(response, context.StyleOf(format_.style), bounds));
    }
    std::string text = SnapshotCsvTitles(bounds);
    for (const v1::Snapshot& snapshot : response.snapshots()) text += SnapshotCsv(snapshot, bounds);
    return context.out().Write(text);
  }

  static void NoteEmptySnapshot(const Selection& selection, const v1::GetSnapshotResponse& response,
                                TelemetryClient& client, CommandContext& context) {
    const ShownNames shown = ShownNames::Of(response);
    const auto notes = EmptyNotes(selection, shown, client);
    for (const std::string& note : notes) context.Note(note);
    if (notes.empty() && shown.events.empty()) context.Note("nothing that this caller may see matches");
  }

  absl::Status RunHistory(const Selection& selection, TelemetryClient& client, CommandContext& context) const {
    v1::GetHistoryRequest request;
    *request.mutable_filter() = selection.filter();
    past_.FillIn(context.Now(), request);
    auto response = client.GetHistory(request);
    if (absl::IsUnimplemented(response.status())) {
      return MarkRemote(absl::UnimplementedError("the daemon has no history: it is older than this program"));
    }
    SIDEBAND_RETURN_IF_ERROR(response.status());
    selection.Narrow(*response);
    NoteEmptyHistory(selection, *response, client, context);
    if (format_.json()) return context.out().Write(HistoryJson(*response));
    return context.out().Write(format_.csv() ? HistoryCsv(*response)
                                             : HistoryTables(*response, context.StyleOf(format_.style)));
  }

  static void NoteEmptyHistory(const Selection& selection, const v1::GetHistoryResponse& response,
                               TelemetryClient& client, CommandContext& context) {
    const ShownNames shown = ShownNames::Of(response);
    if (response.devices().empty()) {
      context.Note("no history yet");
    } else if (shown.events.empty()) {
      context.Note("the history has no points in that time");
    }
    // Without counters in that time and without --event, the note above is the explanation.
    if (shown.events.empty() && selection.options().events.empty()) return;
    for (const std::string& note : EmptyNotes(selection, shown, client)) context.Note(note);
  }

  FilterOptions filter_;
  PastOptions past_;
  bool has_bounds_ = false;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace sideband::client
