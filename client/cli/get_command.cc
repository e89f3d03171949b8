// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/empty_notes.h"
#include "client/cli/history_render.h"
#include "client/cli/hosts.h"
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
        "With --since, a rate is the mean from one point to the next. A list of addresses asks several daemons.\n"
        "Examples:\n"
        "  sideband get --vm vm1\n"
        "  sideband get --device gpu0 --event sm_active_cycles --event 'dram_*' --format json\n"
        "  sideband get --vm vm1 --event sm_active_cycles --since 5m --step 10s\n"
        "  sideband get --address a:9878,b:9878 --event sm_active_cycles");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
    std::vector<absl::StatusOr<std::string>> answers(hosts.size());
    SIDEBAND_RETURN_IF_ERROR(
        AskEach(hosts, [&](size_t i, const auto& client) { answers[i] = Ask(hosts[i], *client); }));
    HostErrors errors(context);
    std::vector<std::string> texts;
    for (size_t i = 0; i < hosts.size(); ++i) {
      absl::StatusOr<std::string>& text = answers[i];
      SIDEBAND_RETURN_IF_ERROR(errors.Add(hosts[i], text.status()));
      if (text.ok() && (format_.csv() || !text->empty())) texts.push_back(*std::move(text));
    }
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(Joined(texts, hosts.size() > 1)));
    return errors.Result();
  }

 private:
  // The answers of all hosts. There are titles only if there is an answer.
  std::string Joined(const std::vector<std::string>& texts, bool are_several) const {
    if (texts.empty()) return "";
    if (format_.json()) return HostsJson(texts, are_several);
    if (!format_.csv()) return absl::StrJoin(texts, "\n");
    const Bounds bounds = has_bounds_ ? Bounds::kShown : Bounds::kHidden;
    const std::string titles = past_.is_wanted() ? HistoryCsvTitles() : SnapshotCsvTitles(bounds);
    return WithHostColumn(titles, are_several ? "host" : "") + absl::StrJoin(texts, "");
  }

  absl::StatusOr<std::string> Ask(Host& host, TelemetryClient& client) const {
    const auto selection = Selection::Resolve(filter_, client);
    if (!selection.ok()) return ExplainNotFound(selection.status(), filter_, client);
    auto text = past_.is_wanted() ? AskHistory(*selection, client, host) : AskSnapshots(*selection, client, host);
    if (!text.ok()) return ExplainNotFound(text.status(), filter_, client);
    return text;
  }

  absl::StatusOr<std::string> AskSnapshots(const Selection& selection, TelemetryClient& client, Host& host) const {
    v1::GetSnapshotRequest request;
    *request.mutable_filter() = selection.filter();
    SIDEBAND_ASSIGN_OR_RETURN(auto response, client.GetSnapshot(request));
    if (response.snapshots().empty()) SIDEBAND_RETURN_IF_ERROR(CheckAnswered(filter_.devices, client));
    selection.Narrow(response);
    NoteEmptySnapshot(selection, response, client, host.context);
    for (const std::string& note : StaleNotes(response)) host.context.Note(note);
    if (format_.json()) return WithHostMember(ToJson(response), host.name);
    const Bounds bounds = has_bounds_ ? Bounds::kShown : Bounds::kHidden;
    if (!format_.csv()) {
      for (v1::Snapshot& snapshot : *response.mutable_snapshots())
        snapshot.set_device(NameAtHost(host.name, snapshot.device()));
      return SnapshotTables(response, host.context.StyleOf(format_.style), bounds);
    }
    std::string text;
    for (const v1::Snapshot& snapshot : response.snapshots()) text += SnapshotCsv(snapshot, bounds);
    return WithHostColumn(text, host.name);
  }

  static void NoteEmptySnapshot(const Selection& selection, const v1::GetSnapshotResponse& response,
                                TelemetryClient& client, CommandContext& context) {
    const ShownNames shown = ShownNames::Of(response);
    const auto notes = EmptyNotes(selection, shown, client);
    for (const std::string& note : notes) context.Note(note);
    if (notes.empty() && shown.events.empty()) context.Note("nothing that this caller may see matches");
  }

  absl::StatusOr<std::string> AskHistory(const Selection& selection, TelemetryClient& client, Host& host) const {
    v1::GetHistoryRequest request;
    *request.mutable_filter() = selection.filter();
    past_.FillIn(host.context.Now(), request);
    auto response = client.GetHistory(request);
    if (absl::IsUnimplemented(response.status())) {
      return MarkRemote(absl::UnimplementedError("the daemon has no history: it is older than this program"));
    }
    SIDEBAND_RETURN_IF_ERROR(response.status());
    selection.Narrow(*response);
    NoteEmptyHistory(selection, *response, client, host.context);
    if (format_.json()) return WithHostMember(HistoryJson(*response), host.name);
    if (format_.csv()) return WithHostColumn(HistoryCsv(*response), host.name);
    for (v1::DeviceHistory& device : *response->mutable_devices())
      device.set_device(NameAtHost(host.name, device.device()));
    return HistoryTables(*response, host.context.StyleOf(format_.style));
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
