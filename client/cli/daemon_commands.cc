// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/table.h"
#include "client/lib/rpc_status.h"
#include "proto/audit/chain.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using nlohmann::ordered_json;

using Rows = std::initializer_list<std::pair<const char*, std::string>>;

class HealthCommand final : public Command {
 public:
  std::string name() const override { return "health"; }
  std::string description() const override { return "Check that the daemon serves a fresh device"; }

  void Define(CLI::App& app) override {
    app.add_flag("--alive", accepts_idle_, "Succeed if the daemon answers, even without a fresh device");
    app.footer(
        "The exit status is 0, or 1 if the check fails. The daemon does not audit the call.\n"
        "Example:\n  sideband health --address unix:/run/sideband/grpc.sock");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const bool serving, client->IsServing());
    if (serving) return context.out().Write("serving\n");
    if (accepts_idle_) return context.out().Write("alive, no device is fresh\n");
    return MarkRemote(absl::UnavailableError("no device is fresh: see `sideband devices`"));
  }

 private:
  bool accepts_idle_ = false;
};

std::string OutcomeText(const v1::ReloadResponse& response) {
  std::string text = absl::StrCat("policy generation ", response.policy_version(), " is in force\n");
  for (const std::string& setting : response.needs_restart()) {
    absl::StrAppend(&text, setting, " has changed; it takes effect only after a restart\n");
  }
  return text;
}

// Empty if the text is a number of cycles.
std::string CheckCycles(const std::string& text) {
  uint64_t cycles = 0;
  return absl::SimpleAtoi(text, &cycles) && cycles > 0 ? "" : absl::StrCat("'", text, "' is not a number of cycles");
}

class AdminCommand final : public Command {
 public:
  std::string name() const override { return "admin"; }
  std::string description() const override {
    return "Reload the daemon's files, trigger a device, and rotate a VM's keys";
  }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "For local operators, over the daemon's Unix socket.\n"
        "Examples:\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin reload\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin trigger --device gpu0 --every 65536\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin trigger --device gpu0 --select sm\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin rotate-keys --vm vm3");
    reload_ = app.add_subcommand("reload", "Read all files of the daemon again, as SIGHUP does");
    DefineTrigger(*app.add_subcommand("trigger", "Make a device swap its counters' banks; no count is lost"));
    DefineRotateKeys(*app.add_subcommand("rotate-keys", "Begin a new epoch of the keys that a VM has exchanged"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    if (rotate_keys_->parsed()) return RotateKeys(*client, context);
    return reload_->parsed() ? Reload(*client, context) : Trigger(*client, context);
  }

 private:
  void DefineTrigger(CLI::App& app) {
    app.add_option("--device", device_, "This device; default: the only one")->type_name("NAME");
    auto* const every = app.add_option("--every", period_, "Also trigger every CYCLES reference cycles")
                            ->type_name("CYCLES")
                            ->check(CLI::Validator(CheckCycles, ""));
    auto* const stop = app.add_flag("--stop", is_stop_, "Stop the triggers that --every started")->excludes(every);
    app.add_option("--select", domains_, "Do not trigger: choose the clocks that answer triggers from now on, or 'all'")
        ->type_name("DOMAIN")
        ->excludes(every)
        ->excludes(stop);
  }

  void DefineRotateKeys(CLI::App& app) {
    rotate_keys_ = &app;
    app.add_option("--vm", vm_, "The VM, by name or UUID")->required()->type_name("VM");
    app.add_option("--device", device_, "The device on which the VM is; default: the only one")->type_name("NAME");
  }

  static absl::Status Reload(TelemetryClient& client, CommandContext& context) {
    SIDEBAND_ASSIGN_OR_RETURN(const v1::ReloadResponse response, client.Reload({}));
    if (response.errors().empty()) return context.out().Write(OutcomeText(response));
    return MarkRemote(
        absl::FailedPreconditionError(absl::StrCat("nothing was changed; ", absl::StrJoin(response.errors(), "; "))));
  }

  absl::Status Trigger(TelemetryClient& client, CommandContext& context) const {
    v1::TriggerRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    if (is_stop_) request.set_period_cycles(0);
    if (period_) request.set_period_cycles(*period_);
    if (!domains_.empty()) Select(*request.mutable_select());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::TriggerResponse response, client.Trigger(request));
    if (!domains_.empty()) {
      return context.out().Write(absl::StrCat("answered by ", absl::StrJoin(domains_, ", "), "\n"));
    }
    if (is_stop_) return context.out().Write("only the device's own triggers remain\n");
    if (period_) return context.out().Write(absl::StrCat("triggered every ", *period_, " cycles\n"));
    return context.out().Write(absl::StrCat("trigger ", response.trigger_id(), "\n"));
  }

  absl::Status RotateKeys(TelemetryClient& client, CommandContext& context) const {
    v1::RotateKeysRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    request.set_vm(vm_);
    SIDEBAND_ASSIGN_OR_RETURN(const v1::RotateKeysResponse response, client.RotateKeys(request));
    return context.out().Write(absl::StrCat("epoch ", response.epoch(), " begins\n"));
  }

  void Select(v1::DomainSelection& selection) const {
    if (domains_ == std::vector<std::string>{"all"}) return;
    for (const std::string& domain : domains_) selection.add_domains(domain);
  }

  CLI::App* reload_ = nullptr;
  CLI::App* rotate_keys_ = nullptr;
  std::string device_;
  std::string vm_;
  std::optional<uint64_t> period_;
  bool is_stop_ = false;
  std::vector<std::string> domains_;
};

