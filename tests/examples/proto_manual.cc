// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "proto/manual/command_entry.h"
#include "proto/manual/completion.h"
#include "proto/manual/man_page.h"

namespace sideband::manual {
namespace {

void UseCommandEntry(CLI::App& app) {
  //@ proto/manual/command_entry.h
}

void UseCompletion(CLI::App& app) {
  //@ proto/manual/completion.h
}

int UseManPage(int argc, char** argv, CLI::App& app) {
  //@ proto/manual/man_page.h
}

}  // namespace
}  // namespace sideband::manual
