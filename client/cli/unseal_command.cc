// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/empty_notes.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/sealed_stream.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/lib/opener.h"
#include "client/lib/replay_state.h"
#include "client/lib/rpc_status.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/secret.h"

namespace sideband::client {
namespace {

std::string JsonLine(const OpenResult& opened, const v1::SealedContent& content) {
  const envelope::RecordHeader& header = opened.header;
  nlohmann::ordered_json line;
  // Numbers of 64 bits are texts, as in protobuf's JSON: many readers keep 53 bits only.
  line["record"] = {{"device_uuid", header.device.ToString()},
                    {"boot_id", BootIdText(header.boot_id)},
                    {"vm_uuid", header.vm.ToString()},
                    {"generation", header.generation},
                    {"epoch", absl::StrCat(header.epoch)},
                    {"sequence", absl::StrCat(header.sequence)},
                    {"reference_time_ns", absl::StrCat(header.reference_time_ns)}};
  line["gap"] = absl::StrCat(opened.gap);
  line["snapshot"] = nlohmann::ordered_json::parse(ToJsonLine(content.snapshot()), nullptr, false);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string TextOf(const OpenResult& opened, const v1::SealedContent& content, const TableStyle& style) {
  const envelope::RecordHeader& header = opened.header;
  const std::string gap = opened.gap == 0
                              ? ""
                              : absl::StrCat(PluralText(opened.gap, "record"), opened.gap == 1 ? " is" : " are",
                                             " missing before this one\n");
  const std::string record =
      WrappedFields({absl::StrCat("VM ", header.vm.ToString()), absl::StrCat("generation ", header.generation),
                     absl::StrCat("device ", header.device.ToString()), absl::StrCat("epoch ", header.epoch),
                     absl::StrCat("record ", header.sequence)},
                    style);
  return gap + record + SnapshotTable(content.snapshot(), style) + "\n";
}

class UnsealCommand final : public Command {
 public:
  std::string name() const override { return "unseal"; }
  std::string description() const override {
    return "Open sealed records of a confidential VM, with its key or an exchanged one";
  }

  void Define(CLI::App& app) override {
    sealed_.AddTo(app);
    app.add_option("--record", record_, "Open the record in this file, or - for standard input, without a daemon")
        ->excludes(app.get_option("--view"))
        ->type_name("FILE");
    app.add_option("-n,--count", count_, "End after this number of records; default: go on until Ctrl-C")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    format_.AddTo(app);
    app.footer(
        "With --format json, each record is one line.\n"
        "Examples:\n"
        "  sideband unseal --vm 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10 --key-file vm0.key\n"
        "  sideband unseal --key-file vm0.key --record record.bin --format json\n"
        "  sideband unseal --vm vm3 --exchange --sealer-ca sealers.pem      # inside the VM\n"
        "  sideband unseal --vm vm3 --exchange --sealer-ca sealers.pem --view views/vm3.sbs");
  }

  absl::Status Run(CommandContext& context) override {
    if (!record_.empty()) return OpenFile(context);
    // The key of a static stream is the same for ever, so that a new run goes on as well.
    const auto reopening =
        sealed_.exchange.is_given() ? SealedStream::Reopening::kOnceOpen : SealedStream::Reopening::kNever;
    SIDEBAND_ASSIGN_OR_RETURN(const auto stream, sealed_.Stream(reopening, context));
    return Follow(*stream, context);
  }

 private:
  std::string Render(const OpenResult& opened, const v1::SealedContent& content, const CommandContext& context) const {
    if (format_.csv()) return SnapshotCsv(content.snapshot());
    return format_.json() ? JsonLine(opened, content) : TextOf(opened, content, context.StyleOf(format_.style));
  }

  // The record must be later than the newest record in the state file. The lock is held until the state is updated, so
  // that concurrent runs do not accept the same record.
  absl::StatusOr<OpenResult> OpenAfterState(envelope::Secret key, Opener::Expected expected, ByteSpan record) const {
    if (sealed_.state.empty()) return Opener(std::move(key), expected).Open(record);
    SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, OpenerState(sealed_.state).Acquire());
    SIDEBAND_ASSIGN_OR_RETURN(expected.after, lock.Read());
    SIDEBAND_ASSIGN_OR_RETURN(OpenResult opened, Opener(std::move(key), expected).Open(record));
    SIDEBAND_RETURN_IF_ERROR(lock.Raise(opened.header));
    return opened;
  }

  absl::Status OpenFile(CommandContext& context) const {
    if (sealed_.exchange.is_given()) {
      return absl::InvalidArgumentError("--exchange: a record in a file needs the key it was sealed with");
    }
    SIDEBAND_ASSIGN_OR_RETURN(const Opener::Expected expected, sealed_.Expected());
    if (!sealed_.vm.empty() && !expected.vm) {
      return absl::InvalidArgumentError("--vm: a record in a file names its VM by UUID");
    }
    if (sealed_.key_file.empty()) return absl::InvalidArgumentError("--key-file is required");
    SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(sealed_.key_file));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string record,
                              record_ == "-" ? ReadDescriptor(STDIN_FILENO, "standard input", envelope::kRecordBytesMax)
                                             : ReadFile(record_, envelope::kRecordBytesMax));
    SIDEBAND_ASSIGN_OR_RETURN(const OpenResult opened, OpenAfterState(std::move(key), expected, AsBytes(record)));
    SIDEBAND_ASSIGN_OR_RETURN(const v1::SealedContent content, ContentOf(opened, {}));
    return context.out().Write((format_.csv() ? SnapshotCsvTitles() : "") + Render(opened, content, context));
  }

