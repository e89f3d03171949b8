// SPDX-License-Identifier: Apache-2.0
//
// What a demonstration shows, as commands that anybody can repeat, and what must and must not come out of them.
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_

#include <string>
#include <vector>

#include "client/demo/demo_site.h"

namespace sideband::client {

struct DemoStep {
  std::string title;
  std::string command;  // for sh, in the demonstration's folder
  int exit_status = 0;
  std::vector<std::string> present;  // texts that the output must have
  std::vector<std::string> absent;   // and must not
};

// `events` are a few events to look at, at least one.
std::vector<DemoStep> MakeDemoSteps(const std::vector<DemoVm>& vms, const DemoPorts& ports,
                                    const std::vector<std::string>& events);

// What is wrong with the result of `step`; empty where nothing is.
std::string CheckStep(const DemoStep& step, int exit_status, const std::string& output);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_STEPS_H_
