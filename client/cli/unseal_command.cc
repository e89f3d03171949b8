// SPDX-License-Identifier: Apache-2.0
#include "client/cli/unseal_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/stream.h"
#include "client/lib/opener.h"
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
  line["record"] = {{"device_uuid", header.device.ToString()},
                    {"boot_id", absl::StrCat(header.boot_id)},
                    {"vm_uuid", header.vm.ToString()},
                    {"generation", header.generation},
                    {"epoch", absl::StrCat(header.epoch)},
                    {"sequence", absl::StrCat(header.sequence)},
                    {"reference_time_ns", absl::StrCat(header.reference_time_ns)}};
  line["gap"] = absl::StrCat(opened.gap);
  line["snapshot"] = nlohmann::ordered_json::parse(ToJsonLine(content.snapshot()), nullptr, false);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string TextOf(const OpenResult& opened, const v1::SealedContent& content) {
  const envelope::RecordHeader& header = opened.header;
  const std::string gap = opened.gap == 0 ? "" : absl::StrCat(opened.gap, " records are missing before this one\n");
  return absl::StrFormat("%sVM %s  generation %d  device %s  epoch %d  record %d\n", gap, header.vm.ToString(),
                         header.generation, header.device.ToString(), header.epoch, header.sequence) +
         SnapshotTable(content.snapshot()) + "\n";
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
    SIDEBAND_ASSIGN_OR_RETURN(const Opener::Expected expected, Expected());
    SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(key_file_));
    Opener opener(std::move(key), expected);
    return record_.empty() ? OpenStream(opener, context) : OpenFile(opener, context);
  }

 private:
  // A VM that is given by name is the one whose key this is: the first record that it opens says its UUID.
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

  absl::StatusOr<std::string> Opened(Opener& opener, ByteSpan record) const {
    SIDEBAND_ASSIGN_OR_RETURN(OpenResult opened, opener.Open(record));
    const envelope::ScopedWipe wipe(opened.content);
    v1::SealedContent content;
    if (!content.ParseFromArray(opened.content.data(), static_cast<int>(opened.content.size()))) {
      return absl::DataLossError("the record's content is not telemetry that this program knows");
    }
    return format_.json() ? JsonLine(opened, content) : TextOf(opened, content);
  }

  absl::Status OpenFile(Opener& opener, CommandContext& context) const {
    const std::string path = record_ == "-" ? "/dev/stdin" : record_;
    SIDEBAND_ASSIGN_OR_RETURN(const std::string record, ReadFile(path, envelope::kRecordBytesMax));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, Opened(opener, AsBytes(record)));
    return context.out().Write(text);
  }

  absl::Status OpenStream(Opener& opener, CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::SubscribeSealedRequest request;
    request.set_device(device_);
    request.set_vm(vm_);
    StreamPrinter printer(context, count_);
    return printer.End(client->SubscribeSealed(request, [&](ByteSpan record) {
      const absl::StatusOr<std::string> text = Opened(opener, record);
      return text.ok() ? printer.Print(*text) : printer.Fail(text.status());
    }));
  }

  std::string vm_;
  std::string key_file_;
  std::string device_;
  std::string device_uuid_;
  std::string record_;
  uint64_t count_ = 0;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewUnsealCommand() { return std::make_unique<UnsealCommand>(); }

}  // namespace sideband::client
