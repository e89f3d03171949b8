// SPDX-License-Identifier: Apache-2.0
//
// What an open /dev/i2c-N does with ioctl(2), read(2) and write(2), on a bus that is not the kernel's. The numbers,
// limits and errnos are those of Linux' i2c-dev: a program cannot tell the difference.
//   VirtualAdapter adapter({});
//   const auto carry = [&](const smbus::Transfer& transfer) { return ExchangeOnBus(…, transfer, …); };
//   const int result = adapter.Ioctl(I2C_RDWR, argument, carry);            // < 0: minus an errno
#ifndef SIDEBAND_SIM_I2CDEV_VIRTUAL_ADAPTER_H_
#define SIDEBAND_SIM_I2CDEV_VIRTUAL_ADAPTER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "proto/smbus/transfer.h"

struct i2c_msg;

namespace sideband::i2cdev {

// What one open file has set: address, PEC, time-out, retries. Not thread-safe.
class VirtualAdapter {
 public:
  struct Options {
    // The adapter knows the transactions of SMBus alone, as many a host controller does: no I2C_FUNC_I2C.
    bool smbus_only = false;
  };
  // Carries a transaction to the bus. A Status means that the bus itself failed: DEADLINE_EXCEEDED becomes ETIMEDOUT,
  // UNAVAILABLE ENODEV, everything else EIO.
  using Carry = std::function<absl::StatusOr<smbus::TransferResult>(const smbus::Transfer&)>;

  explicit VirtualAdapter(Options options) : options_(options) {}

  // Whether `request` is i2c-dev's; others are for the system.
  static bool Knows(unsigned long request);

  // Each as the system call of its name, but for the errno: minus that. Errors of the wire: ENXIO nobody at the
  // address, EIO a refused byte, EAGAIN arbitration lost, ETIMEDOUT a clock held too long, EPROTO an impossible block
  // count, EBADMSG a wrong PEC. Pointers are the program's, and may be bad: EFAULT.
  int Ioctl(unsigned long request, unsigned long argument, const Carry& carry);
  ssize_t Read(void* buffer, size_t size, const Carry& carry);
  ssize_t Write(const void* buffer, size_t size, const Carry& carry);

 private:
  unsigned long Functionality() const;
  int SetAddress(unsigned long address);
  int ReadWrite(const void* argument, const Carry& carry);
  int Smbus(const void* argument, const Carry& carry);
  // 0 and the result, or minus an errno.
  int Execute(const smbus::Transfer& transfer, const Carry& carry, smbus::TransferResult& result) const;
  int ExecuteOnce(const smbus::Transfer& transfer, const Carry& carry, smbus::TransferResult& result) const;

  const Options options_;
  uint8_t address_ = 0;
  bool pec_ = false;
  unsigned long timeout_10ms_ = 100;  // the kernel's default is a second
  unsigned long retries_ = 0;
};

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_VIRTUAL_ADAPTER_H_
