// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/peek_config.h"

namespace sideband::daemon {
namespace {

// At 100 kHz: one counter in 14 s.
constexpr double kBusShareLeast = 0.001;

absl::StatusOr<double> BusShare(const YamlNode& node) {
  const auto share = node.Number(0, 1);
  const bool is_good = share.ok() && (*share == 0 || *share >= kBusShareLeast);
  return is_good ? share : node.Error("expected 0 or a number from 0.001 to 1, such as 0.1");
}

}  // namespace

PeekConfig ReadPeekConfig(const YamlMap& root, const ConfigContext& context) {
  PeekConfig config;
  const auto map = context.Section(root, "peek", {"bus_share"});
  const auto node = map ? map->Find("bus_share") : std::nullopt;
  if (node) context.errors.Take(BusShare(*node), config.bus_share);
  return config;
}

}  // namespace sideband::daemon
