// SPDX-License-Identifier: Apache-2.0
//
// The effects of ioctl(2), read(2) and write(2) on an open /dev/i2c-N whose bus is not the kernel's. Numbers, limits
// and errnos are those of Linux's i2c-dev, so programs behave the same.
//   VirtualAdapter adapter({});
//   const auto carry = [&](const smbus::Transfer& transfer) { return CarryOut(transfer); };
//   const int result = adapter.Ioctl(I2C_RDWR, argument, carry);            // < 0: minus an errno
#ifndef SIDEBAND_SIM_BUS_VIRTUAL_ADAPTER_H_
#define SIDEBAND_SIM_BUS_VIRTUAL_ADAPTER_H_

#include <linux/i2c.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

struct i2c_msg;

namespace sideband::i2cdev {

// Converts I2C_SMBUS transactions to messages on the wire, and answers back, as the kernel does for adapters that only
// support messages (Documentation/i2c/smbus-protocol; the PEC is the kernel's software PEC).
struct SmbusRequest {
  uint8_t address;
  bool read;
  uint8_t command;
  uint32_t size;  // I2C_SMBUS_QUICK, …; callers convert I2C_SMBUS_I2C_BLOCK_BROKEN
  bool pec;       // requested; quick and I2C-block transactions never have a PEC

  // Whether the caller passes data, and how many bytes of the union. The kernel copies as many bytes in and out.
  bool TakesData() const;
  size_t DataBytes() const;
};

// Returns 0, EOPNOTSUPP for a size that virtual adapters do not support, or EINVAL for an unknown size and for a block
// of more than 32 bytes. Reads `data` if the request writes, and for the length of an I2C-block read.
int ToTransfer(const SmbusRequest& request, const i2c_smbus_data& data, smbus::Transfer& transfer);

// Stores the answer to a read, its last message, in `data`. Returns 0, EPROTO for a block of 0 or more than 32 bytes,
// EBADMSG for a wrong PEC, or EIO for bytes that do not match the request.
int FromAnswer(const SmbusRequest& request, const Bytes& received, i2c_smbus_data& data);

// Access to memory that a program points to in a system call. The kernel answers a bad pointer with EFAULT, and so must
// its replacement.
// Return false if `from` or `to` is not mapped in full, or `to` is read-only; any part may have been copied then. On
// systems without process_vm_readv (a seccomp filter) only null pointers are detected.
bool CopyIn(void* to, const void* from, size_t size);
bool CopyOut(void* to, const void* from, size_t size);

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

#endif  // SIDEBAND_SIM_BUS_VIRTUAL_ADAPTER_H_
