// SPDX-License-Identifier: Apache-2.0
//
// `sideband demo`: a demonstration on one machine without an accelerator. It has an emulated device, the daemon, an
// operator, two tenants and a confidential guest. `sideband config init`: the files of a first site on one host, with
// an emulated device, the daemon, an operator and a tenant. They stay, other than those of `sideband demo`.
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewDemoCommand();

std::unique_ptr<Command> NewConfigCommand();

// Makes `folder`, for this user only, and writes into it:
//   ca.pem server.pem .key operator.pem .key acme.pem .key vm3.key · policy.yaml sidebandd.yaml chip.yaml ·
//   operator.yaml acme.yaml
// Keys have mode 0600. The CA's key is not kept. A folder that exists must be empty, otherwise INVALID_ARGUMENT:
// nothing is overwritten.
absl::Status WriteFirstSite(const std::string& folder);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_
