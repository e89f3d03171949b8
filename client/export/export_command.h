// SPDX-License-Identifier: Apache-2.0
//
// `sideband export`: opens the sealed records of a confidential VM inside it, and serves them to a Prometheus there.
#ifndef SIDEBAND_CLIENT_EXPORT_EXPORT_COMMAND_H_
#define SIDEBAND_CLIENT_EXPORT_EXPORT_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewExportCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_EXPORT_EXPORT_COMMAND_H_
