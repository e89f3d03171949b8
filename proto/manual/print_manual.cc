// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/print_manual.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/manual/completion.h"

namespace sideband::manual {
namespace {

absl::StatusOr<std::string> Format(absl::string_view kind, const CommandEntry& program, const ManPage& page) {
  if (kind == "man") return FormatManPage(program, page);
  if (kind == "bash") return BashCompletion(program);
  if (kind == "zsh") return ZshCompletion(program);
  if (kind == "fish") return FishCompletion(program);
  return absl::InvalidArgumentError("one argument is needed: man, bash, zsh or fish");
}

}  // namespace

int PrintManual(int argc, char** argv, CLI::App& app, const ManPage& page) {
  const auto text = Format(argc == 2 ? argv[1] : "", DescribeCommand(app), page);
  return ReportAndExitCode("manual", text.ok() ? PrintText(*text) : text.status());
}

}  // namespace sideband::manual
