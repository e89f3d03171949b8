// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/quota_config.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kRateMost = 1'000'000;
constexpr uint64_t kCallsMost = 65'536;
// The minimum holds the largest response, 16 MiB.
constexpr uint64_t kBytesLeast = uint64_t{16} << 20;
constexpr uint64_t kBytesMost = uint64_t{16} << 30;

}  // namespace

QuotaConfig ReadQuotaConfig(const YamlMap& root, const ConfigContext& context) {
  QuotaConfig quotas;
  const auto map =
      context.Section(root, "quotas", {"calls_per_second", "burst", "calls_under_way", "bytes_under_way", "streams"});
  if (!map) return quotas;
  const auto take = [&](const char* key, auto& number, uint64_t most) {
    context.errors.Take(map->UintOr(key, number, 1, most), number);
  };
  take("calls_per_second", quotas.calls_per_second, kRateMost);
  take("burst", quotas.burst, kRateMost);
  take("calls_under_way", quotas.calls_under_way, kCallsMost);
  take("streams", quotas.streams, kCallsMost);
  quotas.bytes_under_way = context.ByteSizeOr(*map, "bytes_under_way", quotas.bytes_under_way, kBytesLeast, kBytesMost);
  return quotas;
}

}  // namespace sideband::daemon
