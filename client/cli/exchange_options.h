// SPDX-License-Identifier: Apache-2.0
//
// The options of a command that exchanges keys from inside a confidential VM.
//   exchange_.AddTo(app, *key_file);
//   if (exchange_.is_given()) {
//     SIDEBAND_ASSIGN_OR_RETURN(const exchange::GuestKeys keys, exchange_.Run(client, {.vm = vm_}));
//   }
#ifndef SIDEBAND_CLIENT_CLI_EXCHANGE_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_EXCHANGE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "client/lib/key_exchange.h"
#include "client/lib/telemetry_client.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/messages.h"

namespace sideband::client {

class ExchangeOptions {
 public:
  // Not together with `key_file`.
  void AddTo(CLI::App& app, CLI::Option& key_file);
  bool is_given() const { return is_given_; }

  // INVALID_ARGUMENT: an option that is missing or malformed; otherwise as ExchangeKeys.
  absl::StatusOr<exchange::GuestKeys> Run(TelemetryClient& client, const ExchangeSubject& subject) const;
  // A line about who seals.
  static std::string Describe(const exchange::Statement& statement);

 private:
  absl::StatusOr<EvidenceSource> Source() const;

  bool is_given_ = false;
  bool accepts_daemon_ = false;
  std::string sealer_ca_;
  std::string psp_;
  std::string measurement_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EXCHANGE_OPTIONS_H_
