// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/bus/bus_monitor.h"
#include "client/bus/bus_speed.h"
#include "client/bus/trace_run.h"
#include "client/bus/trace_source.h"
#include "client/cli/interrupt.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/capture_file.h"

namespace sideband::client {
namespace {

// Adds the option's name to an INVALID_ARGUMENT message.
absl::Status AtOption(const char* option, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", status.message()));
}

class BusCommand final : public Command {
 public:
  std::string name() const override { return "bus"; }
  std::string description() const override { return "Look at what passes a management bus"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband bus trace --bus unix:gpu0.sock\n"
        "  sideband bus trace gpu0.sbt");
    DefineTrace(*app.add_subcommand("trace", "Print each transaction, and what it means, until Ctrl-C"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const TraceOptions options, Options());
    return bus_.empty() ? TraceFile(options, context) : TraceBus(options, context);
  }

 private:
  void DefineTrace(CLI::App& app) {
    app.add_option("FILE", file_, "A capture to read instead of a bus; - is standard input");
    app.add_option("--bus", bus_, "The bus to watch: unix:PATH; with @ADDRESS, that device only")->type_name("BUS");
    app.add_option("--address", address_, "Only transactions with this address, such as 0x4f (given after `trace`)")
        ->type_name("ADDRESS");
    app.add_option("--write", write_, "Keep what is printed in this file, too: counters in the clear")
        ->type_name("FILE");
    app.add_option("--count", options_.count_max, "End after so many transactions; default: none")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    app.add_option("--speed", speed_, "The bus's clock, for the times that transactions take on it")
        ->type_name("HZ")
        ->capture_default_str();
    app.add_option("--time", time_, "relative: seconds since the start of the server or capture; host: UTC")
        ->check(CLI::IsMember({"relative", "host"}))
        ->type_name("KIND")
        ->capture_default_str();
    app.add_flag("--json", options_.json, "One JSON object per line");
    app.footer(
        "Lines begin with -> (sent by the controller), <- (sent by the device) or !! (an error).\n"
        "Examples:\n"
        "  sideband bus trace --bus unix:gpu0.sock --count 10\n"
        "  sideband bus trace --bus unix:gpu0.sock@0x4f --write gpu0.sbt --json\n"
        "  sideband bus trace gpu0.sbt --time host --speed 400k");
  }

  absl::StatusOr<TraceOptions> Options() const {
    if (bus_.empty() == file_.empty()) {
      return absl::InvalidArgumentError("bus trace: either --bus or a capture FILE is needed");
    }
    if (!write_.empty() && bus_.empty()) return absl::InvalidArgumentError("--write: only with --bus");
    TraceOptions options = options_;
    options.host_time = time_ == "host";
    const auto speed = ParseBusSpeed(speed_);
    if (!speed.ok()) return AtOption("--speed", speed.status());
    options.bus_hz = *speed;
    if (!address_.empty()) {
      const auto address = smbus::ParseAddress(address_);
      if (!address.ok()) return AtOption("--address", address.status());
      options.address = *address;
    }
    return options;
  }

  absl::Status TraceFile(const TraceOptions& options, CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(auto reader, file_ == "-"
                                               ? smbus::CaptureReader::FromDescriptor(STDIN_FILENO, "standard input")
                                               : smbus::CaptureReader::Open(file_));
    CaptureSource source(std::move(reader));
    return RunTrace(source, options, nullptr, context.out());
  }

  absl::Status TraceBus(TraceOptions options, CommandContext& context) const {
    const auto bus = smbus::ParseBusName(bus_);
    if (!bus.ok()) return AtOption("--bus", bus.status());
    if (bus->kind != smbus::BusName::Kind::kUnix) {
      return absl::InvalidArgumentError(
          "--bus: only a unix: bus can be watched; sidebandd can keep a capture of an i2c: bus");
    }
    // ParseBusName() supplies a default address, which must not select a device.
    if (!options.address.has_value() && bus_.find('@') != std::string::npos) options.address = bus->address;
    const InterruptWatcher watcher(context.cancellation());
    SIDEBAND_ASSIGN_OR_RETURN(const auto monitor, BusMonitor::Connect(bus->path, context.cancellation(), absl::Now));
    std::unique_ptr<smbus::CaptureWriter> writer;
    if (!write_.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(writer,
                                smbus::CaptureWriter::Create(write_, {.host_time_us = monitor->host_time_us()}));
    }
    return RunTrace(*monitor, options, writer.get(), context.out());
  }

  std::string file_;
  std::string bus_;
  std::string address_;
  std::string write_;
  std::string speed_ = "100k";
  std::string time_ = "relative";
  TraceOptions options_;
};

}  // namespace

std::unique_ptr<Command> NewBusCommand() { return std::make_unique<BusCommand>(); }

}  // namespace sideband::client
