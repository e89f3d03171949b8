// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/device_states.h"
#include "client/cli/empty_notes.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/lib/opener.h"
#include "client/lib/opener_state.h"
#include "client/lib/rpc_status.h"
#include "proto/base/boot_id.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
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
  const std::string gap = opened.gap == 0 ? "" : absl::StrCat(opened.gap, " records are missing before this one\n");
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
  std::string description() const override { return "Open sealed records of a confidential VM with its key"; }

  void Define(CLI::App& app) override {
    app.add_option("--vm", vm_, "The VM, by name or UUID")->type_name("VM");
    app.add_option("--key-file", key_file_, "The VM's key (given after `unseal`, so not that of TLS)")
        ->required()
        ->type_name("FILE");
    app.add_option("--device", device_, "The device on which the VM is")->type_name("NAME");
    app.add_option("--device-uuid", device_uuid_, "Accept records of this device only")->type_name("UUID");
    app.add_option("--record", record_, "Open the record in this file, or - for standard input, and ask no daemon")
        ->type_name("FILE");
    app.add_option(
           "--state", state_,
           "Remember in this file which record was the newest, and open none that is older; default for streams: "
           "one of the VM and device under $XDG_STATE_HOME or ~/.local/state; for --record: none")
        ->type_name("FILE");
    app.add_option("--count", count_, "End after so many records; default: none")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    format_.AddTo(app);
    app.footer(
        "With --format json, each record is one line.\n"
        "Examples:\n"
        "  sideband unseal --vm 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10 --key-file vm0.key\n"
        "  sideband unseal --key-file vm0.key --record record.bin --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(Opener::Expected expected, Expected());
    SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(key_file_));
    return record_.empty() ? OpenStream(std::move(key), expected, context)
                           : OpenFile(std::move(key), expected, context);
  }

 private:
  // A --vm that is not a UUID leaves the expected VM open: the key identifies the VM, and the first opened record sets
  // its UUID.
  absl::StatusOr<Opener::Expected> Expected() const {
    if (vm_.empty() && record_.empty()) return absl::InvalidArgumentError("--vm is required");
    Opener::Expected expected;
    const absl::StatusOr<Uuid> vm = Uuid::Parse(vm_);
    if (vm.ok()) expected.vm = *vm;
    if (!vm.ok() && !vm_.empty() && !record_.empty()) {
      return absl::InvalidArgumentError("--vm: a record in a file names its VM by UUID");
    }
    if (!device_uuid_.empty()) {
      const absl::StatusOr<Uuid> device = Uuid::Parse(device_uuid_);
      if (!device.ok()) return absl::InvalidArgumentError(absl::StrCat("--device-uuid: ", device.status().message()));
      expected.device = *device;
    }
    return expected;
  }

  absl::StatusOr<std::string> Render(const OpenResult& opened, const CommandContext& context) const {
    v1::SealedContent content;
    if (!content.ParseFromArray(opened.content.data(), static_cast<int>(opened.content.size()))) {
      return absl::DataLossError("the record's content is not telemetry that this program knows");
    }
    if (format_.csv()) return SnapshotCsv(content.snapshot());
    return format_.json() ? JsonLine(opened, content) : TextOf(opened, content, context.StyleOf(format_.style));
  }

  // The record must be later than the newest record in the state file. The lock is held until the state is updated, so
  // that concurrent runs do not accept the same record.
  absl::StatusOr<OpenResult> OpenAfterState(envelope::Secret key, Opener::Expected expected, ByteSpan record) const {
    if (state_.empty()) return Opener(std::move(key), expected).Open(record);
    SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, OpenerState(state_).Acquire());
    SIDEBAND_ASSIGN_OR_RETURN(expected.after, lock.Read());
    SIDEBAND_ASSIGN_OR_RETURN(OpenResult opened, Opener(std::move(key), expected).Open(record));
    SIDEBAND_RETURN_IF_ERROR(lock.Raise(opened.header));
    return opened;
  }

  absl::Status OpenFile(envelope::Secret key, const Opener::Expected& expected, CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string record,
                              record_ == "-" ? ReadDescriptor(STDIN_FILENO, "standard input", envelope::kRecordBytesMax)
                                             : ReadFile(record_, envelope::kRecordBytesMax));
    SIDEBAND_ASSIGN_OR_RETURN(const OpenResult opened, OpenAfterState(std::move(key), expected, AsBytes(record)));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, Render(opened, context));
    return context.out().Write((format_.csv() ? SnapshotCsvTitles() : "") + text);
  }

  // Empty if there is no folder for state files; the nonce alone then proves that records are new.
  absl::StatusOr<std::string> StateFileOf(const envelope::RecordHeader& header, const CommandContext& context) const {
    if (!state_.empty()) return state_;
    SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> folder, StateFolder(context.get_env()));
    return folder.has_value() ? absl::StrCat(*folder, "/", StateFileName(header.vm, header.device)) : "";
  }

  absl::Status NoteMissingState(CommandContext& context) const {
    if (!state_.empty()) return absl::OkStatus();
    SIDEBAND_ASSIGN_OR_RETURN(const auto folder, StateFolder(context.get_env()));
    if (!folder.has_value()) {
      context.Note("the newest record is not kept: HOME is not a folder (set XDG_STATE_HOME, or give --state FILE)");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> OpenNext(Opener& opener, ByteSpan record, const CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const OpenResult opened, opener.Open(record));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string state, StateFileOf(opened.header, context));
    if (!state.empty()) {
      // The state is not read: the nonce proves that the record is new, even if the host's clock was set back.
      SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, OpenerState(state).Acquire());
      SIDEBAND_RETURN_IF_ERROR(lock.Raise(opened.header));
    }
    return Render(opened, context);
  }

  absl::Status OpenStream(envelope::Secret key, Opener::Expected expected, CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const envelope::GuestNonce nonce, context.DrawNonce());
    expected.nonce = nonce;
    Opener opener(std::move(key), expected);
    SIDEBAND_RETURN_IF_ERROR(NoteMissingState(context));
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::SubscribeSealedRequest request;
    request.set_device(device_);
    request.set_vm(vm_);
    request.set_nonce(nonce.data(), nonce.size());
    if (format_.csv()) SIDEBAND_RETURN_IF_ERROR(context.out().Write(SnapshotCsvTitles()));
    StreamPrinter printer(context, count_);
    const std::string device = DeviceOfVm(*client);
    DeviceStates states({device}, context);
    // The daemon sends nothing while the device is silent.
    const StreamTick tick{.period = DeviceStates::kPeriod, .action = [&] { return states.Check(*client), true; }};
    const auto print = [&](ByteSpan record) {
      states.Received(device);
      const absl::StatusOr<std::string> text = OpenNext(opener, record, context);
      return text.ok() ? printer.Print(*text) : printer.Fail(text.status());
    };
    return ExplainSealedNotFound(printer.End(client->SubscribeSealed(request, print, tick)), *client);
  }

  // The device that the daemon chooses; empty if there is none, which ends the stream.
  std::string DeviceOfVm(TelemetryClient& client) const {
    if (!device_.empty()) return device_;
    const auto scopes = client.ListScopes({});
    if (!scopes.ok()) return "";
    const auto is_vm = [this](const v1::Scope& scope) {
      return scope.confidential() && (scope.vm() == vm_ || scope.vm_uuid() == absl::AsciiStrToLower(vm_));
    };
    const auto found = std::ranges::find_if(scopes->scopes(), is_vm);
    return found == scopes->scopes().end() ? "" : found->device();
  }

  // A VM on a device that has not answered yet is unknown to the daemon.
  static absl::Status ExplainSealedNotFound(const absl::Status& status, TelemetryClient& client) {
    if (!absl::IsNotFound(status) || !IsRemote(status)) return status;
    const auto devices = client.ListDevices({});
    const std::vector<std::string> notes = devices.ok() ? AwayNotes(*devices) : std::vector<std::string>();
    if (notes.empty()) return status;
    return MarkRemote(absl::NotFoundError(absl::StrCat(status.message(), " (", absl::StrJoin(notes, "; "), ")")));
  }

  std::string vm_;
  std::string key_file_;
  std::string device_;
  std::string device_uuid_;
  std::string record_;
  std::string state_;
  uint64_t count_ = 0;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewUnsealCommand() { return std::make_unique<UnsealCommand>(); }

}  // namespace sideband::client
