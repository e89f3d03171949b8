// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"

namespace sideband::client {
namespace {

constexpr char kLibrary[] = "libsideband_i2cdev.so";
constexpr char kPreload[] = "LD_PRELOAD";
// Exit statuses as in env(1).
constexpr int kCannotRun = 126, kNotFound = 127;
// A bus without a number is assigned the lowest free number from here on.
constexpr uint32_t kFirstNumber = 3;

// Searches the installation, the program's folder, and the build tree.
absl::StatusOr<std::string> FindLibrary() {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {own.parent_path() / "lib" / "sideband", own, own.parent_path() / "sim" / "bus"}) {
    const auto candidate = folder / kLibrary;
    if (access(candidate.c_str(), R_OK) == 0) return candidate.string();
  }
  return absl::NotFoundError(
      absl::StrCat(kLibrary, ": not found beside ", own.string(), "; give its path with --library"));
}

absl::StatusOr<std::string> CheckLibrary(const std::string& given) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(given, error).string();
  if (error || access(path.c_str(), R_OK) != 0) return ErrnoStatus(error ? error.value() : errno, given);
  // The loader separates the entries of LD_PRELOAD at spaces and colons.
  if (path.find_first_of(" :") != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be preloaded from a path with a space or colon"));
  }
  return path;
}

// Parses "3=unix:PATH", or "unix:PATH", which is assigned the next free number.
absl::StatusOr<smbus::I2cDevBuses> ParseBuses(const std::vector<std::string>& given) {
  smbus::I2cDevBuses buses;
  for (const std::string& bus : given) {
    uint32_t number = kFirstNumber;
    while (buses.contains(number)) ++number;
    // Commas separate the buses in the environment variable.
    if (bus.find(',') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--bus '", bus, "': the path must not contain a comma"));
    }
    const std::string numbered = absl::StartsWith(bus, "unix:") ? absl::StrCat(number, "=", bus) : bus;
    SIDEBAND_ASSIGN_OR_RETURN(const smbus::I2cDevBuses one, smbus::ParseI2cDevBuses(numbered));
    for (const auto& [its_number, path] : one) {
      if (!buses.emplace(its_number, path).second) {
        return absl::InvalidArgumentError(absl::StrCat("--bus '", bus, "': the number is given twice"));
      }
    }
  }
  return buses;
}

class I2cDevCommand final : public Command {
 public:
  std::string name() const override { return "i2cdev"; }
  std::string description() const override { return "Run a program for which /dev/i2c-N is a virtual bus"; }

  void Define(CLI::App& app) override {
    app.add_option("--bus", buses_,
                   absl::StrCat("A bus and its number N in /dev/i2c-N; without a number, from ", kFirstNumber,
                                " on. Repeatable; default: $", smbus::kI2cDevVariable))
        ->type_name("[N=]unix:PATH")
        ->allow_extra_args(false);
    app.add_flag("--smbus-only", smbus_only_,
                 "Emulate an adapter that supports SMBus transactions but not I2C messages");
    app.add_option("--library", library_, absl::StrCat("Where ", kLibrary, " is; default: near this program"))
        ->type_name("FILE");
    app.add_option("command", command_, "The program and its arguments, after --")->type_name("COMMAND")->required();
    app.footer(
        "Examples:\n"
        "  sideband i2cdev --bus 3=unix:gpu0.sock -- i2cdetect -y 3\n"
        "  sideband i2cdev --bus unix:gpu0.sock -- sidebandd --config sidebandd.yaml\n"
        "Exit status: the program's; 127 if the program is not found, 126 if it cannot be run.");
  }

  absl::Status Run(CommandContext&) override {
    SIDEBAND_RETURN_IF_ERROR(SetBuses());
    SIDEBAND_RETURN_IF_ERROR(SetPreload());
    if (smbus_only_) setenv(smbus::kI2cDevFuncsVariable, "smbus", /*overwrite=*/1);
    return Execute();
  }

 private:
  absl::Status SetBuses() const {
    SIDEBAND_ASSIGN_OR_RETURN(const smbus::I2cDevBuses buses, ParseBuses(buses_));
    if (!buses.empty()) {
      setenv(smbus::kI2cDevVariable, smbus::FormatI2cDevBuses(buses).c_str(), /*overwrite=*/1);
      return absl::OkStatus();
    }
    const char* const inherited = std::getenv(smbus::kI2cDevVariable);
    if (inherited == nullptr || *inherited == '\0') {
      return absl::InvalidArgumentError("--bus is required, as in --bus 3=unix:PATH");
    }
    return smbus::ParseI2cDevBuses(inherited).status();
  }

  absl::Status SetPreload() const {
    std::string given = library_;
    if (given.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(given, FindLibrary());
    }
    SIDEBAND_ASSIGN_OR_RETURN(const std::string path, CheckLibrary(given));
    const char* const others = std::getenv(kPreload);
    const std::string all = others == nullptr || *others == '\0' ? path : absl::StrCat(path, ":", others);
    setenv(kPreload, all.c_str(), /*overwrite=*/1);
    return absl::OkStatus();
  }

  // Returns only if the program cannot be executed.
  absl::Status Execute() {
    std::vector<char*> arguments;
    for (std::string& argument : command_) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    // `sideband` ignores SIGPIPE, and exec(3) would keep that for COMMAND.
    signal(SIGPIPE, SIG_DFL);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    return WithExitCode(ErrnoStatus(error, command_[0]), error == ENOENT ? kNotFound : kCannotRun);
  }

  std::vector<std::string> buses_;
  std::string library_;
  bool smbus_only_ = false;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> NewI2cDevCommand() { return std::make_unique<I2cDevCommand>(); }

}  // namespace sideband::client
