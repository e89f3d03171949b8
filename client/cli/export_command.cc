// SPDX-License-Identifier: Apache-2.0
#include "client/cli/export_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/loopback_server.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/sealed_stream.h"
#include "client/lib/record_source.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::client {
namespace {

bool IsMetricName(absl::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// An event as it is exposed.
struct EventFamily {
  mailbox::EventInfo info;
  std::string name;  // of the counter, without level
  bool is_selected = false;
};

class Rendering {
 public:
  Rendering(const v1::Snapshot& snapshot, const GuestNames& names, const std::vector<std::string>& patterns)
      : snapshot_(snapshot), names_(names) {
    NameEvents(patterns);
  }

  std::string Take() && {
    AddDevice();
    for (const v1::ScopeCounters& row : snapshot_.scopes()) AddRow(row);
    std::string out;
    for (const auto& [name, family] : families_) absl::StrAppend(&out, family.header, family.samples);
    return out;
  }

 private:
  struct Family {
    std::string header;
    std::string samples;
  };

  // The catalogue's events first: the daemon gives names in its order.
  void NameEvents(const std::vector<std::string>& given) {
    std::vector<mailbox::EventInfo> infos = names_.events;
    for (const v1::ScopeCounters& row : snapshot_.scopes()) {
      for (const v1::Counter& counter : row.counters()) {
        const auto is_same = [&](const mailbox::EventInfo& info) { return info.name == counter.event(); };
        if (std::ranges::none_of(infos, is_same)) infos.push_back({.name = counter.event()});
      }
    }
    std::vector<std::string> known, patterns;
    for (const mailbox::EventInfo& info : infos) known.push_back(info.name);
    for (const std::string& one : given) patterns.push_back(EventPattern(one, known));
    const std::vector<std::string> counters = CounterNames(infos);
    for (size_t e = 0; e < infos.size(); ++e) {
      const bool is_selected = IsMetricName(infos[e].name) && (patterns.empty() || MatchesAny(patterns, infos[e].name));
      const std::string event = infos[e].name;
      events_.emplace(event, EventFamily{std::move(infos[e]), counters[e], is_selected});
    }
  }

  void AddDevice() {
    std::string labels = "{";
    AppendLabel(labels, "device", names_.device);
    Add(kReferenceSecondsFamily, labels, SecondsText(snapshot_.reference_time_ns()));
    if (!snapshot_.has_host_time()) return;
    const absl::Time time =
        absl::FromUnixSeconds(snapshot_.host_time().seconds()) + absl::Nanoseconds(snapshot_.host_time().nanos());
    Add(kSampleTimestampFamily, labels, sideband::TimeText(time));
  }

  void AddRow(const v1::ScopeCounters& row) {
    const RowFamilies& level = row.scope().context().empty() ? kVmFamilies : kContextFamilies;
    const std::string labels = LabelsOf(row.scope());
    AddFlags(level, labels, row);
    for (const v1::Counter& counter : row.counters()) AddCounter(level, labels, counter);
  }

  std::string LabelsOf(const v1::Scope& scope) {
    std::string labels = "{";
    AppendLabel(labels, "device", names_.device);
    if (scope.has_slice()) AppendLabel(labels, "slice", absl::StrCat(scope.slice()));
    AppendLabel(labels, "vm", names_.vm);
    if (scope.context().empty()) return labels;
    const int nth = ++contexts_[scope.context()];
    AppendLabel(labels, "context", nth == 1 ? scope.context() : absl::StrCat(scope.context(), " ", nth));
    return labels;
  }

  void AddFlags(const RowFamilies& level, const std::string& labels, const v1::ScopeCounters& row) {
    for (const std::string& flag : row.flags()) {
      std::string flagged = labels;
      AppendLabel(flagged, "flag", flag);
      Add(level.flags, flagged, "1");
    }
  }

  void AddCounter(const RowFamilies& level, const std::string& labels, const v1::Counter& counter) {
    const EventFamily& event = events_.at(counter.event());
    if (!event.is_selected) return;
    const std::string name = FamilyName(level.level, event.name);
    Family& family = families_[name];
    if (family.header.empty()) {
      const std::string help = CounterHelp(event.info, level.level_help);
      family.header = FamilyHeader(MetricsFormat::kText, name, MetricType::kCounter, help);
    }
    absl::StrAppend(&family.samples, name, labels, "} ", counter.count(), "\n");
    if (counter.has_estimate()) AddEstimate(level, labels, counter);
  }

  void AddEstimate(const RowFamilies& level, std::string labels, const v1::Counter& counter) {
    AppendLabel(labels, "event", counter.event());
    const v1::Estimate& estimate = counter.estimate();
    const double coverage = counter.has_coverage() ? counter.coverage() : 1;
    if (!std::isnan(coverage)) Add(level.event_coverage, labels, NumberText(coverage));
    Add(level.event_lower, labels, absl::StrCat(estimate.lower()));
    if (estimate.has_upper()) Add(level.event_upper, labels, absl::StrCat(estimate.upper()));
    if (estimate.has_standard_error()) {
      Add(level.event_standard_error, labels, absl::StrCat(estimate.standard_error()));
    }
  }

  void Add(const FamilyText& text, absl::string_view labels, absl::string_view value) {
    Family& family = families_[text.name];
    if (family.header.empty()) family.header = FamilyHeader(MetricsFormat::kText, text);
    absl::StrAppend(&family.samples, text.name, labels, "} ", value, "\n");
  }

  const v1::Snapshot& snapshot_;
  const GuestNames& names_;
  std::map<std::string, EventFamily> events_;
  std::map<std::string, int> contexts_;  // how often a name has occurred
  std::map<std::string, Family> families_;
};

constexpr FamilyText kGaps = {"sideband_export_gaps_total", MetricType::kCounter,
                              "Sealed records known to be missing between two that were opened."};
constexpr FamilyText kAge = {"sideband_export_record_age_seconds", MetricType::kGauge,
                             "How long ago the newest sealed record was received."};
constexpr FamilyText kRecords = {"sideband_export_records_total", MetricType::kCounter,
                                 "Sealed records that were opened."};
constexpr FamilyText kRejected = {"sideband_export_rejected_total", MetricType::kCounter,
                                  "Streams that ended with a record that was rejected."};
constexpr FamilyText kStreams = {"sideband_export_streams_total", MetricType::kCounter,
                                 "Streams of sealed records that were opened, each with keys or a nonce of its own."};
constexpr FamilyText kUp = {"sideband_export_up", MetricType::kGauge,
                            "Whether a stream is open and its newest record is fresh."};

std::string Sample(const FamilyText& family, const std::string& value) {
  return absl::StrCat(FamilyHeader(MetricsFormat::kText, family), family.name, " ", value, "\n");
}
std::string Sample(const FamilyText& family, uint64_t value) { return Sample(family, absl::StrCat(value)); }

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

std::string GuestExposition(const v1::Snapshot& snapshot, const GuestNames& names,
                            const std::vector<std::string>& event_patterns) {
  return Rendering(snapshot, names, event_patterns).Take();
}

void GuestExport::Opened(GuestNames names, absl::Duration patience) {
  absl::MutexLock lock(&mu_);
  names_ = std::move(names);
  patience_ = patience;
  is_open_ = true;
  is_of_stream_ = false;
  ++streams_;
}

void GuestExport::Received(v1::Snapshot snapshot, uint64_t gap) {
  absl::MutexLock lock(&mu_);
  newest_ = std::move(snapshot);
  received_ = options_.now();
  is_of_stream_ = true;
  ++records_;
  gaps_ += gap;
}

void GuestExport::Ended(bool is_rejection) {
  absl::MutexLock lock(&mu_);
  is_open_ = false;
  if (is_rejection) ++rejected_;
}

bool GuestExport::IsFresh() const { return is_open_ && is_of_stream_ && options_.now() - *received_ <= patience_; }

bool GuestExport::IsUp() const {
  absl::MutexLock lock(&mu_);
  return IsFresh();
}

std::string GuestExport::OwnMetrics() const {
  // Sorted by name.
  const std::string age = received_ ? Sample(kAge, NumberText(absl::ToDoubleSeconds(options_.now() - *received_))) : "";
  return absl::StrCat(Sample(kGaps, gaps_), age, Sample(kRecords, records_), Sample(kRejected, rejected_),
                      Sample(kStreams, streams_), Sample(kUp, IsFresh() ? 1 : 0));
}

std::string GuestExport::Metrics() const {
  absl::MutexLock lock(&mu_);
  const std::string rows = IsFresh() ? GuestExposition(newest_, names_, options_.event_patterns) : "";
  return absl::StrCat(rows, OwnMetrics());
}

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
