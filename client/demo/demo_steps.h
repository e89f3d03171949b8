// SPDX-License-Identifier: Apache-2.0
//
// The steps of a demonstration: repeatable commands, with texts that their output must and must not contain.
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_

#include <string>
#include <vector>

#include "client/demo/demo_site.h"
#include "client/demo/number_checks.h"

namespace sideband::client {

struct DemoStep {
  std::string title;
  std::string command;  // for sh, run in the demonstration's folder
  int exit_status = 0;
  std::vector<std::string> present;  // texts that the output must contain
  std::vector<std::string> absent;   // texts that the output must not contain
  Sums scrape_sums = Sums::kNone;    // of the event below, in a scrape
  std::string event;
  Sums table_sums = Sums::kNone;     // of each event, in a table
  std::vector<std::string> growing;  // events whose counts never decrease from one table to the next
  std::vector<std::string> equal;    // events whose counts are the same in all tables
  // In place of the command: a search for the counts of the record in this file (a line of `unseal --format json`),
  // which must not be there.
  std::string counts_of;
  enum class Place { kBus, kDaemonMemory } searched = Place::kBus;
};

// The command that scrapes all that `user` sees.
std::string ScrapeCommand(const std::string& user, const DemoPorts& ports);

// A command for sh that runs another one until it succeeds, 40 times at most, a quarter of a second apart.
std::string Repeated(const std::string& command);

// `events` must contain at least one event. `sums` is how the counts of VMs and contexts relate to the wholes'.
std::vector<DemoStep> MakeDemoSteps(const std::vector<DemoVm>& vms, const DemoPorts& ports,
                                    const std::vector<std::string>& events, Sums sums);

// These steps show what an operator sees of `device`, an SMBPBI-only board, beside the other devices, and that `tenant`
// sees nothing of it: its sensors are for operators.
std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports);

// This step shows what an operator sees of a GPU behind a BMC, of two that have the names of AddBmc().
DemoStep BmcStep();

// These steps show what is multiplexed on `device`, and its counts of vm4 beside those of `twin`.
std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin);

// The next commands for a reader of the steps, in a shell in the demonstration's folder: `top`, a scrape, and the
// status page in a browser.
std::string WaysIn(const DemoPorts& ports);

// Describes the mismatch between `step` and its result; empty if they match.
std::string CheckStep(const DemoStep& step, int exit_status, const std::string& output);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_
