// SPDX-License-Identifier: Apache-2.0
#include "client/lib/credential_stamps.h"

#include <sys/stat.h>

#include <string>

namespace sideband::client {
namespace {

std::array<int64_t, 4> StampOf(const std::string& path) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  struct stat file {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino), file.st_size,
          file.st_mtim.tv_sec * kNanosPerSecond + file.st_mtim.tv_nsec};
}

}  // namespace

FileStamps CredentialStamps(const ClientConfig& config) {
  return {StampOf(config.ca_file), StampOf(config.cert_file), StampOf(config.key_file), StampOf(config.token_file)};
}

}  // namespace sideband::client
