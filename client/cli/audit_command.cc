// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/audit_text.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/options.h"
#include "proto/audit/chain.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

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

std::unique_ptr<Command> NewAuditCommand() { return std::make_unique<AuditCommand>(); }

}  // namespace sideband::client
