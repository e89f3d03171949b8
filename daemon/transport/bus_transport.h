// SPDX-License-Identifier: Apache-2.0
//
// The transports to buses: the virtual bus on a Unix socket (proto/smbus/README.md), and a Linux I2C bus, /dev/i2c-N
// (Documentation/i2c/dev-interface).
//   UnixBusTransport socket("/run/sideband/gpu0.sock", {});
//   SystemI2cDev system;
//   I2cDevTransport transport("/dev/i2c-3", system, {});
//   SIDEBAND_ASSIGN_OR_RETURN(const smbus::TransferResult result, transport.Execute(transfer));
//
// An adapter with I2C_FUNC_I2C gets each transaction unchanged, by I2C_RDWR. An adapter without it, such as many SMBus
// host controllers, gets block transactions of up to 32 bytes by I2C_SMBUS with the kernel's PEC. Any other transaction
// is UNIMPLEMENTED on such an adapter.
#ifndef SIDEBAND_DAEMON_TRANSPORT_BUS_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_BUS_TRANSPORT_H_

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/transport/transport.h"
#include "proto/base/file.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {

class UnixBusTransport final : public Transport {
 public:
  struct Options {
    // Time limit for one transaction, after which the connection is closed.
    absl::Duration timeout = absl::Seconds(2);
  };

  // Connects at the first transaction, and again after an error.
  UnixBusTransport(std::string path, Options options) : path_(std::move(path)), options_(options) {}
  UnixBusTransport(const UnixBusTransport&) = delete;
  UnixBusTransport& operator=(const UnixBusTransport&) = delete;

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  LockFile lock_file() const override { return {.path = smbus::LockPathOf(path_), .is_made = true}; }

 private:
  absl::Status Connect();

  const std::string path_;
  const Options options_;
  Descriptor socket_;
};

// The system calls on /dev/i2c-N, behind an interface that tests replace.
//
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

class I2cDevTransport final : public Transport {
 public:
  // Both options are set on the adapter and affect every program that uses the bus. The last program to set them wins.
  struct Options {
    // Time limit of the adapter for one transaction, in units of 10 ms. The longest transaction, 260 bytes at 10 kHz,
    // takes 235 ms.
    unsigned long timeout_10ms = 30;
    // Number of retries by the kernel after arbitration was lost to another controller.
    unsigned long retries = 3;
  };

  // Opens the device at the first transaction, and again after it has disappeared. `system` must outlive the transport.
  I2cDevTransport(std::string path, I2cDev& system, Options options)
      : path_(std::move(path)), system_(system), options_(options) {}
  ~I2cDevTransport() override;
  I2cDevTransport(const I2cDevTransport&) = delete;
  I2cDevTransport& operator=(const I2cDevTransport&) = delete;

  // Wire errors are outcomes (ENXIO, EREMOTEIO: address NACK; EIO: data NACK; EAGAIN: arbitration lost; ETIMEDOUT;
  // EPROTO: bad count), as far as drivers distinguish them. DATA_LOSS: the kernel found a wrong PEC. UNIMPLEMENTED: the
  // adapter does not support the transaction. UNAVAILABLE: any other error, with the system's message.
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  // 32 if the adapter lacks I2C_FUNC_I2C or has refused a longer message.
  size_t block_bytes_max() const override { return block_bytes_max_; }
  // The device itself.
  LockFile lock_file() const override { return {.path = path_}; }

 private:
  absl::Status Open();
  absl::Status Configure();
  void Close();
  absl::Status Error(int error) const;
  absl::StatusOr<smbus::TransferResult> Failed(int error);
  absl::StatusOr<smbus::TransferResult> ExecuteMessages(const smbus::Transfer& transfer);
  absl::StatusOr<smbus::TransferResult> ExecuteSmbus(const smbus::Transfer& transfer);
  absl::StatusOr<smbus::TransferResult> Write(const BlockWrite& write);
  absl::StatusOr<smbus::TransferResult> Read(const BlockRead& read);
  absl::Status SelectAddress(uint8_t address);
  // Returns 0, or minus an errno.
  int SmbusBlock(bool read, uint8_t code, void* data);

  const std::string path_;
  I2cDev& system_;
  const Options options_;
  int fd_ = -1;
  bool carries_messages_ = false;
  size_t block_bytes_max_ = smbus::kBlockBytesMax;
  int smbus_address_ = -1;  // the address set by I2C_SLAVE; -1: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_BUS_TRANSPORT_H_
