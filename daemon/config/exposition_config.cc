// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/exposition_config.h"

#include "daemon/config/one_of.h"

namespace sideband::daemon {

ExpositionConfig ReadExpositionConfig(const YamlMap& root, const ConfigContext& context) {
  ExpositionConfig config;
  const auto map = context.Section(root, "exposition", {"estimates"});
  if (!map) return config;
  context.errors.Take(
      OneOfOr<EstimateSeries>(
          *map, "estimates", EstimateSeries::kAll,
          {{"all", EstimateSeries::kAll}, {"coverage", EstimateSeries::kCoverage}, {"none", EstimateSeries::kNone}}),
      config.estimates);
  return config;
}

}  // namespace sideband::daemon
