// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sealed_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/lib/record_source.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/secret.h"

namespace sideband::client {

void SealedOptions::AddTo(CLI::App& app) {
  app.add_option("--vm", vm, "The VM, by name or UUID")->type_name("VM");
  auto* const key_option =
      app.add_option("--key-file", key_file,
                     absl::StrCat("The VM's key (given after `", app.get_name(), "`; not the TLS key)"))
          ->type_name("FILE");
  exchange.AddTo(app, *key_option);
  app.add_option(
         "--view", view,
         "Read the records from this file, which a sealing device writes for its guest, instead of from the daemon")
      ->needs(app.get_option("--exchange"))
      ->excludes(key_option)
      ->type_name("FILE");
  app.add_option("--device", device, "The device on which the VM is")->type_name("NAME");
  app.add_option("--device-uuid", device_uuid, "Accept records of this device only")->type_name("UUID");
  app.add_option("--state", state,
                 "Remember the newest record in this file, and reject older ones; default for streams: a file for the "
                 "VM and device under $XDG_STATE_HOME or ~/.local/state")
      ->type_name("FILE");
}

absl::StatusOr<Opener::Expected> SealedOptions::Expected() const {
  Opener::Expected expected;
  if (const absl::StatusOr<Uuid> uuid = Uuid::Parse(vm); uuid.ok()) expected.vm = *uuid;
  if (device_uuid.empty()) return expected;
  const absl::StatusOr<Uuid> uuid = Uuid::Parse(device_uuid);
  if (!uuid.ok()) return absl::InvalidArgumentError(absl::StrCat("--device-uuid: ", uuid.status().message()));
  expected.device = *uuid;
  return expected;
}

absl::StatusOr<std::unique_ptr<SealedStream>> SealedOptions::Stream(SealedStream::Reopening reopening,
                                                                    CommandContext& context) const {
  if (vm.empty()) return absl::InvalidArgumentError("--vm is required");
  SealedStream::Options options{.subject = {.device = device, .vm = vm}, .state = state, .reopening = reopening};
  SIDEBAND_ASSIGN_OR_RETURN(options.expected, Expected());
  if (!view.empty()) {
    options.records = std::make_unique<ViewRecords>(
        ViewRecords::Options{.path = view,
                             .wait = [&context](absl::Duration duration) { return context.Wait(duration); },
                             .note = [&context](const std::string& line) { context.Note(line); }});
  }
  if (exchange.is_given()) return std::make_unique<SealedStream>(exchange, std::move(options), context);
  if (key_file.empty()) return absl::InvalidArgumentError("--key-file or --exchange is required");
  SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(key_file));
  return std::make_unique<SealedStream>(std::move(key), std::move(options), context);
}

}  // namespace sideband::client
