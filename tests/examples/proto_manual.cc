// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/manual/command_entry.h"
#include "proto/manual/completion.h"
#include "proto/manual/completion_words.h"
#include "proto/manual/man_page.h"
#include "proto/manual/print_manual.h"

namespace sideband::manual {
namespace {

void UseCommandEntry(CLI::App& app) {
  //@ proto/manual/command_entry.h
}

void UseCompletion(CLI::App& app) {
  //@ proto/manual/completion.h
}

void UseCompletionWords(const OptionEntry& option, std::string& spec) {
  //@ proto/manual/completion_words.h
}

void UseManPage(CLI::App& app) {
  //@ proto/manual/man_page.h
}

}  // namespace
}  // namespace sideband::manual

namespace print_manual {

CLI::App app;
sideband::manual::ManPage page;

//@ proto/manual/print_manual.h

}  // namespace print_manual
