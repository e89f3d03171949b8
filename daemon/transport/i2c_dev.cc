// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/i2c_dev.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace sideband::daemon {

int SystemI2cDev::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int SystemI2cDev::Ioctl(int fd, unsigned long request, unsigned long argument) {
  const int result = ioctl(fd, request, argument);
  return result < 0 ? -errno : result;
}

void SystemI2cDev::Close(int fd) { close(fd); }

}  // namespace sideband::daemon
