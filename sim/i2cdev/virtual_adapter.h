// SPDX-License-Identifier: Apache-2.0
//
// The effects of ioctl(2), read(2) and write(2) on an open /dev/i2c-N whose bus is not the kernel's. Numbers, limits
// and errnos are those of Linux's i2c-dev, so programs behave the same.
//   VirtualAdapter adapter({});
//   const auto carry = [&](const smbus::Transfer& transfer) { return CarryOut(transfer); };
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

// The settings of one open file: address, PEC, time-out, retries. Not thread-safe.
class VirtualAdapter {
 public:
  struct Options {
    // The adapter supports only SMBus transactions, like many host controllers: no I2C_FUNC_I2C.
    bool smbus_only = false;
  };
  // Executes a transaction on the bus. A Status means that the bus itself failed: DEADLINE_EXCEEDED becomes ETIMEDOUT,
  // UNAVAILABLE becomes ENODEV, every other code becomes EIO.
  using Carry = std::function<absl::StatusOr<smbus::TransferResult>(const smbus::Transfer&)>;

  explicit VirtualAdapter(Options options) : options_(options) {}

  // Whether `request` is a request of i2c-dev; all others are forwarded to the system.
  static bool Knows(unsigned long request);

  // Each behaves as the system call of its name, but returns a negative errno. Errors of the wire: ENXIO address NACK,
  // EIO refused byte, EAGAIN arbitration lost, ETIMEDOUT clock held too long, EPROTO invalid block count, EBADMSG wrong
  // PEC. Pointers are the program's; an invalid pointer is EFAULT.
  int Ioctl(unsigned long request, unsigned long argument, const Carry& carry);
  ssize_t Read(void* buffer, size_t size, const Carry& carry);
  ssize_t Write(const void* buffer, size_t size, const Carry& carry);

 private:
  unsigned long Functionality() const;
  int SetAddress(unsigned long address);
  int ReadWrite(const void* argument, const Carry& carry);
  int Smbus(const void* argument, const Carry& carry);
  // 0 and the result, or a negative errno.
  int Execute(const smbus::Transfer& transfer, const Carry& carry, smbus::TransferResult& result) const;
  int ExecuteOnce(const smbus::Transfer& transfer, const Carry& carry, smbus::TransferResult& result) const;

  const Options options_;
  uint8_t address_ = 0;
  bool pec_ = false;
  unsigned long timeout_10ms_ = 100;  // the kernel's default of one second
  unsigned long retries_ = 0;
};

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_VIRTUAL_ADAPTER_H_
