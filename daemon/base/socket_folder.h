// SPDX-License-Identifier: Apache-2.0
//
// A temporary folder for a test's Unix sockets. Its path is short enough for sockaddr_un; a test's own folder may not
// be.
//   const SocketFolder folder;
//   options.unix_socket = folder.path() + "/s";
#ifndef SIDEBAND_DAEMON_BASE_SOCKET_FOLDER_H_
#define SIDEBAND_DAEMON_BASE_SOCKET_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sideband::daemon {

// The destructor removes the folder and its contents.
class SocketFolder {
 public:
  SocketFolder() {
    char name[] = "/tmp/sb-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~SocketFolder() { std::filesystem::remove_all(path_); }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_SOCKET_FOLDER_H_
