// SPDX-License-Identifier: Apache-2.0
//
// A folder for the Unix sockets of a test, whose path is short enough for one: a test's own folder may not be.
//   const ShortFolder folder;
//   options.unix_socket = folder.path() + "/s";
#ifndef SIDEBAND_DAEMON_LISTEN_SHORT_FOLDER_H_
#define SIDEBAND_DAEMON_LISTEN_SHORT_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sideband::daemon {

// Removes the folder and what is in it when it is destroyed.
class ShortFolder {
 public:
  ShortFolder() {
    char name[] = "/tmp/sb-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~ShortFolder() { std::filesystem::remove_all(path_); }
  ShortFolder(const ShortFolder&) = delete;
  ShortFolder& operator=(const ShortFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_SHORT_FOLDER_H_
