// SPDX-License-Identifier: Apache-2.0
//
// The system calls on /dev/i2c-N, behind an interface that tests replace.
//   SystemI2cDev system;
//   const int fd = system.Open("/dev/i2c-3");                               // < 0: minus an errno
#ifndef SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_H_
#define SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_H_

#include <string>

namespace sideband::daemon {

// Each function returns the result of the system call of its name, or minus the errno after an error.
class I2cDev {
 public:
  virtual ~I2cDev() = default;
  // Opens for reading and writing, with O_CLOEXEC.
  virtual int Open(const std::string& path) = 0;
  virtual int Ioctl(int fd, unsigned long request, unsigned long argument) = 0;
  virtual void Close(int fd) = 0;
};

// Stateless.
class SystemI2cDev final : public I2cDev {
 public:
  int Open(const std::string& path) override;
  int Ioctl(int fd, unsigned long request, unsigned long argument) override;
  void Close(int fd) override;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_I2C_DEV_H_
