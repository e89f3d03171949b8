// SPDX-License-Identifier: Apache-2.0
#include "client/cli/export_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/guest_export.h"
#include "client/cli/loopback_server.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/sealed_stream.h"
#include "client/cli/selection.h"
#include "client/lib/record_source.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/text.h"

namespace sideband::client {
namespace {

// The VM's own scope.
absl::StatusOr<v1::Scope> FindVm(TelemetryClient& client, const ExchangeSubject& subject) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, client.ListScopes({}));
  const auto is_vm = [&](const v1::Scope& scope) {
    return scope.confidential() && (subject.device.empty() || scope.device() == subject.device) &&
           (scope.vm() == subject.vm || scope.vm_uuid() == absl::AsciiStrToLower(subject.vm));
  };
  const auto found = std::ranges::find_if(response.scopes(), is_vm);
  if (found != response.scopes().end()) return *found;
  return MarkRemote(absl::NotFoundError(absl::StrCat("the daemon lists no confidential VM '", subject.vm, "'")));
}

absl::StatusOr<absl::Duration> IntervalOf(TelemetryClient& client, const std::string& device) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, client.ListDevices({}));
  const auto is_it = [&](const v1::Device& one) { return one.name() == device; };
  const auto found = std::ranges::find_if(response.devices(), is_it);
  return found == response.devices().end() ? absl::ZeroDuration() : ToDuration(found->interval());
}

// The daemon's own exposition uses the same factor.
constexpr int kIntervalsOfPatience = 3;
// The network and this machine may be slower than a device that is read very often.
constexpr absl::Duration kPatienceMin = absl::Seconds(1);
// The interval is the daemon's word, by which it must not keep an old record fresh.
constexpr absl::Duration kPatienceMax = absl::Minutes(5);

bool HasEvent(const v1::Snapshot& snapshot, const std::string& given) {
  std::vector<std::string> events;
  for (const v1::ScopeCounters& row : snapshot.scopes()) {
    for (const v1::Counter& counter : row.counters()) events.push_back(counter.event());
  }
  const std::string pattern = EventPattern(given, events);
  return std::ranges::any_of(events, [&](const std::string& event) { return Matches(pattern, event); });
}

class ExportCommand final : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string description() const override {
    return "Serve a confidential VM's counters to a Prometheus inside the VM";
  }

  void Define(CLI::App& app) override {
    sealed_.AddTo(app);
    AddEventOption(app, events_);
    app.add_option("--listen", listen_, "The loopback address of /metrics and /healthz; port 0: a free port")
        ->type_name("IP:PORT")
        ->capture_default_str();
    app.footer(
        "Opens sealed records as `unseal` does, and exchanges keys again when a stream ends. Every program on the\n"
        "machine can read what is served.\n"
        "Examples:\n"
        "  sideband export --vm vm3 --exchange --sealer-ca sealers.pem\n"
        "  sideband export --vm vm3 --exchange --sealer-ca sealers.pem --view views/vm3.sbs\n"
        "  sideband export --vm vm3 --key-file vm3.key --event 'dram_*' --event tensor_active_cycles");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto stream, sealed_.Stream(SealedStream::Reopening::kAlways, context));
    GuestExport newest({.event_patterns = events_});
    const auto server = LoopbackServer::Listen(listen_, [&](absl::string_view path) { return Serve(newest, path); });
    if (!server.ok())
      return absl::Status(server.status().code(), absl::StrCat("--listen: ", server.status().message()));
    context.Note(absl::StrCat("serving http://", (*server)->address(), "/metrics"));
    return Follow(*stream, newest, context);
  }

 private:
  static HttpReply Serve(const GuestExport& newest, absl::string_view path) {
    if (path == "/metrics") {
      return {.content_type = std::string(ContentTypeOf(MetricsFormat::kText)), .body = newest.Metrics()};
    }
    if (path != "/healthz") return {.status = 404, .body = "see /metrics and /healthz\n"};
    return newest.IsUp() ? HttpReply{.body = "up\n"} : HttpReply{.status = 503, .body = "no fresh record\n"};
  }

  absl::Status Follow(SealedStream& stream, GuestExport& newest, CommandContext& context) {
    return stream.Follow({
        .on_record =
            [&](const OpenedRecord& record) {
              NoteUnknownEvents(record.content.snapshot(), context);
              newest.Received(record.content.snapshot(), record.opened.gap);
              return true;
            },
        .on_open = [&](TelemetryClient& client) -> absl::Status {
          SIDEBAND_ASSIGN_OR_RETURN(GuestSite site,
                                    FindGuestSite(client, {.device = sealed_.device, .vm = sealed_.vm}));
          // A view is refreshed whether or not the daemon reads.
          const absl::Duration interval = sealed_.view.empty() ? site.interval : ViewRecords::kRefresh;
          newest.Opened(std::move(site.names), std::clamp(kIntervalsOfPatience * interval, kPatienceMin, kPatienceMax));
          return absl::OkStatus();
        },
        .on_end = [&](const absl::Status& ended) { newest.Ended(absl::IsDataLoss(ended)); },
    });
  }

  // Once: an event may have no counter at first.
  void NoteUnknownEvents(const v1::Snapshot& snapshot, CommandContext& context) {
    if (std::exchange(is_noted_, true)) return;
    for (const std::string& pattern : events_) {
      if (!HasEvent(snapshot, pattern)) context.Note(absl::StrCat("no event of the VM matches '", pattern, "'"));
    }
  }

  SealedOptions sealed_;
  std::vector<std::string> events_;
  std::string listen_ = "127.0.0.1:9879";
  bool is_noted_ = false;
};

}  // namespace

absl::StatusOr<GuestSite> FindGuestSite(TelemetryClient& client, const ExchangeSubject& subject) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::Scope vm, FindVm(client, subject));
  GuestSite site{.names = {.device = vm.device(), .vm = vm.vm()}};
  SIDEBAND_ASSIGN_OR_RETURN(site.interval, IntervalOf(client, vm.device()));
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListEventsResponse response, client.ListEvents({}));
  for (const auto& device : response.devices()) {
    if (device.device() != vm.device()) continue;
    for (const v1::Event& event : device.events()) {
      site.names.events.push_back({.name = event.name(), .unit = event.unit(), .description = event.description()});
    }
  }
  return site;
}

std::unique_ptr<Command> NewExportCommand() { return std::make_unique<ExportCommand>(); }

}  // namespace sideband::client