  absl::Status Follow(SealedStream& stream, CommandContext& context) const {
    if (format_.csv()) SIDEBAND_RETURN_IF_ERROR(context.out().Write(SnapshotCsvTitles()));
    StreamPrinter printer(context, count_);
    std::string device;
    // The daemon sends nothing while the device is silent.
    std::optional<DeviceStates> states;
    const absl::Status ended = stream.Follow({
        .on_record =
            [&](const OpenedRecord& record) {
              states->Received(device);
              return printer.Print(Render(record.opened, record.content, context));
            },
        .on_open =
            [&](TelemetryClient& client) {
              device = DeviceOfVm(client);
              states.emplace(std::vector<std::string>{device}, context);
              return absl::OkStatus();
            },
        .on_second = [&](TelemetryClient& client) { states->Check(client); },
    });
    if (absl::IsNotFound(ended) && IsRemote(ended)) return ExplainSealedNotFound(ended, context);
    return printer.End(ended);
  }

  // The device that the daemon chooses; empty if there is none, which ends the stream.
  std::string DeviceOfVm(TelemetryClient& client) const {
    if (!sealed_.device.empty()) return sealed_.device;
    const auto scopes = client.ListScopes({});
    if (!scopes.ok()) return "";
    const auto is_vm = [this](const v1::Scope& scope) {
      return scope.confidential() && (scope.vm() == sealed_.vm || scope.vm_uuid() == absl::AsciiStrToLower(sealed_.vm));
    };
    const auto found = std::ranges::find_if(scopes->scopes(), is_vm);
    return found == scopes->scopes().end() ? "" : found->device();
  }

  // A VM on a device that has not answered yet is unknown to the daemon.
  static absl::Status ExplainSealedNotFound(const absl::Status& status, CommandContext& context) {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    const auto devices = client->ListDevices({});
    const std::vector<std::string> notes = devices.ok() ? AwayNotes(*devices) : std::vector<std::string>();
    if (notes.empty()) return status;
    return MarkRemote(absl::NotFoundError(absl::StrCat(status.message(), " (", absl::StrJoin(notes, "; "), ")")));
  }

  SealedOptions sealed_;
  std::string record_;
  uint64_t count_ = 0;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewUnsealCommand() { return std::make_unique<UnsealCommand>(); }

}  // namespace sideband::client