std::string Lines(Rows rows) {
  std::string text;
  for (const auto& [name, value] : rows) absl::StrAppendFormat(&text, "%-10s %s\n", name, value);
  return text;
}

// Wraps `text` into indented lines of kTableColumns. Longer words are split.
std::string Indented(absl::string_view text) {
  constexpr size_t kIndent = 10, kWidth = kTableColumns - kIndent;
  std::string lines;
  while (!text.empty()) {
    size_t size = std::min(kWidth, text.size());
    const size_t space = text.size() <= kWidth ? absl::string_view::npos : text.rfind(' ', kWidth);
    if (space != absl::string_view::npos && space > 0) size = space;
    absl::StrAppend(&lines, std::string(kIndent, ' '), absl::StripTrailingAsciiWhitespace(text.substr(0, size)), "\n");
    text = absl::StripLeadingAsciiWhitespace(text.substr(size));
  }
  return lines;
}

std::string Line(absl::string_view sequence, absl::string_view time, absl::string_view kind, absl::string_view decision,
                 absl::string_view endpoint, absl::string_view principal, absl::string_view rest,
                 const TableStyle& style) {
  std::string line = absl::StrFormat("%8s  %-27s  %-6s  %-8s", sequence, time, kind, decision);
  if (style.wide) {
    absl::StrAppendFormat(&line, "  %-28s  %s  %s", endpoint, principal, rest);
    return absl::StrCat(absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  // Principal and text follow on further lines, and the endpoint as well if the first line would be too long.
  const std::string who = absl::StrCat(principal, "  ", rest);
  const std::string with_endpoint = absl::StrCat(line, "  ", endpoint);
  if (with_endpoint.size() > kTableColumns)
    return absl::StrCat(line, "\n", Indented(absl::StrCat(endpoint, "  ", who)));
  return absl::StrCat(with_endpoint, "\n", Indented(who));
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

// The resource, the reason of the decision, and the counts of repeated and lost entries.
std::string About(const AuditEntry& entry) {
  std::string about = entry.resource;
  if (!entry.reason.empty()) absl::StrAppend(&about, about.empty() ? "" : "  ", "(", entry.reason, ")");
  if (entry.repeated > 0) absl::StrAppend(&about, "  ", entry.repeated, " more like this until then");
  if (entry.lost > 0)
    absl::StrAppend(&about, entry.lost, entry.lost == 1 ? " entry was" : " entries were", " not written");
  return about;
}

// A summary of several lines: number of entries, time range, head, and notes about irregularities.
std::string ChainText(const ChainSummary& summary) {
  std::string text = Lines({{"entries", absl::StrCat(summary.entries)},
                            {"sequences", absl::StrCat(summary.first_sequence, " to ", summary.last_sequence)},
                            {"from", AuditTimeText(summary.first_time)},
                            {"to", AuditTimeText(summary.last_time)},
                            {"lost", absl::StrCat(summary.lost)},
                            {"repeated", absl::StrCat(summary.repeated)},
                            {"head", summary.head}});
  if (!summary.anchor_at.empty()) {
    text +=
        Lines({{"anchor", absl::StrCat(summary.anchor_at, ", ", summary.entries_after_anchor,
                                       summary.entries_after_anchor == 1 ? " entry" : " entries", " before the end")}});
  }
  if (summary.first_sequence > 1) {
    text += Lines({{"note", absl::StrCat("entries 1 to ", summary.first_sequence - 1, " are in none of these files")}});
  }
  for (const std::string& note : summary.notes) text += Lines({{"note", note}});
  if (summary.notes_left_out > 0) text += Lines({{"note", PluralText(summary.notes_left_out, "more note")}});
  return text;
}

// The same as one JSON object of several lines.
std::string ChainJson(const ChainSummary& summary) {
  ordered_json json;
  json["entries"] = absl::StrCat(summary.entries);
  json["first_sequence"] = absl::StrCat(summary.first_sequence);
  json["last_sequence"] = absl::StrCat(summary.last_sequence);
  if (summary.entries > 0) {
    json["first_time"] = AuditTimeText(summary.first_time);
    json["last_time"] = AuditTimeText(summary.last_time);
  }
  json["lost"] = absl::StrCat(summary.lost);
  json["repeated"] = absl::StrCat(summary.repeated);
  json["head"] = summary.head;
  if (!summary.anchor_at.empty()) {
    json["anchor"] = summary.anchor_at;
    json["entries_after_anchor"] = absl::StrCat(summary.entries_after_anchor);
  }
  json["notes"] = summary.notes;
  json["notes_left_out"] = absl::StrCat(summary.notes_left_out);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Columns have fixed widths, which fit most entries, so that lines can be printed while the log is being read. Unless
// the style is wide, principal and resource are on further lines, and no line exceeds kTableColumns.
std::string EntryTitle(const TableStyle& style) {
  return Line("SEQUENCE", "TIME", "KIND", "DECISION", "ENDPOINT", "PRINCIPAL", "ABOUT", style);
}

std::string EntryText(const AuditEntry& entry, const TableStyle& style) {
  std::string text = Line(absl::StrCat(entry.sequence), AuditTimeText(entry.time), AuditKindName(entry.kind),
                          OrDash(AuditDecisionName(entry.decision)), OrDash(entry.endpoint), OrDash(entry.principal),
                          About(entry), style);
  for (const std::string& detail : entry.detail) {
    absl::StrAppend(&text, style.wide ? absl::StrCat(std::string(10, ' '), detail, "\n") : Indented(detail));
  }
  return text;
}

// Entries as comma-separated values; details are separated by "; ".
std::string EntryCsvTitles() {
  return CsvLine({"sequence", "time", "kind", "decision", "endpoint", "principal", "role", "resource", "reason",
                  "policy_version", "repeated", "lost", "detail"});
}

std::string EntryCsv(const AuditEntry& entry) {
  return CsvLine({absl::StrCat(entry.sequence), AuditTimeText(entry.time), AuditKindName(entry.kind),
                  AuditDecisionName(entry.decision), entry.endpoint, entry.principal, entry.role, entry.resource,
                  entry.reason, absl::StrCat(entry.policy_version), absl::StrCat(entry.repeated),
                  absl::StrCat(entry.lost), absl::StrJoin(entry.detail, "; ")});
}

class AuditCommand final : public Command {
 public:
  std::string name() const override { return "audit"; }
  std::string description() const override { return "Check and read the daemon's audit log"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband audit verify audit.jsonl*\n"
        "  sideband audit show --denied audit.jsonl");
    verify_ =
        app.add_subcommand("verify", "Check the hash chain; exit status 1 if it is broken or there are no entries");
    DefineVerify(*verify_);
    DefineShow(*app.add_subcommand("show", "Print the entries, following the chain"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> files, OrderedAuditFiles(files_));
    return verify_->parsed() ? Verify(files, context) : Show(files, context);
  }

 private:
  void DefineFiles(CLI::App& app) {
    app.add_option("FILE", files_, "Files of one log, in any order")
        ->required()
        ->expected(1, CLI::detail::expected_max_vector_size);
  }

  void DefineVerify(CLI::App& app) {
    DefineFiles(app);
    app.add_option("--head", head_,
                   "A head that was stored earlier: fail if no entry has it, because entries up to it were then "
                   "removed or rewritten")
        ->type_name("HASH");
    format_.AddWithoutCsvTo(app);
    app.footer(
        "Without --head, a log looks intact even if its last entries are missing: store the head that this command\n"
        "prints where the log's writer cannot change it.\n"
        "Examples:\n"
        "  sideband audit verify audit.jsonl*\n"
        "  sideband audit verify audit.jsonl* --head 5f0c…");
  }

  void DefineShow(CLI::App& app) {
    DefineFiles(app);
    app.add_option("--principal", principal_, "Only entries of this identity")->type_name("IDENTITY");
    app.add_flag("--denied", denied_, "Only entries of denied requests");
    show_format_.AddTo(app);
    app.footer(
        "With --format json, each entry is one line, as in the log.\n"
        "Examples:\n"
        "  sideband audit show audit.jsonl\n"
        "  sideband audit show --principal spiffe://example.org/tenant-a --denied audit.jsonl*");
  }

  absl::Status Verify(const std::vector<std::string>& files, CommandContext& context) const {
    if (!head_.empty() && !IsAuditHash(head_)) {
      return absl::InvalidArgumentError("--head: 64 lower-case hexadecimal digits are needed");
    }
    ChainVerifier chain({.head = head_});
    SIDEBAND_RETURN_IF_ERROR(FeedAuditFiles(files, chain));
    SIDEBAND_RETURN_IF_ERROR(chain.End());
    // The daemon starts every log with an entry. Files without entries are not a log, or have been truncated.
    if (chain.summary().entries == 0)
      return absl::DataLossError("0 entries in these files: there is nothing to verify");
    return context.out().Write(format_.json() ? ChainJson(chain.summary()) : ChainText(chain.summary()));
  }

  bool IsWanted(const AuditEntry& entry) const {
    return (principal_.empty() || entry.principal == principal_) &&
           (!denied_ || entry.decision == AuditDecision::kDeny);
  }

  std::string Titles() const {
    if (show_format_.json()) return "";
    return show_format_.csv() ? EntryCsvTitles() : EntryTitle(show_format_.style);
  }

  std::string Text(const AuditLine& line) const {
    if (show_format_.json()) return EncodeAuditLine(line) + "\n";
    return show_format_.csv() ? EntryCsv(line.entry) : EntryText(line.entry, show_format_.style);
  }

  absl::Status Show(const std::vector<std::string>& files, CommandContext& context) const {
    // `printed` carries an output error out of the callback; the remaining files are then skipped.
    absl::Status printed = context.out().Write(Titles());
    ChainVerifier chain({.on_line = [&](const AuditLine& line) {
      if (printed.ok() && IsWanted(line.entry)) printed = context.out().Write(Text(line));
    }});
    for (const std::string& file : files) {
      if (printed.ok()) SIDEBAND_RETURN_IF_ERROR(FeedAuditFiles({file}, chain));
    }
    SIDEBAND_RETURN_IF_ERROR(printed);
    return chain.End();
  }

  CLI::App* verify_ = nullptr;  // owned by the app, which outlives Run()
  std::vector<std::string> files_;
  std::string head_;
  std::string principal_;
  bool denied_ = false;
  FormatOption format_;       // of verify
  FormatOption show_format_;  // of show
};

}  // namespace

std::unique_ptr<Command> NewHealthCommand() { return std::make_unique<HealthCommand>(); }

std::unique_ptr<Command> NewAdminCommand() { return std::make_unique<AdminCommand>(); }

std::unique_ptr<Command> NewAuditCommand() { return std::make_unique<AuditCommand>(); }

}  // namespace sideband::client
