// SPDX-License-Identifier: Apache-2.0
//
// The options of a command that follows the sealed records of one VM.
//   sealed_.AddTo(app);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto stream, sealed_.Stream(SealedStream::Reopening::kAlways, context));
//   return stream->Follow({.on_record = on_record});
#ifndef SIDEBAND_CLIENT_CLI_SEALED_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_SEALED_OPTIONS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "client/cli/exchange_options.h"
#include "client/cli/sealed_stream.h"
#include "client/lib/opener.h"

namespace CLI {
class App;
}

namespace sideband::client {

struct SealedOptions {
  std::string vm;  // by name or UUID
  std::string key_file;
  ExchangeOptions exchange;
  std::string view;  // a file that has the records, inside the guest; empty: the daemon's stream
  std::string device;
  std::string device_uuid;
  std::string state;

  void AddTo(CLI::App& app);

  // A --vm that is not a UUID leaves the expected VM open: the key identifies the VM, and the first opened record sets
  // its UUID. INVALID_ARGUMENT: --device-uuid is no UUID.
  absl::StatusOr<Opener::Expected> Expected() const;
  // INVALID_ARGUMENT: an option is missing; otherwise errors of the key file. The options and the context must outlive
  // the stream.
  absl::StatusOr<std::unique_ptr<SealedStream>> Stream(SealedStream::Reopening reopening,
                                                       CommandContext& context) const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_SEALED_OPTIONS_H_
